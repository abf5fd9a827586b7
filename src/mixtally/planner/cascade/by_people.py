"""Cover that people bring, by fakes or flips: priced with those who surely take part."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial

from mixtally.contract.part import MOST_OWN
from mixtally.ground.fixed import MOST_THRESHOLD, SCALE
from mixtally.planner.cascade.desk import FOR_CAPS, Desk, Result
from mixtally.planner.cascade.parts import flipped, in_clear, rarely
from mixtally.planner.flip_options import COINS
from mixtally.planner.options import Infeasible
from mixtally.privacy.accountant import Record
from mixtally.privacy.composition.pld import CLOSE, ROUGH, Tightness
from mixtally.privacy.numerics.search import FLIPS, ROOT, Axis, Rough, least_meeting
from mixtally.privacy.terms import Stake, counted
from mixtally.records.contract import Cover, FakeRecord, NoRecipe, OwnFakes
from mixtally.records.encodings import Encoding
from mixtally.records.mechanism import (
    BitFlips,
    BlankFakes,
    InClear,
    NoFakes,
    Parameter,
    UniformFakes,
)
from mixtally.records.question import MOST_BINS, Kind

CROWD = "--minimum-crowd: people whose messages surely come"
_UNITS = 1 << 40
_TOLERANCE = 1e-4
_ROUGH, _FLOOR = 0.05, 1e-2
"""Bounds of averages over coins may lie so far apart, relatively and in parts of the target."""
_NEAR_ONE, _NEAR = 2e-2, 0.1
"""So much of delta may be left, of one message and of several together."""


def blanks(desk: Desk, encoding: Encoding) -> Result:
    """Flipped values or sets among the flipped blanks of devices."""
    if any(part.kind is Kind.BITS for part in encoding.parts):
        return None
    return _among_own(desk, encoding, FakeRecord.BLANK)


def uniform_flips(desk: Desk, encoding: Encoding) -> Result:
    """Flipped values among flipped records of random bins; once, and for one part."""
    kinds = {part.kind for part in encoding.parts}
    if len(encoding.parts) * desk.wanted.request.collections > 1 or kinds != {Kind.ONE}:
        return Infeasible("flip-uniform", "one part, one collection and one value a record")
    return _among_own(desk, encoding, FakeRecord.UNIFORM)


def _among_own(desk: Desk, encoding: Encoding, record: FakeRecord) -> Result:
    name = "flip-blank" if record is FakeRecord.BLANK else "flip-uniform"
    wanted, people, most = desk.wanted, desk.wanted.people, max(p.max_set for p in encoding.parts)
    if people is None:
        return Infeasible(name, CROWD)
    fakes = wanted.own_fakes(len(encoding.parts))
    if most > 1:
        # With k set bits q falls as K^(-1/k), so (n + K) q is least at n / (k - 1) fakes.
        fakes = min(fakes, Fraction(1, most - 1))
    units = math.floor(fakes * SCALE)
    if units < 1:
        return Infeasible(name, "a larger --messages-per-user: some of a fake for each part")
    own, flips = OwnFakes(record, *divmod(units, SCALE)), wanted.request.count_crowd
    sure = people * units // SCALE
    hiding = BitFlips(
        bins=MOST_BINS if record is FakeRecord.BLANK else encoding.parts[0].bins,
        threshold=MOST_THRESHOLD,
        max_set=most,
        fakes=BlankFakes(sure) if record is FakeRecord.BLANK else UniformFakes(sure),
        crowd=people if flips else 0,
    )
    least = desk.least_flips(encoding, hiding, round(wanted.request.users * own.mean))
    if least is None:
        return Infeasible(name, COINS)
    rare = _rare(desk, encoding, people * (own.most + flips) + own.most + 1)

    def made(threshold: int) -> Stake:
        parts = [flipped(q, threshold, own=own, rare=rare) for q in encoding.parts]
        return desk.stake(Cover.PEOPLE, parts, count_flips=flips)

    if own.coin:  # which makes the number of fakes uncertain, and so a little more noise
        low = max(1, desk.fewest_flips(encoding, hiding))
        found = _least(desk, made, least, (low, MOST_THRESHOLD - 1), FLIPS)
        if found is None:
            return Infeasible(name, COINS)
        least = found
    return desk.first_kept(made, least, Infeasible(name, COINS))


def bits(desk: Desk, encoding: Encoding) -> Result:
    """Bits one by one, hidden by other people's flips: fakes help a bit in a crowd very little."""
    if any(part.kind is not Kind.BITS or part.bins > 1 for part in encoding.parts):
        return None
    return _among_people(desk, encoding, "single-bit")


def flips(desk: Desk, encoding: Encoding) -> Result:
    """Records hidden by other people's flips: free bits, or what is requested by name."""
    (question, *rest) = encoding.parts
    if question.kind is Kind.BITS:
        return None if rest or question.bins == 1 else _among_people(desk, encoding, "flip")
    return _among_people(desk, encoding, "flip") if desk.wanted.request.protocol else None


