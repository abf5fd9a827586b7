"""What would be better is told with its gain, and is what planning so would find."""

import re
from dataclasses import replace

import pytest

from mixtally.accounting.divergence import two_outputs
from mixtally.model.guarantee import Guarantee
from mixtally.model.question import Kind, Question, make_attributes_question
from mixtally.planning import Planner, PlanRequest, choose, gains

PROMISE = Guarantee(epsilon=1.0, delta=1e-6)


def request(question, **more):
    return PlanRequest(question=question, guarantee=PROMISE, users=10_000, **more)


def test_a_gain_is_the_plan_that_its_flag_would_find():
    planner, asked = Planner(), request(Question(name="answer", bins=2000))
    answer = choose(asked, planner)
    found = gains(asked, answer, planner)
    assert [one.flag.split()[0] for one in found] == ["--mix-fakes", "--messages-per-user"]
    mixed, more = found
    better = choose(replace(asked, mix_fakes=True), planner).plan
    assert mixed.option.name == better.name
    assert mixed.option.standard_error == pytest.approx(better.standard_error, rel=1e-3)
    wider = replace(asked, messages_per_user=float(more.flag.split()[1]))
    best = choose(wider, planner).plan.standard_error
    assert more.option.standard_error == pytest.approx(best, rel=1e-3)
    for one in found:
        assert one.error == answer.plan.standard_error
        small, own = re.search(
            r"would be about ([\d.,]+) instead of ([\d.,]+) \(", one.sentence
        ).groups()
        assert float(small) < float(own)
        assert one.sentence.endswith(f"({one.flag}).")


def test_a_gain_in_many_collections_is_about_what_a_mix_would_bring():
    planner, asked = Planner(), request(Question(name="answer", bins=20), collections=12)
    mixed = replace(asked, mix_fakes=True, protocol="clear-shaped")
    about, best = planner.best_estimate(mixed), choose(mixed, Planner()).plan
    assert about.standard_error == pytest.approx(best.standard_error, rel=2e-3)


def test_nothing_is_told_where_nothing_is_better():
    planner = Planner()
    asked = request(Question(name="answer", bins=20), mix_fakes=True)
    assert gains(asked, choose(asked, planner), planner) == []


@pytest.mark.parametrize(
    ("question", "messages"),
    [
        (Question(name="one", bins=10), 2.0),
        (Question(name="set", bins=10, kind=Kind.SET, max_set=3), 4.0),
        (Question(name="set", bins=10, kind=Kind.SET), 2.0),
        (Question(name="bits", bins=5, kind=Kind.BITS), 10.0),
        (make_attributes_question("attributes", (10, 20, 5)), 6.0),
    ],
)
def test_the_budget_is_two_messages_a_part_and_one_more_than_a_set_has(question, messages):
    assert request(question).messages_per_user == messages
    assert request(question, messages_per_user=3).messages_per_user == 3


@pytest.mark.seconds
def test_a_gain_needs_no_worst_crowd(monkeypatch):
    """Eleven bits among millions: three gains once took 147 of 149 seconds."""
    proofs = []
    monkeypatch.setattr(two_outputs, "find_worst_1d", lambda *given: proofs.append(given))
    question = Question(name="bits", bins=11, kind=Kind.BITS)
    promised = Guarantee(epsilon=0.05111, delta=9.03e-11)
    asked = PlanRequest(
        question=question,
        guarantee=promised,
        users=6_631_000,
        count_crowd=True,
        messages_per_user=1.11,
    )
    planner = Planner()
    single = planner.best_estimate(replace(asked, protocol="single-bit", messages_per_user=11))
    assert single is not None
    assert single.name == "single-bit, split"
    assert not proofs
