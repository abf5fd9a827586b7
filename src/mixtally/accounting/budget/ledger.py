"""The privacy that a person has spent, and whether one more collection fits the budget.

The budget (epsilon, delta) is exceeded if the upper bound of delta(epsilon) of all charged
collections, from ``compose``, exceeds delta.
"""

from typing import NamedTuple

from mixtally.accounting.accountant import Accountant
from mixtally.accounting.budget.compose import (
    MOST_TIMES,
    Charges,
    delta_of,
    epsilon_of,
    upper_curve,
    validate_times,
)
from mixtally.accounting.plans.terms import verify
from mixtally.errors import InfeasibleError, PlanError
from mixtally.model import ledger as records
from mixtally.model.certificate import Certificate
from mixtally.model.ledger import Ledger
from mixtally.model.plan import Plan


class RemainingBudget(NamedTuple):
    """The remaining budget of a ledger: epsilon, and how often a plan still fits.

    Attributes
    ----------
    times
        The number of further collections under a given plan that fit the budget. Together with the
        charged collections there are at most 10^6.
    spent
        Epsilon spent at the budget's delta: 0 if nothing was charged, None above 20.
    epsilon
        The budget's epsilon minus ``spent``. A further plan may have a larger epsilon than this, as
        composed losses are less than their sum.
    """

    times: int
    spent: float | None
    epsilon: float


def charge(
    ledger: Ledger,
    plan: Plan,
    times: int = 1,
    *,
    note: str = "",
    date: str = "",
    accountant: Accountant | None = None,
) -> Ledger:
    """Return ``ledger`` after ``times`` more collections under ``plan``.

    Parameters
    ----------
    ledger : Ledger
        The ledger before the charge.
    plan : Plan
        The plan that the person answers under.
    times : int
        The number of collections, in [1, 10^6].
    note : str
        A remark of one line.
    date : str
        The date of the charge, in the caller's format.
    accountant : Accountant or None
        Keeps the computed numbers; None for a new accountant.

    Raises
    ------
    InfeasibleError
        If the budget would be exceeded.
    PlanError
        If the certificate of the plan is false, or its observer is not the budget's.
    ParameterError
        If ``times`` is outside [1, 10^6].
    """
    validate_times(times)
    _check_observer(ledger, plan)
    accountant = accountant or Accountant()
    # Only a plan with a verified certificate may enter the ledger.
    verify(plan, accountant)
    after = [*_list_charges(ledger), (plan, times)]
    budget = ledger.budget
    total = upper_curve(after, accountant, budget.delta)(budget.epsilon)
    if not total <= budget.delta:
        raise InfeasibleError(
            "ledger",
            expected=f"delta <= {budget.delta:g} at epsilon {budget.epsilon:g} "
            "for all charges together",
            got=f"{total:.6g} after this charge",
            do=_advice(ledger, plan, times, accountant),
        )
    return records.add_charge(ledger, plan, times, note=note, date=date)


def certify_spending(ledger: Ledger, accountant: Accountant | None = None) -> Certificate | None:
    """Return the delta of all charges at the budget's epsilon; None if nothing was charged.

    Parameters
    ----------
    ledger : Ledger
        The budget, and the collections charged so far.
    accountant : Accountant or None
        Keeps the computed numbers; None for a new accountant.
    """
    charges, budget = _list_charges(ledger), ledger.budget
    return delta_of(charges, budget.epsilon, accountant, budget.delta) if charges else None


def remaining_budget(
    ledger: Ledger, plan: Plan | None = None, accountant: Accountant | None = None
) -> RemainingBudget:
    """Return how often ``plan`` still fits (0 without a plan), and the remaining epsilon.

    Parameters
    ----------
    ledger : Ledger
        The budget, and the collections charged so far.
    plan : Plan or None
        The plan whose further charges are counted; None counts none.
    accountant : Accountant or None
        Keeps the computed numbers; None for a new accountant.
    """
    charges, budget, accountant = _list_charges(ledger), ledger.budget, accountant or Accountant()
    used: float | None = 0.0
    if charges:
        try:
            used = epsilon_of(charges, budget.delta, accountant).epsilon
        except InfeasibleError:
            used = None
    rest = 0.0 if used is None else max(0.0, budget.epsilon - used)
    times = _count_further_times(ledger, plan, accountant) if plan is not None else 0
    return RemainingBudget(times, used, rest)


def _count_further_times(ledger: Ledger, plan: Plan, accountant: Accountant) -> int:
    """Return the largest number of further charges of ``plan`` that fits.

    Doubling and bisection find the number. Delta is computed both for this number of charges and
    for one charge more.
    """
    _check_observer(ledger, plan)
    verify(plan, accountant)
    charges, budget = _list_charges(ledger), ledger.budget
    room = MOST_TIMES - sum(times for _, times in charges)

    def fits(times: int) -> bool:
        after = upper_curve([*charges, (plan, times)], accountant, budget.delta)
        return after(budget.epsilon) <= budget.delta

    fit, over = 0, 1
    while over <= room and fits(over):
        fit, over = over, 2 * over
    over = min(over, room + 1)
    while over - fit > 1:
        middle = (fit + over) // 2
        fit, over = (middle, over) if fits(middle) else (fit, middle)
    return fit


def _advice(ledger: Ledger, plan: Plan, times: int, accountant: Accountant) -> str:
    most = _count_further_times(ledger, plan, accountant) if times > 1 else 0
    if most:
        return f"nothing was charged: {most:,} times would still fit"
    return "nothing was charged: leave this collection out, or plan it with a smaller epsilon"


def _list_charges(ledger: Ledger) -> Charges:
    return [(charge.plan, charge.times) for charge in ledger.charges]


def _check_observer(ledger: Ledger, plan: Plan) -> None:
    expected, got = ledger.budget.observer, plan.guarantee.observer
    if expected != got:
        raise PlanError(
            "plan",
            expected=f"a promise against the observer {expected}, as the ledger's budget",
            got=f"one against {got}",
            do="keep a ledger for each observer",
        )
