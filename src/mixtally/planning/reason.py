"""The reason for the choice of a plan, in sentences.

``planning.choose`` puts the text into a ``Choice``. Reports and refusals use the helpers for errors
and budgets.
"""

import math
from collections.abc import Sequence

from mixtally.device.contract.planes import LARGEST_PRIME
from mixtally.model.encodings import list_encodings
from mixtally.model.plan import Cover, Plan
from mixtally.planning.options import Candidate, Infeasible
from mixtally.planning.planes import is_limited_by_bytes
from mixtally.planning.request import PlanRequest
from mixtally.primitives.fixed_point import SCALE

_WORTHWHILE_BYTES_SHARE = 0.8
"""An alternative is mentioned if its bytes are below this share of those before it."""


def describe_choice(
    request: PlanRequest,
    best: Plan,
    others: Sequence[Candidate],
    infeasible: Sequence[Infeasible],
) -> str:
    """Describe the chosen plan and its costs, the alternatives, and the infeasible protocols.

    Parameters
    ----------
    request : PlanRequest
        The request for which ``best`` was chosen.
    best : Plan
        The chosen plan.
    others : sequence of Candidate
        The other candidates by increasing error.
    infeasible : sequence of Infeasible
        The infeasible protocols, with their reasons.
    """
    least = all(one.error >= best.error_of(request.count) for one in others)
    sentences = [_describe_best(request, best, "the smallest" if least else "about the smallest")]
    if len(best.parts) > 1:
        sentences.append(
            f"A record travels as {len(best.parts)} messages, each through mixes of its own."
        )
    planes = best.parts[0].planes
    if planes is not None:
        sentences.append(
            f"A message names one of {planes.prime:,} planes of values, of a direction that it "
            "draws: other people's messages point at a value by chance, which the error includes."
        )
        limited = is_limited_by_bytes(planes, request.question.max_set)
        if limited and request.bytes_per_user is not None:
            sentences.append(
                "More planes would need messages of up to 16 bytes, which do not have a smaller "
                "error within the budget of bytes."
            )
        if planes.prime == LARGEST_PRIME:
            sentences.append(
                "More planes would have a smaller error, but this is the largest number that a "
                "message can name."
            )
    sentences += [
        f"{_name_with_cover(best, option)} would have "
        f"{option.error / best.error_of(request.count):.3g} times the standard error"
        + _cost(best, option)
        for option in worthwhile_alternatives(best, others)
    ]
    if request.collections > 1:
        sentences.append(f"The guarantee is for all {request.collections} collections together.")
    if request.local_epsilon is not None:
        sentences.append(
            "The flips also keep a local epsilon of "
            f"{repr(request.local_epsilon).removesuffix('.0')}."
        )
    needs: dict[str, list[str]] = {}
    had = {best.protocol, *(option.protocol for option in others)}
    # A protocol that sends whole records may be infeasible for split records.
    for one in infeasible:
        split = ", split" * (one.protocol in had and len(list_encodings(request.question)) > 1)
        needs.setdefault(one.needs, []).append(one.protocol + split)
    sentences += [f"{' and '.join(names)} would need {need}." for need, names in needs.items()]
    return " ".join(sentences)


def worthwhile_alternatives(best: Plan, others: Sequence[Candidate]) -> list[Candidate]:
    """Return the next best candidate, and others worth mentioning.

    Another candidate is worth mentioning if it is the first one with its cover. It is also worth
    mentioning if it sends over a fifth fewer bytes than the plan and the earlier results with the
    same cover.

    Parameters
    ----------
    best : Plan
        The chosen plan.
    others : sequence of Candidate
        The other candidates by increasing error.
    """
    found: list[Candidate] = []
    least: dict[Cover, float] = {best.cover: best.bytes_per_user}
    for option in others:
        less = option.bytes_per_user < _WORTHWHILE_BYTES_SHARE * least.get(option.cover, math.inf)
        if less or not found:
            found.append(option)
            least[option.cover] = min(option.bytes_per_user, least.get(option.cover, math.inf))
    return found


