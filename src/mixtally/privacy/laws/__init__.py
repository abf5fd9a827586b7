"""Every law that has a price, by name: what it needs, what it costs, how well its counts are known.

``price`` answers for given parameters, ``calibrate`` finds the one that was left out.
"""

import math
from dataclasses import replace
from functools import lru_cache

from mixtally.errors import ParameterError
from mixtally.ground.fixed import LEAST_THRESHOLD, MOST_THRESHOLD, SCALE
from mixtally.privacy.divergence import memoized as remembered
from mixtally.privacy.laws import several
from mixtally.privacy.laws.ask import Ask, checked, flags, given, whole
from mixtally.privacy.laws.single import LAWS, kept
from mixtally.privacy.numerics.gaussian_start import gaussian
from mixtally.privacy.numerics.search import least_meeting, usual_cover
from mixtally.protocols.clear_shaped import MOST_SHIFT, shape_moment
from mixtally.records.certificate import Certificate, Status
from mixtally.records.guarantee import MOST_USERS, Observer, checked_epsilon

__all__ = [
    "LAWS", "Ask", "calibrate", "check", "given", "local_epsilon", "price", "standard_error",
]  # fmt: skip

_TOLERANCE = 1e-7
_COMPOSED_TOLERANCE = 1e-4
"""Well below what a rough law of losses loses in a search."""
_WOBBLE = 3e-3
"""Upper ends by different methods may lie so far apart, relatively."""
_ROUGH_WOBBLE = 0.5
"""A rough law of losses moves epsilon by up to half a percent, so delta by 2 ln(1 / delta) times
as much and more far below the target. What is found is proved, so this hides no promise."""
_TABLE_WOBBLE = 1e3
"""A table of integers over 2^64 has a delta of its own, near 1e-17, that rises with its length."""
_MOST_PROOFS = 4
_ROOM = 0.02
"""Of the excess of a proof over what was expected: it decides how many proofs a search takes."""


def price(name: str, ask: Ask, epsilon: float) -> Certificate:
    """The certificate of law ``name`` with the parameters of ``ask``.

    Raises ParameterError for parameters it lacks or does not take, or outside their ranges.
    """
    checked_epsilon(epsilon)
    check(name, ask)
    quote = several.price(name, ask, epsilon)
    return Certificate(
        epsilon=epsilon,
        lower=quote.ends.lower,
        upper=quote.ends.upper,
        observer=Observer.LINKED if name == "memory" else ask.observer,
        status=Status.PROVED,
        source=quote.source,
        assumption=quote.assumption,
    )


def check(name: str, ask: Ask, *, without: str | None = None) -> None:
    """Raises ParameterError unless ``ask`` has what law ``name`` needs, but for ``without``."""
    law = LAWS[name]
    checked(name, ask, law.needs - {without}, law.may | ({without} if without else set()))
    for field in ("bins", "max_set"):
        if ask.bits is not None and getattr(ask, field) is not None:
            flag = field.replace("_", "-")
            raise ParameterError(
                name, wanted=f"--{flag} or --bits", got="both",
                do="a record is one of --bins, or a set of them, or free --bits",
            )  # fmt: skip
    if ask.background is not None and ask.bits is None:
        raise ParameterError(
            name, wanted="--bits beside --background", got="--background alone",
            do="leave it out: other records are priced for any crowd",
        )  # fmt: skip
    if ask.count_crowd and ask.users is None:
        raise ParameterError(
            name, wanted="--users, the people who are counted on", got="--count-crowd alone",
            do="say how many honest people take part",
        )  # fmt: skip


def local_epsilon(name: str, ask: Ask) -> float:
    """What is left when every message can be traced to its sender; infinite in clear."""
    record = several.parts(name, ask)
    return record.times * (record.ask.repeats or 1) * LAWS[record.name].reach(record.ask)


def calibrate(
    name: str,
    ask: Ask,
    epsilon: float,
    delta: float,
    *,
    collections: int = 1,
    tolerance: float = _TOLERANCE,
    most: int = MOST_THRESHOLD,
) -> Ask:
    """``ask`` with the least noise that keeps the guarantee, in what was left out.

    That is the flip probability when it is missing, otherwise the fakes; the shift of shaped fakes,
    and their decay if that is missing too; the permanent response of a memory. The guarantee is
    for ``collections`` of them together. A flip probability lies above the least one by at most
    the relative ``tolerance``, or a few ten-thousandths where another crowd than expected is proved
    the worst; so do the fakes of several messages together, those of one are the fewest. No flip
    probability times 2^64 above ``most`` is looked at.

    Raises ParameterError when nothing or too much is missing, or when nothing keeps the guarantee.
    """
    missing = [field for field in LAWS[name].sought if getattr(ask, field) is None]
    field = missing[0] if missing else LAWS[name].sought[0]
    if field == "shift" and ask.ratio is None:
        times = several.parts(name, ask).times * collections
        # Upwards, past the error of exp: a slower fall is never broken at the limit itself.
        ask = replace(ask, ratio=math.ceil(math.exp(-epsilon / (2.0 * times)) * SCALE) + (1 << 12))
    check(name, ask, without=field)
    if not missing:
        raise ParameterError(
            name, wanted="what is to be found left out", got=flags(LAWS[name].sought),
            do="leave one out, or ask `mixtally delta` what they leave",
        )  # fmt: skip
    if field == "permanent":
        found: float | None = remembered.least_permanent(
            kept(replace(ask, permanent=1.0)), epsilon, delta
        )
    else:
        found = _least(name, ask, field, epsilon, delta, collections, tolerance, most)
    if found is None:
        raise ParameterError(
            name, wanted=f"parameters that some {field} can protect",
            got=f"epsilon {epsilon:g} and delta {delta:g} missed at its largest",
            do="raise epsilon or delta, add users or fakes, or let a shape fall more slowly",
        )  # fmt: skip
    return replace(ask, **{field: found})  # type: ignore[arg-type]


