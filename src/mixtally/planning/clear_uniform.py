"""Candidates of ``clear-uniform``: values or sets in clear among uniform fakes.

Devices or every mix draw the fakes. ``planning.choose`` calls this module.
"""

import math
from fractions import Fraction

from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.calibrate import probably_satisfies
from mixtally.errors import EffortError, ParameterError
from mixtally.model.encodings import Encoding
from mixtally.model.mechanism import InClear, UniformFakes
from mixtally.model.part import FakeRecord, Part
from mixtally.model.plan import Cover
from mixtally.model.recipe import NoRecipe, UniformRecipe
from mixtally.planning.clear_shaped import NO_LOCAL_EPSILON_REASON, questions_in_clear
from mixtally.planning.flips import budget_shortfall, missing_people_reason
from mixtally.planning.layouts import part_in_clear, parts_without_fakes
from mixtally.planning.noise import fakes_with_coins, fakes_without_coins, uniform_fakes
from mixtally.planning.options import (
    Candidate,
    Infeasible,
    Result,
    check_limits,
    own_bytes_excess,
    uninformative_reason,
)
from mixtally.planning.pricing import own_fakes
from mixtally.planning.request import MOST_MESSAGES, PlanRequest
from mixtally.primitives.fixed_point import SCALE

NAME = "clear-uniform"


