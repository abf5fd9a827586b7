"""Why a plan was chosen, in sentences."""

from mixtally.planner.options import Infeasible, PlanOption
from mixtally.planner.request import PlanRequest
from mixtally.records.mechanism import BitFlips, FakeSource


def reason(
    request: PlanRequest, best: PlanOption, others: list[PlanOption], infeasible: list[Infeasible]
) -> str:
    """What was chosen and what it costs, how much worse the others are, what would not fit."""
    sentences = [_why(request, best)]
    if len(best.plans) > 1:
        sentences.append(
            f"A record travels as {len(best.plans)} messages, each through mixes of its own."
        )
    hashed = best.plan.question.hashed
    if hashed is not None:
        values = "Any values" if hashed.values is None else f"{hashed.values:,} values"
        sentences.append(
            f"{values} share {best.bins:,} bins: values that meet in a bin are counted together, "
            "which the error includes at its worst, everybody else holding one same value."
        )
    sentences += [
        f"{option.name} would have {option.standard_error / best.standard_error:.3g} times the "
        "standard error" + _cost(best, option)
        for option in others
    ]
    if request.collections > 1:
        sentences.append(f"The guarantee is for all {request.collections} collections together.")
    if request.local_epsilon is not None:
        sentences.append(f"The flips also keep a local epsilon of {request.local_epsilon:g}.")
    needs: dict[str, list[str]] = {}
    had = {option.plan.protocol for option in (best, *others)}
    for one in infeasible:  # one that is had whole may be out of reach split
        split = ", split" * (one.protocol in had)
        needs.setdefault(one.needs, []).append(one.protocol + split)
    sentences += [f"{' and '.join(names)} would need {need}." for need, names in needs.items()]
    return " ".join(sentences)


def in_counts(error: float) -> str:
    """An error for people: two digits, or all before the point."""
    return f"{error:,.0f}" if error >= 99.5 else f"{error:.2g}"


def budget(request: PlanRequest) -> str:
    """The budget in words."""
    messages = float(request.messages_per_user)
    words = f"{messages:.10g} message{'s' * (messages > 1)} a user"
    if request.bytes_per_user is not None:
        words += f" and {request.bytes_per_user:,.10g} bytes"
    return words


def _cost(best: PlanOption, option: PlanOption) -> str:
    """How much less an alternative sends, where that is at least a fifth."""
    if option.bytes_per_user < 0.8 * best.bytes_per_user:
        return f", with {option.bytes_per_user / best.bytes_per_user:.2g} of the bytes."
    return "."


def _why(request: PlanRequest, best: PlanOption) -> str:
    name, mechanism = best.name, best.mechanism
    if request.protocol:
        lead = f"{name} was asked for"
    elif mechanism.fake_source is FakeSource.MIX:
        lead = f"{name} has the smallest standard error, because a mix may draw the fakes"
    else:
        lead = f"{name} has the smallest standard error within the budget of {budget(request)}"
    fakes = sum(plan.mechanism.fakes_promised for plan in best.plans)
    error = f"a standard error of {in_counts(best.standard_error)} counts"
    if fakes:
        return f"{lead}: {fakes:,} fakes ({fakes / request.users:.3g} a user) give {error}."
    if isinstance(mechanism, BitFlips) and mechanism.crowd:
        more = _more(request, best, "one fake a user") * (best.plan.protocol == "flip-blank")
        return f"{lead}: without fakes other people's flips hide a person, with {error}{more}."
    more = _more(request, best, "one fake a user, or --count-crowd,")
    return f"{lead}: without fakes only local randomization is left, with {error}{more}."


def _more(request: PlanRequest, best: PlanOption, what: str) -> str:
    """What fakes would do: where the budget has some they were weighed, but for ``flip``."""
    if request.local_epsilon is not None:
        return ""
    size = best.bytes_per_user / best.messages_per_user
    if request.protocol != "flip" and request.most_fakes(len(best.plans), size) > 0:
        return "; the fakes of the budget would bring more noise than they hide"
    return f"; {what} could cut it"
