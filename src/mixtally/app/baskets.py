"""Frequent item sets and association rules.

The command line and Python call ``baskets`` with a crowd of sets of items.
"""

import math
from dataclasses import dataclass, replace
from typing import Annotated

from mixtally.app.limits import BudgetOptions, plan_request
from mixtally.app.options import option, whole_option
from mixtally.app.outcome import Outcome, Run, outcome_of
from mixtally.errors import InfeasibleError, ParameterError, in_range
from mixtally.lab.data.population import Population
from mixtally.lab.simulation import plan_choice
from mixtally.lab.simulation.baskets.document import document
from mixtally.lab.simulation.baskets.facts import BasketFindings, count_true_baskets
from mixtally.lab.simulation.baskets.find import find_sets
from mixtally.lab.simulation.baskets.values import find_values, question_of_sets
from mixtally.lab.simulation.lab import Provenance
from mixtally.model.contract import Plan, write_plan
from mixtally.model.guarantee import Guarantee
from mixtally.model.question import Question
from mixtally.planning import Planner, PlanRequest, choose
from mixtally.primitives.fixed_point import SCALE
from mixtally.report.numbers import error_text

_WHOLE = "flip-blank"
"""Protocol that sends a basket as one message, among blank fakes (dummy messages)."""
_TOGETHER = (
    "Each basket is one message among blank ones (flip-blank), so that items of a basket can be "
    "counted together"
)
_VALUES = "Every item, pair and larger set of a basket is counted as a separate value"


@dataclass(frozen=True, slots=True, kw_only=True)
class FindOptions:
    """Thresholds for the sets and rules to report."""

    support: Annotated[
        int, whole_option("--support", "Only sets that more than N people certainly have.")
    ] = 0
    confidence: Annotated[
        float,
        option("--confidence", "Only rules whose confidence is certainly at least C.", "C"),
    ] = 0.0
    largest: Annotated[
        int, whole_option("--largest", "Largest number of items of a reported set, 2 to 8.")
    ] = 3


def check_options(find: FindOptions, budget: BudgetOptions) -> None:
    """Raise ParameterError for a threshold out of range, or a protocol that splits baskets.

    Parameters
    ----------
    find : FindOptions
        The thresholds of the search.
    budget : BudgetOptions
        The costs that the collection may have.
    """
    in_range("confidence", find.confidence, 0.0, 1.0, "0 shows all rules")
    if budget.trust.protocol not in (None, _WHOLE):
        raise ParameterError(
            "--protocol",
            expected=f"{_WHOLE}, which sends a basket as one message",
            got=repr(budget.trust.protocol),
            do="leave it out",
        )


def baskets(
    crowd: Population, promised: Guarantee, find: FindOptions, budget: BudgetOptions, run: Run
) -> Outcome:
    """Find frequent item sets in a crowd, and rules between their items.

    Parameters
    ----------
    crowd : Population
        The people; each record is a set of items (a basket).
    promised : Guarantee
        The epsilon and delta that the collection must have.
    find : FindOptions
        The thresholds of the search.
    budget : BudgetOptions
        The costs that the collection may have.
    run : Run
        The settings of the simulation.

    Raises
    ------
    ParameterError
        If an option is out of range.
    InfeasibleError
        If no plan meets the request.
    """
    check_options(find, budget)
    # The option for slots counts the values (item sets) of a basket, not the items of the question.
    whole = replace(budget, cost=replace(budget.cost, slots=None))
    request = plan_request(whole, crowd.question, promised, crowd.users)
    plan, values, reason = _choose_plan(request, find.largest, run.lab.planner, budget.cost.slots)
    found = (find_values if values else find_sets)(
        plan, crowd, run.lab, support=find.support, level=run.level, largest=find.largest
    )
    about = Provenance(
        title=f"Items of {crowd.question.name!r} that occur together",
        source=run.source,
        raw=crowd.note,
        reason=reason,
        seed=run.seed,
    )
    findings = BasketFindings(
        provenance=about,
        result=found,
        confidence=find.confidence,
        truth=count_true_baskets(found, crowd),
    )
    more = {"plan.json": write_plan(plan)}
    return outcome_of(findings, lambda shown: document(shown, run.top), crowd.from_data, more)


