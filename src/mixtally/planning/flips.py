"""Candidates with flipped bits: the least flip probability for given fakes and people.

The files of the protocols ``flip``, ``flip-blank``, ``flip-uniform`` and ``single-bit`` call this
module.
"""

import math
from dataclasses import replace
from fractions import Fraction

from msgspec import structs

from mixtally.accounting.accountant import Accountant
from mixtally.model.encodings import Encoding
from mixtally.model.mechanism import BitFlips, BlankFakes, NoFakes, UniformFakes
from mixtally.model.part import FakeRecord, Part
from mixtally.model.plan import Cover
from mixtally.model.question import Kind
from mixtally.model.recipe import BlanksRecipe
from mixtally.planning.layouts import layout_without_flips, plain_part, set_flip_threshold
from mixtally.planning.noise import (
    fakes_without_coins,
    fewest_fakes,
    least_flips,
    least_flips_for_local_epsilon,
)
from mixtally.planning.options import (
    Candidate,
    Infeasible,
    Result,
    check_limits,
    own_bytes_excess,
    uninformative_reason,
)
from mixtally.planning.pricing import own_fakes
from mixtally.planning.request import PlanRequest
from mixtally.primitives.fixed_point import LEAST_THRESHOLD, MOST_THRESHOLD, SCALE

TOO_FEW_FAKES = (
    "more fakes or a larger epsilon: with the flips needed, a 95 % interval would span all people"
)
TOO_FEW_PEOPLE = (
    "more people or a larger epsilon: with the flips needed, a 95 % interval would span all people"
)
_CERTAIN = "more people who are certain to take part"
_CROWD = "--minimum-crowd: people whose messages certainly arrive"
_MAX_BYTE_TRIALS = 4
"""Maximum number of trials with fewer and fewer fakes, until a bundle fits the limit of bytes.
Fewer fakes need more flips, which make messages longer."""


