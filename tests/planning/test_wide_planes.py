"""Sets over planes whose numbers have up to 16 bytes: planned where they err less, and proved."""

import pytest

from mixtally.accounting.plans.terms import verify
from mixtally.device.contract.planes import MOST_MESSAGES, MOST_WIDE_MESSAGES, Planes
from mixtally.model.question import Kind, Question, make_open_question
from mixtally.planning import choose
from planning.requests import request


def sets(most, **more):
    question = Question(name="s", bins=10**5, kind=Kind.SET, max_set=most)
    return request(**{"question": question, "users": 10**6} | more)


@pytest.mark.parametrize(("size", "most"), [(10, 66.0), (16, 99.0)])
def test_sets_of_many_bins_err_as_little_as_the_fakes_allow(size, most):
    plan = choose(sets(size)).plan
    (part,) = plan.parts
    assert plan.standard_error < most
    assert 8 < part.layout.message_bytes <= 16
    assert part.planes.messages <= MOST_WIDE_MESSAGES
    assert Planes(part.planes.prime, part.planes.digits + 1).messages > MOST_WIDE_MESSAGES
    assert part.planes.total_variation_bound(10**6, size) < 1e-9
    verify(plan)


def test_sets_of_texts_have_bins_of_eight_bytes_and_messages_of_sixteen():
    plan = choose(sets(10, question=make_open_question("q", "0f" * 16, 10))).plan
    assert plan.standard_error < 66.0
    assert plan.question.bins == plan.parts[0].bins == 1 << 62
    verify(plan)


def test_a_set_whose_planes_fit_eight_bytes_has_no_more():
    """A set of two: 10^5 people cover fewer planes than messages of 8 bytes can name."""
    plan = choose(sets(2, users=10**5)).plan
    assert plan.parts[0].planes.messages <= MOST_MESSAGES


def test_a_budget_of_bytes_that_keeps_messages_short_is_named():
    """Eleven messages of 16 bytes need 1,232 bytes, of 8 bytes 1,144."""
    found = choose(sets(10, bytes_per_user=1145.0))
    long = choose(sets(10, bytes_per_user=1300.0))
    short = found.plan.parts[0].planes.messages <= MOST_MESSAGES
    assert short == ("more planes would need messages of up to 16 bytes" in found.reason.lower())
    assert long.plan.parts[0].planes.messages > MOST_MESSAGES
    assert "16 bytes" not in long.reason
