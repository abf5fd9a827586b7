"""The page promises the proved end, and what is left of everything that was sent."""

import msgspec
import pytest

from helpers.contracts import flipped, plan_of, proved
from mixtally.model.contract import FakeRecord, OwnFakes
from mixtally.model.guarantee import Guarantee
from mixtally.model.question import Kind, Question
from mixtally.planning import PlanRequest, choose
from mixtally.report.numbers import at_most
from mixtally.report.words import not_promised, promise_paragraphs


@pytest.fixture(scope="module")
def plan():
    wish = PlanRequest(
        question=Question(name="x", bins=5),
        guarantee=Guarantee(epsilon=1.0, delta=1e-6),
        users=10_000,
        protocol="flip-blank",
    )
    return choose(wish).plan


def test_the_upper_end_is_promised(plan):
    shown = msgspec.structs.replace(plan.certificate, lower=1e-9, upper=2e-6)
    plain, plan, ends, _ = promise_paragraphs(plan, shown)
    assert "probability of 2e-06" in plain
    assert "delta <= 2e-06, observer: messages" in plan
    assert "between 1e-09 and 2e-06" in ends


def test_without_mixes_all_messages_of_a_record_tell():
    question = Question(name="q", bins=2, kind=Kind.BITS)
    parts = [
        flipped(1, most_set=None, q=q, own=OwnFakes(FakeRecord.BLANK, 1, 0)) for q in (0.1, 0.2)
    ]
    plan = proved(plan_of(question, parts, epsilon=5.0))
    left = sum(part.local_epsilon for part in parts)
    assert f"epsilon of {at_most(left)} is left." in not_promised(plan)[0]