def candidate_among_people(
    name: str,
    request: PlanRequest,
    encoding: Encoding,
    accountant: Accountant,
    *,
    fakes: Fraction,
    record: FakeRecord = FakeRecord.BLANK,
    count_flips: bool,
    repeats: int = 1,
) -> Result:
    """Return the candidate with the least flip probability for the given number of fakes.

    ``fakes`` is the mean number of fakes of a device for each part; fewer are used if the limit of
    bytes requires it. ``count_flips`` says whether the guarantee counts on other people's flips.
    Without fakes and without ``count_flips``, a record is hidden only by its own flips.
    """
    people = request.people
    if people is None:
        return Infeasible(name, missing_people_reason(request))
    if (large := _large_messages(name, request, encoding)) is not None:
        return large
    units = max(0, math.floor(fakes * SCALE))
    short: Infeasible | None = None
    # Each trial has fewer fakes than the last, until the bundle fits the limit of bytes.
    for _ in range(_MAX_BYTE_TRIALS):
        found = _candidate_with_fakes(
            name, request, encoding, accountant, units, record, count_flips, repeats
        )
        if not isinstance(found, Candidate):
            return short or found
        if found.fits_bytes:
            return found
        slots = repeats + -(-units // SCALE)  # A fake drawn by a coin also needs a whole slot.
        base = -(-found.bytes_per_user * repeats // slots)
        affordable = (
            math.floor((request.bytes_per_user or 0.0) * slots / found.bytes_per_user) - repeats
        )
        if affordable < 0 or not units:
            return Infeasible(name, f"--bytes-per-user {base}")
        # A trial without fakes would report that fakes are missing. The actual obstacle is that not
        # even one fake fits the limit of bytes.
        if not affordable:
            one = -(-found.bytes_per_user * (repeats + 1) // slots)
            short = Infeasible(name, f"--bytes-per-user {one}")
        units = min(units - 1, affordable * SCALE)
    return Infeasible(name, "--bytes-per-user for more than its own messages")


def _candidate_with_fakes(
    name: str,
    request: PlanRequest,
    encoding: Encoding,
    accountant: Accountant,
    units: int,
    record: FakeRecord,
    count_flips: bool,
    repeats: int,
) -> Result:
    """Return the candidate whose devices send ``units`` / 2^64 fakes on average for each part."""
    people, parts = request.people or 0, len(encoding.parts)
    # Below one fake in the whole crowd, none is certain to arrive.
    own = own_fakes(record, units) if units * people >= SCALE else None
    certain = 0 if own is None else own.mean_for(people)
    if own is not None and own.coin:
        certain = round(fakes_without_coins(request, Fraction(certain), parts))
    uniform = own is not None and record is FakeRecord.UNIFORM
    hiding = BitFlips(
        bins=max(part.bins for part in encoding.parts),
        threshold=MOST_THRESHOLD,
        max_set=most_set(encoding),
        fakes=UniformFakes(certain)
        if uniform
        else NoFakes()
        if own is None and count_flips
        else BlankFakes(certain),
        crowd=people if count_flips else 0,
        repeats=repeats,
    )
    floor = least_flips_for_local_epsilon(request, hiding, parts)
    made = Candidate(
        request,
        request.question,
        _parts(encoding, floor or MOST_THRESHOLD // 2),
        count_flips=count_flips,
    )
    made = replace(
        made, parts=tuple(structs.replace(p, own=own, repeats=repeats) for p in made.parts)
    )
    bare = replace(made, parts=tuple(structs.replace(p, own=None) for p in made.parts))
    if floor and (useless := uninformative_reason(bare)) is not None:
        return useless
    sent = 0 if own is None else round(request.users * own.mean)
    least = least_flips(accountant, request, encoding, hiding, sent)
    if least is None:
        return Infeasible(
            name, TOO_FEW_FAKES if own is not None or not count_flips else TOO_FEW_PEOPLE
        )
    # The local epsilon needs more flips than the guarantee does, so some fakes only add noise.
    if floor > least and own is not None:
        fewest = fewest_fakes(accountant, request, encoding, hiding, floor)
        if fewest is not None and fewest < certain:
            units = -(-fewest * SCALE // people)
            few = own_fakes(record, units) if units else None
            made = replace(made, parts=tuple(structs.replace(p, own=few) for p in made.parts))
    found = set_flip_threshold(made, max(least, floor))
    return uninformative_reason(found) or found


def _large_messages(name: str, request: PlanRequest, encoding: Encoding) -> Infeasible | None:
    """Return the reason if a person's own messages have too many bytes, however few the flips are.

    Return None otherwise.
    """
    if request.bytes_per_user is None:
        return None
    parts = (
        structs.replace(part, layout=layout_without_flips(part.bins, part.most_set or part.bins))
        for part in _parts(encoding, LEAST_THRESHOLD)
    )
    return own_bytes_excess(name, request, tuple(parts))


def most_set(encoding: Encoding) -> int | None:
    """Return the maximum number of set bits of a message; None if any bits may be set."""
    if encoding.parts[0].kind is Kind.BITS:
        return None
    return max(part.max_set for part in encoding.parts)


def _parts(encoding: Encoding, threshold: int) -> tuple[Part, ...]:
    return tuple(
        plain_part(part.bins, None if part.kind is Kind.BITS else part.max_set, threshold)
        for part in encoding.parts
    )


def candidate_among_mix_blanks(
    name: str, request: PlanRequest, encoding: Encoding, accountant: Accountant, each: int
) -> Result:
    """Return the candidate in which every mix draws and flips ``each`` blanks for each part."""
    if each < 1:
        return Infeasible(name, f"--mix-messages {len(encoding.parts)}: a blank for each part")
    if (short := budget_shortfall(name, request, encoding)) is not None:
        return short
    if (large := _large_messages(name, request, encoding)) is not None:
        return large
    most = most_set(encoding)
    hiding = BitFlips(
        bins=max(part.bins for part in encoding.parts),
        threshold=MOST_THRESHOLD,
        max_set=most,
        fakes=BlankFakes(each),
    )
    least = least_flips(accountant, request, encoding, hiding, each * request.mix_count)
    if least is None:
        return Infeasible(name, TOO_FEW_FAKES)
    least = max(least, least_flips_for_local_epsilon(request, hiding, len(encoding.parts)))
    parts = tuple(
        structs.replace(part, recipe=BlanksRecipe(each, least)) for part in _parts(encoding, least)
    )
    made = Candidate(request, request.question, parts, Cover.MIXES)
    found = set_flip_threshold(made, least)
    return check_limits(found)


def missing_people_reason(request: PlanRequest) -> str:
    """Return the text of ``Infeasible.needs`` for a request with too few certain people.

    These are the people who certainly take part (``request.people``).
    """
    return _CERTAIN if request.hops is None or request.minimum_crowd is not None else _CROWD


def budget_shortfall(
    name: str, request: PlanRequest, encoding: Encoding, repeats: int = 1
) -> Infeasible | None:
    """Return why the budget does not cover a person's own messages; None if it does."""
    own = len(encoding.parts) * repeats
    if request.messages_per_user >= own:
        return None
    return Infeasible(name, f"{own} messages a record: --messages-per-user {own}")
