"""Some slots of a record: what is planned, at which error, and what is refused."""

from dataclasses import replace

import pytest

from mixtally.accounting.plans.terms import verify
from mixtally.errors import InfeasibleError, ParameterError
from mixtally.model.guarantee import Guarantee
from mixtally.model.plan import Cover
from mixtally.model.question import Kind, Question, make_attributes_question, make_open_question
from mixtally.planning import Planner, PlanRequest, choose, explain

SET = Question(name="q", bins=20, kind=Kind.SET, max_set=5)
TRAITS = make_attributes_question("q", (10, 20, 5))
FREE = Question(name="q", bins=20, kind=Kind.BITS)
GUARANTEE = Guarantee(epsilon=1.0, delta=1e-6)


def wish(question, budget, **more):
    return PlanRequest(
        question=question,
        guarantee=GUARANTEE,
        users=10**6,
        messages_per_user=budget,
        **more,
    )


@pytest.mark.parametrize(
    ("question", "budget", "counts", "most", "before"),
    [
        (SET, 1.01, (1_000, 100_000), (68, 635), 9_000),
        (TRAITS, 1.001, (50_000,), (320,), 5_500),
        (FREE, 1.001, (20_000,), (640,), 1_400),
    ],
)
def test_one_slot_errs_less_than_what_whole_records_allow(question, budget, counts, most, before):
    for count, error in zip(counts, most, strict=True):
        asked = wish(question, budget, error_at=count)
        plan = choose(asked).plan
        assert plan.parts[0].slots == 1
        assert plan.error_of(count) <= error
        assert plan.messages_per_user <= budget
        assert "slots of a record, drawn anew each time" in choose(asked).reason
        whole = choose(replace(asked, whole_records=True, messages_per_user=1)).plan
        assert whole.parts[0].slots is None
        assert whole.error_of(count) > before * 0.9
        verify(plan)


def test_slots_of_mixes_need_one_message_alone():
    plan = choose(wish(SET, 1, hops=3, error_at=1000)).plan
    assert (plan.parts[0].slots, plan.cover) == (1, Cover.MIXES)
    assert plan.messages_per_user == 1
    assert plan.certificate.upper - plan.certificate.lower < 1e-8 * plan.certificate.upper
    assert plan.standard_error == pytest.approx(3**0.5 * 14.16, rel=0.01)


@pytest.mark.parametrize(("budget", "slots"), [(1.5, 1), (2.5, 2), (4.5, 4), (6, None)])
def test_larger_budgets_send_more_slots(budget, slots):
    plan = choose(wish(SET, budget, error_at=10_000)).plan
    assert plan.parts[0].slots == slots
    assert plan.messages_per_user <= budget


def test_requested_slots_are_planned_and_explained():
    for question, budget in ((SET, 3), (TRAITS, 3), (FREE, 3)):
        plan = choose(wish(question, budget, slots=2)).plan
        assert plan.parts[0].slots == 2
        assert plan.facts()["slots"] == 2
        assert plan.name.startswith("clear-uniform, 2 of ")
        assert "slots" in explain(plan)


def test_estimates_find_what_is_planned():
    planner = Planner()
    asked = wish(SET, 1.01, slots=1)
    assert planner.probably_feasible(asked)
    assert not planner.probably_feasible(replace(asked, messages_per_user=1))
    best = planner.best_estimate(asked)
    assert best is not None
    assert best.error == pytest.approx(choose(asked).plan.error_of(asked.count), rel=0.01)


def test_a_budget_without_room_for_fakes_says_what_is_needed():
    with pytest.raises(InfeasibleError, match=r"--messages-per-user 1\.001"):
        choose(wish(SET, 1, slots=1))
    with pytest.raises(InfeasibleError, match="no --local-epsilon"):
        choose(wish(SET, 2, slots=1, local_epsilon=5.0))


@pytest.mark.parametrize(
    ("question", "more", "expected"),
    [
        (SET, {"slots": 0}, r"an integer in \[1, 4\]"),
        (SET, {"slots": 5}, r"an integer in \[1, 4\]"),
        (SET, {"slots": 6}, r"an integer in \[1, 4\]"),
        (SET, {"slots": True}, r"an integer in \[1, 4\]"),
        (TRAITS, {"slots": 3}, r"an integer in \[1, 2\]"),
        (FREE, {"slots": 20}, r"an integer in \[1, 19\]"),
        (Question(name="q", bins=5), {"slots": 1}, "a record of several members"),
        (Question(name="q", bins=1, kind=Kind.BITS), {"slots": 1}, "a record of several members"),
        (Question(name="q", bins=5, kind=Kind.SET), {"slots": 1}, "a record of several members"),
        (make_open_question("q", "0" * 32, 3), {"slots": 1}, "a record of several members"),
        (SET, {"slots": 1, "protocol": "flip"}, "without another protocol than clear-uniform"),
        (SET, {"slots": 1, "whole_records": True}, "whole records"),
    ],
)
def test_impossible_requests_are_refused(question, more, expected):
    with pytest.raises(ParameterError, match=expected):
        wish(question, 2, **more)


@pytest.mark.seconds
def test_other_plans_do_not_change():
    """Where whole records win, the plan is the one that is chosen without slots."""
    for question, budget in ((SET, 6), (TRAITS, 6), (FREE, 40)):
        asked = wish(question, budget)
        whole = choose(replace(asked, whole_records=True)).plan
        assert choose(asked).plan == whole