def format_error(error: float) -> str:
    """Format an error with two significant digits, or with all digits before the decimal point."""
    return f"{error:,.0f}" if error >= 99.5 else f"{error:.2g}"


def describe_budget(request: PlanRequest) -> str:
    """Describe the budget of messages and bytes."""
    messages = float(request.messages_per_user)
    words = f"{messages:.10g} message{'s' * (messages > 1)} per user"
    if request.bytes_per_user is not None:
        words += f" and {request.bytes_per_user:,.10g} bytes"
    return words


def _name_with_cover(best: Plan, option: Candidate) -> str:
    """Return the name of an alternative, with its cover if that differs from the plan's."""
    return option.name + f", by {option.cover}," * (option.cover is not best.cover)


def _cost(best: Plan, option: Candidate) -> str:
    """Return the end of a sentence, which names the bytes if they are over a fifth fewer."""
    if option.bytes_per_user < _WORTHWHILE_BYTES_SHARE * best.bytes_per_user:
        return f", with {option.bytes_per_user / best.bytes_per_user:.2g} of the bytes."
    return "."


def _describe_best(request: PlanRequest, best: Plan, rank: str) -> str:
    name = best.name
    if request.protocol:
        lead = f"{name} was asked for"
    elif best.cover is Cover.MIXES and best.hops > 1:
        lead = (
            f"{name} has {rank} standard error among fakes that every mix draws, which hide "
            "a person if any one mix is honest"
        )
    elif best.cover is Cover.MIXES:
        lead = f"{name} has {rank} standard error, because a mix may draw the fakes"
    else:
        lead = f"{name} has {rank} standard error within the budget of {describe_budget(request)}"
    fakes, error = best.fakes, f"a standard error of {format_error(best.standard_error)} counts"
    if best.parts[0].replaced is not None:
        return f"{lead}: {_describe_replacement(request, best, error)}."
    if best.parts[0].slots is not None:
        return f"{lead}: {_describe_slots(request, best, error)}."
    if fakes:
        return f"{lead}: {fakes:,} fakes ({fakes / request.users:.3g} per user) give {error}."
    if best.count_flips:
        more = "" if request.count_crowd else _describe_more_fakes(request, "one fake per user")
        return f"{lead}: without fakes other people's flips hide a person, with {error}{more}."
    more = _describe_more_fakes(request, "one fake per user, or --count-crowd,")
    return f"{lead}: without fakes only local randomization is left, with {error}{more}."


def _describe_replacement(request: PlanRequest, best: Plan, error: str) -> str:
    """Describe the share of replaced values and the resulting errors."""
    share = (best.parts[0].replaced or 0) / SCALE
    give = "give" if best.fakes else "gives"
    fakes_text = f"{best.fakes:,} fakes ({best.fakes / request.users:.3g} per user) and " * (
        best.fakes > 0
    )
    full = format_error(best.error_of(request.count))
    return (
        f"{fakes_text}a uniform bin in place of {100 * share:.3g} % of all values {give} {error} "
        f"where nobody holds a bin, {full} where {request.count:,} people do"
    )


def _describe_slots(request: PlanRequest, best: Plan, error: str) -> str:
    """Describe the slots that are sent, and the resulting errors."""
    part, full = best.parts[0], format_error(best.error_of(request.count))
    return (
        f"{part.slots} of the {part.most_set} slots of a record, drawn anew each time, and "
        f"{best.fakes:,} fakes ({best.fakes / request.users:.3g} per user) give {error} where "
        f"nobody holds a bin, {full} where {request.count:,} people do"
    )


def _describe_more_fakes(request: PlanRequest, what: str) -> str:
    """Describe the effect of fakes; empty if the planner has already compared them."""
    if request.local_epsilon is not None or request.protocol == "flip":
        return ""
    if request.messages_per_user > 1:
        return "; the fakes of the budget would bring more noise than they hide"
    return f"; {what} could cut it"
