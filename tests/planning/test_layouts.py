"""Layouts are the shorter form, with the least cap that is hardly ever passed."""

import pytest

from mixtally.accounting.plans.overflow import overflow_chance
from mixtally.accounting.plans.terms import PrivacyTerms, cap_cost
from mixtally.model.layout import Form
from mixtally.model.question import make_attributes_question
from mixtally.planning.layouts import CAPS_DELTA_SHARE, least_cap, shortest_layout
from planning.requests import proved, request


@pytest.mark.parametrize("bins", [65, 1000, 100_000])
@pytest.mark.parametrize("threshold", [1 << 45, 1 << 52, 1 << 60])
def test_the_layout_is_the_shorter_and_its_cap_the_least(bins, threshold):
    rare = 1e-15
    layout = shortest_layout(bins, 1, threshold, rare)
    cap = least_cap(bins, 1, threshold, rare)
    assert overflow_chance(bins, 1, threshold, cap) <= rare
    assert cap == 1 or overflow_chance(bins, 1, threshold, cap - 1) > rare
    dense = -(-bins // 8)
    listed = (1 if cap < 256 else 2) + -(-cap * (bins - 1).bit_length() // 8)
    assert layout.message_bytes == min(dense, listed)
    assert (layout.form is Form.POSITIONS) == (listed < dense)


@pytest.mark.parametrize(
    "asked",
    [
        request(1000, users=10**5, protocol="flip-blank"),
        request(1000, users=10**5, protocol="flip-blank", count_crowd=True, collections=2),
        request(300, users=10**5, protocol="flip-blank", hops=3),
        request(
            question=make_attributes_question("q", (80, 90)),
            users=10**5,
            hops=3,
            protocol="flip-blank",
        ),
    ],
)
def test_caps_take_no_more_of_delta_than_is_left_for_them(asked):
    plans = proved(asked)
    assert plans
    for plan in plans:
        assert 0.0 < cap_cost(PrivacyTerms.of(plan)) <= 1.01 * CAPS_DELTA_SHARE * 1e-6


@pytest.mark.parametrize("bins", [2, 64])
def test_few_bins_are_as_many_bits_as_may_be_sent(bins):
    assert shortest_layout(bins, 1, 1 << 45, 1e-15).cap is None
    assert shortest_layout(bins, 1, 1 << 45, 1e-15).form is Form.BITS
