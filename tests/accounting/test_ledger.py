"""The ledger charges until the budget is spent, never past it, and says what is left."""

import pytest
from msgspec.structs import replace

from accounting.composed import LARGE, plan_of
from mixtally.accounting.accountant import Accountant
from mixtally.accounting.budget import compose
from mixtally.accounting.budget.ledger import (
    RemainingBudget,
    certify_spending,
    charge,
    remaining_budget,
)
from mixtally.errors import InfeasibleError, ParameterError, PlanError
from mixtally.model.guarantee import Guarantee
from mixtally.model.ledger import new_ledger

BUDGET = Guarantee(epsilon=3.0, delta=1e-5)
PLAN, SHAPED = plan_of(LARGE[0]), plan_of(LARGE[2])
CHEAP = plan_of(LARGE[3], 0.1)


def fill(plan):
    """A ledger charged with ``plan`` one by one until it refuses, and how often that went well.

    One that forgets all would never refuse.
    """
    now, own = new_ledger(BUDGET), Accountant()
    for count in range(40):
        try:
            now = charge(now, plan, accountant=own)
        except InfeasibleError:
            return now, count
    pytest.fail("charged 40 times, and still not refused")


def keeps_the_budget():
    """Whether charging stops in time: what was charged fits, by composition from the outside."""
    now, count = fill(PLAN)
    own = Accountant()
    fits, one_more_fits = (
        compose.upper_curve([(PLAN, times)], own, BUDGET.delta)(BUDGET.epsilon) <= BUDGET.delta
        for times in (count, count + 1)
    )
    return fits and not one_more_fits and sum(c.times for c in now.charges) == count


@pytest.mark.seconds
def test_charging_goes_on_until_just_before_the_budget_would_be_passed():
    assert keeps_the_budget()
    _, count = fill(PLAN)
    assert count == remaining_budget(new_ledger(BUDGET), PLAN).times
    assert count > BUDGET.epsilon  # better than adding epsilons up


@pytest.mark.seconds
def test_a_refused_charge_says_what_was_wanted_what_came_and_what_fits():
    with pytest.raises(InfeasibleError) as refusal:
        charge(new_ledger(BUDGET), PLAN, 1000)
    text = str(refusal.value)
    assert "\n" not in text
    assert "expected delta <= 1e-05 at epsilon 3 for all charges together" in text
    assert "after this charge" in text
    most = remaining_budget(new_ledger(BUDGET), PLAN).times
    assert f"{most:,} times would still fit" in text
    charge(new_ledger(BUDGET), PLAN, most)


@pytest.mark.seconds
def test_a_refused_charge_with_nothing_left_says_so():
    full, _ = fill(PLAN)
    with pytest.raises(InfeasibleError, match="leave this collection out"):
        charge(full, PLAN)
    assert remaining_budget(full, PLAN).times == 0


@pytest.mark.seconds
def test_different_plans_share_one_budget():
    now = charge(charge(charge(new_ledger(BUDGET), PLAN), SHAPED), CHEAP, 5, note="n", date="d")
    assert [entry.times for entry in now.charges] == [1, 1, 5]
    assert (now.charges[-1].note, now.charges[-1].date) == ("n", "d")
    shown = certify_spending(now)
    direct = compose.delta_of([(PLAN, 1), (SHAPED, 1), (CHEAP, 5)], 3.0, aim=BUDGET.delta)
    assert shown == direct
    assert remaining_budget(now, PLAN).times < remaining_budget(new_ledger(BUDGET), PLAN).times


@pytest.mark.seconds
def test_what_is_left_falls_with_every_charge():
    now, before = new_ledger(BUDGET), RemainingBudget(0, 0.0, 3.0)
    assert remaining_budget(now) == before
    assert certify_spending(now) is None
    for _ in range(3):
        now = charge(now, PLAN)
        rest = remaining_budget(now)
        assert rest.spent > before.spent
        assert rest.epsilon == pytest.approx(3.0 - rest.spent)
        assert certify_spending(now).upper <= BUDGET.delta
        before = rest


@pytest.mark.seconds
def test_times_at_once_are_times_one_by_one():
    at_once = charge(new_ledger(BUDGET), PLAN, 3)
    one_by_one = charge(charge(charge(new_ledger(BUDGET), PLAN), PLAN), PLAN)
    assert certify_spending(at_once) == certify_spending(one_by_one)
    assert remaining_budget(at_once, PLAN) == remaining_budget(one_by_one, PLAN)


def test_a_plan_whose_promise_is_false_is_not_charged():
    (part,) = PLAN.parts
    false = replace(PLAN, parts=(replace(part, threshold=part.threshold // 2),))
    with pytest.raises(PlanError, match="its promise is false"):
        charge(new_ledger(BUDGET), false)
    with pytest.raises(PlanError, match="its promise is false"):
        remaining_budget(new_ledger(BUDGET), false)


@pytest.mark.parametrize("times", [0, -1, 10**6 + 1, True])
def test_times_outside_their_range_are_refused(times):
    with pytest.raises(ParameterError, match="times"):
        charge(new_ledger(BUDGET), PLAN, times)


def test_a_single_plan_may_spend_exactly_its_own_guarantee():
    own = new_ledger(Guarantee(epsilon=1.0, delta=PLAN.guarantee.delta))
    assert certify_spending(charge(own, PLAN)).upper <= PLAN.guarantee.delta
    assert remaining_budget(own, PLAN).times == 1