def _usual_flip(name: str, ask: Ask, cover: float) -> float:
    """Roughly the flip probability with which ``cover`` records hide one: where a search starts.

    A fake hides a record when it shows all its bits, another person's when it also loses its own.
    """
    most, users = ask.max_set or 1, ask.users or 0
    if ask.bits is not None and not ask.split and ask.observer is Observer.MESSAGES:
        return float(0.5 * (cover / users) ** (1.0 / ask.bits))
    if name == "single-bit" or ask.split or ask.observer is Observer.SUMS:
        return cover / ((ask.fakes or 0) + users + 1)
    alone = float((cover / ((ask.fakes or 0) + 1)) ** (1.0 / most))
    if name == "flip" or ask.count_crowd:
        return min(alone, float((cover / users) ** (0.5 / most)))
    return alone


@lru_cache(maxsize=1024)
def _least(
    name: str,
    ask: Ask,
    field: str,
    epsilon: float,
    delta: float,
    collections: int,
    tolerance: float,
    most: int,
) -> int | None:
    """The least value of an integer parameter with which the guarantee is kept."""
    times = several.parts(name, ask).times * (ask.repeats or 1) * collections
    if times > 1:
        tolerance = max(tolerance, _COMPOSED_TOLERANCE)
    elif field == "fakes":
        tolerance = 0.0
    cover, low, high = usual_cover(epsilon, delta), 0, 1000 * MOST_USERS
    if field == "threshold":
        low, high = LEAST_THRESHOLD, min(most, MOST_THRESHOLD - (MOST_THRESHOLD >> 20))
        if high < low:
            return None
        start = round(min(0.25, _usual_flip(name, ask, cover * times**0.9)) * SCALE)
    elif field == "shift":
        # The ends of the law are what is left: delta = 2 F(0) - F(0)^2, a collection.
        decay = math.log(SCALE / whole(ask.ratio))
        ends = math.log(2.0 * times * math.tanh(decay / 2.0) / delta) / decay
        low, high, start = 1, MOST_SHIFT, max(1, math.ceil(ends))
    elif ask.threshold:
        start = round(cover * times**0.9 * SCALE / ask.threshold)
    else:
        start = round(cover * times**0.9 * whole(ask.bins))

    def changed(value: int) -> Ask:
        return replace(ask, **{field: value})  # type: ignore[arg-type]

    if most < MOST_THRESHOLD and several.alone(name, changed(high), epsilon) > delta:
        return None  # one message alone misses already
    slope, rounds = None, several.parts(name, ask).times * collections
    if field != "shift" and (rounds > 1 or ask.bits or (ask.max_set or 1) > 1):
        guess = gaussian(
            lambda value: several.distance(name, changed(value)), rounds, epsilon, delta,
            low, high, start=start,
        )  # fmt: skip
        start, slope = guess or (start, None)
    wobble = _ROUGH_WOBBLE if rounds > 1 else _WOBBLE
    wobble = _TABLE_WOBBLE if field == "shift" else wobble
    target, found = delta, None
    for _ in range(_MOST_PROOFS):
        found = least_meeting(
            lambda value: several.expected(name, changed(value), epsilon, collections),
            target, low, high, start=found or start, tolerance=tolerance,
            wobble=wobble, slope=slope,
        )  # fmt: skip
        if found is None:
            return None
        proved = several.upper(name, changed(found), epsilon, collections)
        if proved <= delta:
            return found
        # Another crowd was worse than expected. The excess is another at the next end: some room.
        margin = max(_TOLERANCE, _ROOM * (proved / delta - 1.0))
        target *= delta / proved * max(0.5, 1.0 - margin)
    # Where crowds are tiny the worst one is hard to guess: search what is proved.
    return least_meeting(
        lambda value: several.upper(name, changed(value), epsilon, collections),
        delta, low, high, start=found or start, tolerance=tolerance, wobble=_TABLE_WOBBLE,
    )  # fmt: skip


def standard_error(name: str, ask: Ask) -> float:
    """Standard error of an unbiased count of an empty bin, in counts.

    People that the law need not know are taken to be as many as the fakes, one for a memory.
    Source: notes 004, below (5.20).
    """
    if name == "memory":
        return remembered.standard_error(kept(ask), ask.users or 1)
    rounds = ask.repeats or 1
    if name == "clear-shaped":
        return math.sqrt(shape_moment(whole(ask.ratio), whole(ask.shift), 2) / rounds)
    fakes = ask.fakes or 0
    users = ask.users if ask.users is not None else fakes
    spread = (
        fakes / ask.bins * (1.0 - 1.0 / ask.bins) if name.endswith("uniform") and ask.bins else 0.0
    )
    if ask.threshold is None:
        return math.sqrt(spread / rounds)
    q, contrast = ask.threshold / SCALE, (SCALE - 2 * ask.threshold) / SCALE
    flips = (users + fakes) * q * (1.0 - q)
    return math.sqrt((flips / contrast**2 + spread) / rounds) if contrast else math.inf
