"""The page promises the proved end, and what is left of everything that was sent."""

import msgspec
import pytest

from mixtally.planner import PlanRequest, choose
from mixtally.records.guarantee import Guarantee
from mixtally.records.mechanism.named import flip_blank
from mixtally.records.question import Question
from mixtally.report.numbers import at_most
from mixtally.report.words import not_promised, promise


@pytest.fixture(scope="module")
def plan():
    wish = PlanRequest(
        question=Question(name="x", bins=5),
        guarantee=Guarantee(epsilon=1.0, delta=1e-6),
        users=10_000,
        protocol="flip-blank",
    )
    return choose(wish).best.plan


def test_the_upper_end_is_promised(plan):
    shown = msgspec.structs.replace(plan.certificate, lower=1e-9, upper=2e-6)
    plain, plan, ends, _ = promise(plan, shown)
    assert "probability of 2e-06" in plain
    assert "delta <= 2e-06, one person's record" in plan
    assert "between 1e-09 and 2e-06" in ends


def test_without_mixes_all_messages_of_a_record_tell(plan):
    one, two = (flip_blank(bins=5, fakes=9, threshold=1 << bits) for bits in (60, 62))
    plans = [msgspec.structs.replace(plan, mechanism=mechanism) for mechanism in (one, two)]
    text = not_promised(plans)[0]
    assert f"epsilon of {at_most(one.local_epsilon + two.local_epsilon)} is left." in text
