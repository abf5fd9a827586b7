"""Candidates of ``clear-uniform``: values or sets in clear among uniform fakes.

Devices or every mix draw the fakes. ``planning.choose`` calls this module.
"""

import math
from fractions import Fraction

from mixtally.accounting.accountant import Accountant
from mixtally.errors import EffortError, ParameterError
from mixtally.model.encodings import Encoding
from mixtally.model.mechanism import InClear, UniformFakes
from mixtally.model.part import FakeRecord
from mixtally.model.plan import Cover
from mixtally.model.recipe import NoRecipe, UniformRecipe
from mixtally.planning.clear_shaped import NO_LOCAL_EPSILON_REASON, questions_in_clear
from mixtally.planning.flips import budget_shortfall, missing_people_reason
from mixtally.planning.layouts import part_in_clear, parts_without_fakes
from mixtally.planning.noise import (
    fakes_with_coins,
    fakes_without_coins,
    probably_private,
    uniform_fakes,
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
from mixtally.planning.request import MOST_MESSAGES, PlanRequest
from mixtally.primitives.fixed_point import SCALE

NAME = "clear-uniform"


def candidate_by_people(request: PlanRequest, encoding: Encoding, accountant: Accountant) -> Result:
    """Return the candidate whose devices send the fewest fakes that hide a record in clear."""
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
        certain = _certain_fakes(request, encoding, bins, accountant, size)
    except EffortError:
        raise
    except ParameterError:
        return Infeasible(NAME, "a larger epsilon or delta, or more people")
    needs = [fakes_with_coins(request, one, len(bins)) for one in certain]
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
    # Rounded up, so that the people who certainly take part send enough fakes on average.
    owns = (own_fakes(FakeRecord.UNIFORM, -(-need * SCALE // people)) for need in needs)
    parts = tuple(
        part_in_clear(each, own, NoRecipe(), most_set=size)
        for each, own in zip(bins, owns, strict=True)
    )
    found = Candidate(request, request.question, parts)
    if not found.fits_bytes:
        most = math.ceil(1000.0 * found.bytes_per_user) / 1000.0
        return Infeasible(NAME, f"{sum(needs):,} fakes: --bytes-per-user {most:.10g}")
    return uninformative_reason(found) or found


def candidate_by_mixes(request: PlanRequest, encoding: Encoding, accountant: Accountant) -> Result:
    """Return the candidate in which the fakes of each mix suffice to hide a record.

    Delta is computed as if only one mix were honest. This function has no candidate for sets. If no
    candidate exists, the result is the reason if the request names the protocol, otherwise None.
    """
    found = _among_mix_fakes(request, encoding, accountant)
    if isinstance(found, Candidate):
        return check_limits(found)
    return found if request.protocol == NAME else None


def _among_mix_fakes(request: PlanRequest, encoding: Encoding, accountant: Accountant) -> Result:
    clear = questions_in_clear(encoding)
    if clear is None or not request.mixes_draw or request.question.hashed is not None:
        return None
    if request.local_epsilon is not None:
        return Infeasible(NAME, NO_LOCAL_EPSILON_REASON)
    bins, most = [part.bins for part in clear], request.max_mix_messages
    if clear[0].max_set > 1:
        return None
    if (short := budget_shortfall(NAME, request, encoding)) is not None:
        return short
    if (large := own_bytes_excess(NAME, request, parts_without_fakes(clear, 1))) is not None:
        return large
    # For one message the search below is faster than this check, which computes a delta among as
    # many fakes as a mix may draw.
    composed = len(bins) * request.collections > 1
    if sum(bins) > most or (
        composed and not _is_probably_hidden(request, encoding, bins, Fraction(most), accountant, 1)
    ):
        return Infeasible(NAME, "more fakes than a mix may draw: a larger --mix-messages")
    try:
        needs = _certain_fakes(request, encoding, bins, accountant, 1)
    except EffortError:
        raise
    except ParameterError:
        return Infeasible(NAME, "a larger epsilon or delta")
    if sum(needs) > most:
        return Infeasible(NAME, f"{_describe_fakes(sum(needs), bins)}: --mix-messages {sum(needs)}")
    pairs = zip(bins, needs, strict=True)
    parts = tuple(part_in_clear(each, None, UniformRecipe(need)) for each, need in pairs)
    return Candidate(request, request.question, parts, Cover.MIXES)


def _describe_fakes(fakes: int, bins: list[int]) -> str:
    return f"{fakes:,} fakes, {fakes / sum(bins):.4g} per bin"


def _certain_fakes(
    request: PlanRequest,
    encoding: Encoding,
    bins: list[int],
    accountant: Accountant,
    size: int,
) -> list[int]:
    """Return, for each part, the least number of fakes that hide a record if all of them arrive.

    If the request accepts a probable candidate, the number is computed only for the part with the
    most bins. All other parts get the same number of fakes per bin.
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
    """Return whether the given fakes most likely hide a record in the part with the most bins.

    ``fakes_of_all`` is the number of fakes of all parts together.
    """
    most = max(bins)
    fakes = round(fakes_of_all * most / sum(bins))
    sent = InClear(bins=most, max_set=size, fakes=UniformFakes(fakes))
    return probably_private(accountant, request, sent, len(encoding.parts))
