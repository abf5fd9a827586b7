"""Choice of the plan that a simulation plays.

``app`` calls these functions. They return the planner's best plan, or a plan for a special request:
repeats of each message, or pairs of bits.
"""

from collections.abc import Callable
from dataclasses import replace

from msgspec import structs

from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.plans.terms import CAPS_SOURCE, PrivacyTerms, cap_cost
from mixtally.errors import InfeasibleError, ParameterError, pluralize
from mixtally.model.certificate import Certificate
from mixtally.model.contract import Cover, Plan
from mixtally.model.costs import Costs
from mixtally.model.encodings import list_encodings
from mixtally.model.guarantee import Observer
from mixtally.model.layout import Form
from mixtally.model.question import Kind
from mixtally.planning import (
    Candidate,
    Choice,
    Infeasible,
    Planner,
    PlanRequest,
    choose,
    flip,
    gains,
)
from mixtally.planning.reason import format_error


def choose_plan(
    request: PlanRequest,
    planner: Planner | None = None,
    *,
    repeats: int | None = None,
    pairs: bool = False,
) -> tuple[Plan, str]:
    """Choose the plan to simulate, and return it with the reason.

    Parameters
    ----------
    request : PlanRequest
        The question, the guarantee, the crowd and the allowed costs.
    planner : Planner or None
        A planner to share between calls; None for a new one.
    repeats : int or None
        The number of times that each vector of bits is sent; None lets the planner choose.
    pairs : bool
        Whether the plan must send several bits in one message, so that pairs can be counted.

    Raises
    ------
    InfeasibleError
        If no plan fits.
    ParameterError
        If repeats are requested for anything but vectors of bits, or if no plan can count pairs.
    """
    planner = planner or Planner()
    if repeats is not None:
        return _plan_repeats(request, repeats, planner)
    if pairs and request.question.kind is Kind.BITS and request.protocol is None:
        request = replace(request, protocol="flip")  # the only protocol that sends bits together
    answer = choose(request, planner)
    if not pairs:
        return answer.plan, explain_choice(request, answer, planner)
    return _choose_whole_plan(answer, planner)


def explain_choice(request: PlanRequest, answer: Choice, planner: Planner) -> str:
    """Explain the choice of a plan, and list changes that would reduce its error."""
    return " ".join([answer.reason, *(one.sentence for one in gains(request, answer, planner))])


def first_fitting_plan(
    answer: Choice, planner: Planner, fits: Callable[[Costs], bool]
) -> Plan | None:
    """Return the best plan for which ``fits`` is true; None if there is none."""
    if fits(answer.plan):
        return answer.plan
    proved = (planner.plan(one) for one in answer.others if fits(one))
    return next((plan for plan in proved if plan is not None), None)


def _choose_whole_plan(answer: Choice, planner: Planner) -> tuple[Plan, str]:
    plan, best = first_fitting_plan(answer, planner, _sends_several), answer.plan
    if plan is None:
        raise ParameterError(
            "pairs",
            expected="records of several bits that are sent whole",
            got=best.name,
            do="leave --pairs out, or allow more fakes or users",
        )
    if plan is best:
        return plan, answer.reason
    return plan, (
        f"{plan.name} sends records whole, so that pairs can be counted; {best.name} would err by "
        f"{format_error(best.standard_error)} instead of {format_error(plan.standard_error)} "
        f"counts."
    )


def _sends_several(costs: Costs) -> bool:
    """Return whether several bits of a record are sent in one message."""
    return len(costs.parts) == 1 and costs.parts[0].layout.form is not Form.INDEX


def _plan_repeats(request: PlanRequest, repeats: int, planner: Planner) -> tuple[Plan, str]:
    """Return a plan that sends each vector of bits whole, ``repeats`` times."""
    question = request.question
    vectors = question.kind is Kind.BITS and question.bins > 1
    if not vectors or request.protocol not in (None, "flip"):
        raise ParameterError(
            "repeats",
            expected="vectors of several bits and --protocol flip",
            got=f"{question.bins:,} bins of kind {question.kind}"
            + f" and --protocol {request.protocol}" * (request.protocol is not None),
            do="leave --repeats out",
        )
    if not 1 <= repeats <= request.messages_per_user:
        raise ParameterError(
            "repeats",
            expected=f"an integer in [1, {float(request.messages_per_user):g}], the messages "
            "per user",
            got=repeats,
            do="raise --messages-per-user",
        )
    (whole, *_) = list_encodings(question)
    found = flip.candidate_by_people(request, whole, planner.accountant, repeats)
    plan = planner.plan(found) if isinstance(found, Candidate) else None
    if plan is None:
        # A candidate that fits the crowd can still exceed the budget of bytes.
        needs = found.needs if isinstance(found, Infeasible) else "a larger budget of bytes"
        raise InfeasibleError(
            "plan",
            expected=f"a vector of {pluralize(question.bins, 'bit')} "
            f"sent {pluralize(repeats, 'time')}",
            got=f"{request.users:,} users",
            do=f"flip needs {needs}",
        )
    return plan, (
        f"Every vector is sent {repeats} times, as asked: a standard error of "
        f"{format_error(plan.standard_error)} counts."
    )


def certify_sums(plan: Plan, accountant: Accountant | None = None) -> Certificate:
    """Return the certificate against an observer who sees only how often each bit was set.

    These sums are computed from the messages, so the plan's certificate applies to them by
    post-processing. If the flips of other people hide a person better in the sums than in the
    messages, the returned certificate has the smaller delta of the sums.
    """
    own, part = plan.certificate, plan.parts[0]
    same = structs.replace(
        own,
        lower=0.0,
        observer=Observer.SUMS,
        source=f"sums are made from the messages, against which the plan has: {own.source}",
    )
    if len(plan.parts) > 1 or plan.collections > 1 or plan.cover is Cover.MIXES:
        return same
    if part.threshold is None or part.protocol == "single-bit":
        if part.threshold is not None and part.own is not None and part.own.coin:
            return same  # a sum of bits does not tell how many fakes people drew
        return structs.replace(
            own,
            observer=Observer.SUMS,
            source=f"sums and shuffled messages of this protocol tell the same; {own.source}",
        )
    # This mechanism has only people's flips. Leaving out fakes never lowers delta, so its upper
    # bound is also one for the real round.
    bare, people = structs.replace(part, own=None), plan.honest_people
    summed = Record.of(bare.mechanism(fakes=0, crowd=people), Observer.SUMS)
    found = (accountant or Accountant()).certificate(summed, own.epsilon)
    flipped = replace(PrivacyTerms.of(plan), parts=(bare,), people=people, count_flips=True)
    if more := cap_cost(flipped):
        found = structs.replace(
            found,
            lower=max(0.0, found.lower - more),
            upper=min(1.0, found.upper + more),
            source=f"{found.source}; {CAPS_SOURCE}",
        )
    # Both certificates are valid, so the smaller delta may be stated.
    if found.upper > own.upper:
        return same
    # The mechanism omits the fakes, so its lower end of delta is not a bound for the real round.
    return structs.replace(found, lower=0.0) if part.own is not None else found