def candidate_by_people(request: PlanRequest, encoding: Encoding, accountant: Accountant) -> Result:
    """Return the candidate with the fewest fakes of devices that hide a record in clear."""
    clear, people = questions_in_clear(encoding), request.people
    if clear is None or request.question.hashed is not None:
        return None
    if request.local_epsilon is not None:
        return Infeasible(NAME, NO_LOCAL_EPSILON_REASON)
    if people is None:
        return Infeasible(NAME, missing_people_reason(request))
    bins, size = [part.bins for part in clear], clear[0].max_set
    if (large := own_bytes_excess(NAME, request, parts_without_fakes(clear, size))) is not None:
        return large
    # This check is far cheaper than the search below.
    if request.accept_probable and not _is_affordable(
        request, encoding, bins, people, accountant, size
    ):
        return Infeasible(NAME, "more fakes than the budget allows")
    try:
        needs = _fakes_with_coins(request, encoding, bins, accountant, size)
    except EffortError:
        raise
    except ParameterError:
        return Infeasible(NAME, "a larger epsilon or delta, or more people")
    own = len(needs) * size
    sent = own + Fraction(sum(needs), people)
    if sent > MOST_MESSAGES:
        users = -(-sum(needs) // (round(MOST_MESSAGES) - own))
        return Infeasible(
            NAME,
            f"{_describe_fakes(sum(needs), bins)}: at least {users:,} users who send "
            f"{MOST_MESSAGES:g} "
            "messages each",
        )
    if sent > request.own_fakes(1) + 1:
        need = math.ceil(1000 * sent) / 1000
        return Infeasible(
            NAME, f"{_describe_fakes(sum(needs), bins)}: --messages-per-user {need:.10g}"
        )
    found = _candidate_with_fakes(request, bins, needs, people, size)
    if not found.fits_bytes:
        most = math.ceil(1000.0 * found.bytes_per_user) / 1000.0
        return Infeasible(NAME, f"{sum(needs):,} fakes: --bytes-per-user {most:.10g}")
    return uninformative_reason(found) or found


def candidate_by_mixes(request: PlanRequest, encoding: Encoding, accountant: Accountant) -> Result:
    """Return the candidate in which every mix draws as many fakes as the bins need.

    Each mix is priced as the only honest mix. Plans have no such fakes for sets.
    """
    clear, asked = questions_in_clear(encoding), request.protocol == NAME
    if clear is None or not request.mixes_draw or request.question.hashed is not None:
        return None
    if request.local_epsilon is not None:
        return Infeasible(NAME, NO_LOCAL_EPSILON_REASON) if asked else None
    bins, size = [part.bins for part in clear], clear[0].max_set
    if size > 1:
        return None
    if (short := budget_shortfall(NAME, request, encoding)) is not None:
        return short if asked else None
    if (large := own_bytes_excess(NAME, request, parts_without_fakes(clear, 1))) is not None:
        return large if asked else None
    too_few = None
    # For one message the search is faster than one price among the most fakes of a mix.
    composed = len(bins) * request.collections > 1
    if sum(bins) > request.max_mix_messages or (
        composed
        and not _is_probably_hidden(
            request, encoding, bins, Fraction(request.max_mix_messages), accountant, 1
        )
    ):
        too_few = Infeasible(NAME, "more fakes than a mix may draw: a larger --mix-messages")
    try:
        needs = [] if too_few else _certain_fakes(request, encoding, bins, accountant, 1)
    except EffortError:
        raise
    except ParameterError:
        too_few = Infeasible(NAME, "a larger epsilon or delta")
    if too_few is not None:
        return too_few if asked else None
    if sum(needs) > request.max_mix_messages:
        few = Infeasible(NAME, f"{_describe_fakes(sum(needs), bins)}: --mix-messages {sum(needs)}")
        return few if asked else None
    pairs = zip(bins, needs, strict=True)
    parts = tuple(part_in_clear(each, None, UniformRecipe(need)) for each, need in pairs)
    return check_limits(Candidate(request, request.question, parts, Cover.MIXES))


def _describe_fakes(fakes: int, bins: list[int]) -> str:
    return f"{fakes:,} fakes, {fakes / sum(bins):.4g} per bin"


def _candidate_with_fakes(
    request: PlanRequest, bins: list[int], needs: list[int], people: int, size: int
) -> Candidate:
    """Return the candidate for which ``people`` together draw ``needs`` fakes for each part.

    These are the honest people who certainly take part.
    """
    pairs = zip(bins, needs, strict=True)
    # Rounded up, so that the certain people together draw at least the needed fakes.
    parts = tuple(_part(each, -(-need * SCALE // people), size) for each, need in pairs)
    return Candidate(request, request.question, parts)


def _part(bins: int, mean: int, size: int) -> Part:
    return part_in_clear(bins, own_fakes(FakeRecord.UNIFORM, mean), NoRecipe(), most_set=size)


def _fakes_with_coins(
    request: PlanRequest,
    encoding: Encoding,
    bins: list[int],
    accountant: Accountant,
    size: int = 1,
) -> list[int]:
    """Return the number of fakes of each part, with the surplus for coins."""
    found = _certain_fakes(request, encoding, bins, accountant, size)
    return [fakes_with_coins(request, one, len(bins)) for one in found]


def _certain_fakes(
    request: PlanRequest,
    encoding: Encoding,
    bins: list[int],
    accountant: Accountant,
    size: int,
) -> list[int]:
    """Return the number of fakes of each part if all fakes certainly arrive.

    If an estimate is enough, every part has as many fakes per bin as the largest part.
    """
    if request.accept_probable:
        most = max(bins)
        fakes = uniform_fakes(accountant, request, encoding, most, size)
        found = {each: -(-fakes * each // most) for each in set(bins)}
    else:
        found = {
            each: uniform_fakes(accountant, request, encoding, each, size) for each in set(bins)
        }
    return [found[each] for each in bins]


def _is_affordable(
    request: PlanRequest,
    encoding: Encoding,
    bins: list[int],
    people: int,
    accountant: Accountant,
    size: int,
) -> bool:
    """Estimate whether the fakes within the budget hide every part.

    Only the part with the most bins is evaluated, because it needs the most fakes.
    """
    allowed = math.floor((request.own_fakes(1) + 1 - len(bins) * size) * people)
    if allowed < 0:
        return False
    certain = fakes_without_coins(request, Fraction(allowed * max(bins), sum(bins)), len(bins))
    return _is_probably_hidden(
        request, encoding, bins, certain * sum(bins) / max(bins), accountant, size
    )


def _is_probably_hidden(
    request: PlanRequest,
    encoding: Encoding,
    bins: list[int],
    fakes_of_all: Fraction,
    accountant: Accountant,
    size: int,
) -> bool:
    """Return whether the given fakes of all parts most likely hide the part of most bins."""
    most = max(bins)
    fakes = round(fakes_of_all * most / sum(bins))
    record = Record.of(InClear(bins=most, max_set=size, fakes=UniformFakes(fakes)))
    messages = len(encoding.parts) * request.collections
    return probably_satisfies(
        accountant, record, request.guarantee.epsilon, request.guarantee.delta, messages
    )
