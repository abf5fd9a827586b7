"""What would be better is told with its gain, and is what planning so would find."""

import re
from dataclasses import replace

import pytest

from mixtally.planner import Planner, PlanRequest, choose, gains
from mixtally.records.guarantee import Guarantee
from mixtally.records.question import Kind, Question, with_attributes

PROMISE = Guarantee(epsilon=1.0, delta=1e-6)


def request(question, **more):
    return PlanRequest(question=question, guarantee=PROMISE, users=10_000, **more)


def test_a_gain_is_the_plan_that_its_flag_would_find():
    planner, asked = Planner(), request(Question(name="answer", bins=2000))
    answer = choose(asked, planner)
    found = gains(asked, answer, planner)
    assert [one.flag.split()[0] for one in found] == ["--mix-fakes", "--messages-per-user"]
    mixed, more = found
    assert mixed.option == choose(replace(asked, mix_fakes=True), planner).best
    wider = replace(asked, messages_per_user=float(more.flag.split()[1]))
    assert more.option.standard_error == choose(wider, planner).best.standard_error
    for one in found:
        assert one.error == answer.best.standard_error
        small, own = re.search(r"would be ([\d.,]+) instead of ([\d.,]+) \(", one.sentence).groups()
        assert float(small) < float(own)
        assert one.sentence.endswith(f"({one.flag}).")


def test_nothing_is_told_where_nothing_is_better():
    planner = Planner()
    asked = request(Question(name="answer", bins=20), mix_fakes=True)
    assert gains(asked, choose(asked, planner), planner) == []


@pytest.mark.parametrize(
    ("question", "messages"),
    [
        (Question(name="one", bins=10), 2.0),
        (Question(name="set", bins=10, kind=Kind.SET, max_set=3), 2.0),
        (Question(name="bits", bins=5, kind=Kind.BITS), 10.0),
        (with_attributes("attributes", (10, 20, 5)), 6.0),
    ],
)
def test_the_budget_is_two_messages_a_part(question, messages):
    assert request(question).messages_per_user == messages
    assert request(question, messages_per_user=3).messages_per_user == 3
