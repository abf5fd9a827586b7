"""Upper bounds are upper bounds: what is cut off is added, the worse direction and cell are
taken.
"""

import math

import pytest

from mixtally.accounting.numerics.bracket import RELATIVE_SLACK, bracket
from mixtally.accounting.numerics.draws import Draws


@pytest.mark.parametrize(
    ("value", "cut", "rounding"), [(0.5, 0.1, 0.0), (0.5, 0.0, 0.1), (0, 1, 0)]
)
def test_what_was_left_out_is_added(value, cut, rounding):
    ends = bracket(value, cut=cut, rounding=rounding)
    assert ends.upper >= value + cut + rounding
    assert ends.lower <= value - rounding
    exact = bracket(0.25, cut=0.0)
    assert ends.lower >= (value - rounding) * (1.0 - 2.0 * RELATIVE_SLACK)
    assert exact.upper >= 0.25 * (1.0 + RELATIVE_SLACK) > exact.lower


@pytest.mark.parametrize(("trials", "share"), [(10, 0.3), (10_000, 0.01), (10**6, 0.5)])
def test_the_mean_of_one_over_a_number_is_bounded_from_above(trials, share):
    """E[1 / (1 + B)] = (1 - (1 - s)^(n+1)) / ((n + 1) s)."""
    true = -math.expm1((trials + 1) * math.log1p(-share)) / ((trials + 1) * share)
    found = math.exp(Draws(1, trials, share).nats(0.0))
    assert true * (1.0 - 1e-9) <= found <= 1.02 * true