def _among_people(desk: Desk, encoding: Encoding, name: str) -> Result:
    wanted, people = desk.wanted, desk.wanted.people
    if people is None:
        return Infeasible(name, CROWD)
    if wanted.own_fakes(len(encoding.parts)) < 0:
        return Infeasible(name, f"--messages-per-user {len(encoding.parts)}: one for each part")
    free = encoding.parts[0].kind is Kind.BITS
    bins = encoding.parts[0].bins if free else MOST_BINS
    most = None if free else max(part.max_set for part in encoding.parts)
    hiding = BitFlips(
        bins=bins,
        threshold=MOST_THRESHOLD,
        max_set=most,
        fakes=NoFakes(),
        crowd=people,
    )
    least = desk.least_flips(encoding, hiding, 0)
    if least is None:
        return Infeasible(name, COINS)
    rare = _rare(desk, encoding, people + 1)

    def made(threshold: int) -> Stake:
        parts = [flipped(q, threshold, rare=rare) for q in encoding.parts]
        return desk.stake(Cover.PEOPLE, parts, count_flips=True)

    return desk.first_kept(made, least, Infeasible(name, COINS))


def uniform(desk: Desk, encoding: Encoding) -> Result:
    """Records in clear among uniform fakes of devices, as few as cover all bins."""
    wanted, clear = desk.wanted, encoding.in_clear()
    if clear is None:
        return None
    if wanted.request.local_epsilon is not None:
        return Infeasible("clear-uniform", "no --local-epsilon: answers travel in clear")
    if wanted.people is None:
        return Infeasible("clear-uniform", CROWD)
    sizes = [part.bins for part in clear.parts]
    owns = {bins: _fewest(desk, bins, wanted.people, len(sizes)) for bins in set(sizes)}
    if None in owns.values():
        return Infeasible("clear-uniform", "a larger epsilon or delta, or more people")
    parts = [in_clear(bins, owns[bins], NoRecipe()) for bins in sizes]
    sent = sum(1.0 + part.own.mean for part in parts if part.own is not None)
    if sent > wanted.request.messages_per_user:
        need = math.ceil(1000.0 * sent) / 1000.0
        return Infeasible("clear-uniform", f"--messages-per-user {need:.10g}")
    option = desk.kept(desk.stake(Cover.PEOPLE, parts))
    return option or Infeasible("clear-uniform", "attributes of more equal sizes")


def _fewest(desk: Desk, bins: int, people: int, parts: int) -> OwnFakes | None:
    """The fewest fakes of a device on average, if ``parts`` such parts are asked."""
    one = Record.of(InClear(bins=bins, fakes=UniformFakes(0)))
    found = desk.least_noise(one, Parameter.FAKES, parts)
    if found is None:
        return None
    start = -(-found.message.mechanism.fakes_promised * _UNITS // people)

    def made(units: int) -> Stake:
        own = _own(units)
        return desk.stake(Cover.PEOPLE, [in_clear(bins, own, NoRecipe())] * parts)

    most = MOST_OWN * _UNITS
    least = _least(desk, made, start, (1, most)) if start <= most else None
    return None if least is None else _own(least)


def _own(units: int) -> OwnFakes:
    whole, rest = divmod(units, _UNITS)
    return OwnFakes(FakeRecord.UNIFORM, whole, rest * (SCALE // _UNITS))


def _least(
    desk: Desk,
    made: Callable[[int], Stake],
    start: int,
    ends: tuple[int, int],
    axis: Axis = ROOT,
) -> int | None:
    """The least value between ``ends``, from ``start`` on or before, whose stake keeps the
    guarantee: it may leave a hundredth or two of delta, of several messages together some more.
    """
    delta = desk.wanted.request.guarantee.delta
    several = counted(made(start)).total() > 1
    rough = Rough(_ROUGH, floor=_FLOOR, near=_NEAR if several else _NEAR_ONE)
    # Of flips each look is dear: rough ones, which state some hundredths more, say where it ends.
    for tightness in (ROUGH, CLOSE) if several and axis is FLIPS else (CLOSE,):
        upper = partial(_upper, desk, made, tightness)
        found = least_meeting(
            upper, delta, *ends, start=start, tolerance=_TOLERANCE, axis=axis, rough=rough
        )
        if found is None:
            return None
        start = found
    return start


def _upper(desk: Desk, made: Callable[[int], Stake], tightness: Tightness, value: int) -> float:
    return desk.upper(made(value), tightness)


def _rare(desk: Desk, encoding: Encoding, messages: int) -> float:
    """How rarely each message may be drawn again, so many of them being counted in each part."""
    request = desk.wanted.request
    every = messages * len(encoding.parts) * request.collections
    return rarely(FOR_CAPS * request.guarantee.delta, request.guarantee.epsilon, every)