def _choose_plan(
    request: PlanRequest, largest: int, planner: Planner, slots: int | None
) -> tuple[Plan, bool, str]:
    """Return the plan in which the count of a pair of items has the smallest error.

    The second value says whether the plan counts each set of items as one value, and the third is
    the reason for the choice. ``slots`` is the number of values of a basket that a device sends, or
    None to let the planner choose.

    Raises ParameterError if ``slots`` is not None and baskets cannot be sent as values, and
    InfeasibleError if no plan fits.
    """
    asked = question_of_sets(request.question, largest) if request.protocol is None else None
    if slots is not None:
        return _plan_slots(request, asked, slots, planner)
    by_value = _plan_by_value(request, asked, planner)
    try:
        whole = plan_choice.choose_plan(replace(request, protocol=_WHOLE), planner, pairs=True)[0]
    except InfeasibleError:
        if by_value is None:
            raise
        whole = None
    off = math.inf if whole is None else _error_of_pair(whole)
    if whole is None or (by_value is not None and by_value.error_of(request.count) < off):
        assert by_value is not None
        instead = f", instead of {error_text(off)} for a pair in baskets sent as one message"
        reason = _reason_of_values(request, by_value, "" if whole is None else instead)
        return by_value, True, reason
    error = f"a standard error of {error_text(whole.standard_error)} counts"
    reason = f"{_TOGETHER}: {error}, and {error_text(off)} for a pair."
    if asked is not None and asked.max_set > request.messages_per_user:
        more = replace(request, messages_per_user=asked.max_set)
        by_value = _plan_by_value(more, asked, planner)
        if by_value is not None and (less := by_value.error_of(request.count)) < off:
            reason += (
                f" With {asked.max_set} messages per user every set could be a separate value, "
                f"with an error of {error_text(less)} (--messages-per-user {asked.max_set})."
            )
    return whole, False, reason


def _plan_slots(
    request: PlanRequest, asked: Question | None, slots: int, planner: Planner
) -> tuple[Plan, bool, str]:
    """Return the best plan in which a device sends ``slots`` values of a basket.

    The second value is True, because the plan counts each set of items as one value. The third
    value is a sentence on the reason. ``asked`` is the question whose bins are sets of items; None
    if there is no such question. Raises the errors of ``_choose_plan``.
    """
    if asked is None:
        raise ParameterError(
            "--slots",
            expected="baskets whose items and sets are sent as values",
            got=f"--protocol {_WHOLE}" if request.protocol else "more values than a record has",
            do="leave --slots out, or ask for smaller sets",
        )
    plan = choose(replace(request, question=asked, slots=slots), planner).plan
    return plan, True, _reason_of_values(request, plan)


def _reason_of_values(request: PlanRequest, plan: Plan, more: str = "") -> str:
    """Return a sentence on why each set is counted as one value.

    The sentence has the standard error of a small set, and ends with ``more``.
    """
    error = error_text(plan.error_of(request.count))
    return f"{_VALUES}: a standard error of {error} counts for a small set{more}."


def _plan_by_value(request: PlanRequest, asked: Question | None, planner: Planner) -> Plan | None:
    """Return the best plan for the question ``asked``, whose bins are sets of items.

    Return None if there is no such question or plan.
    """
    if asked is None:
        return None
    try:
        # The sets of a basket are the slots of a record, of which a device may send some.
        plan = choose(replace(request, question=asked), planner).plan
    except InfeasibleError:
        return None
    return plan if plan.parts[0].threshold is None else None


def _error_of_pair(plan: Plan) -> float:
    """Return the standard error of a pair that nobody holds, if baskets are sent as one message.

    With N messages, flip probability p and q = 1 - p, the standard error of a pair is the square
    root of N p^2 q^2 / (p - q)^4 (``protocol/estimate/item_sets``). The standard error of an item
    is the square root of N p q / (p - q)^2, so the pair has sqrt(p q) / (q - p) times the error of
    an item.
    """
    flip = (plan.parts[0].threshold or 0) / SCALE
    return plan.standard_error * math.sqrt(flip * (1.0 - flip)) / (1.0 - 2.0 * flip)
