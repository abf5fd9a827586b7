"""Upper bounds are upper bounds: what is cut off is added, the worse direction and cell are
taken.
"""

import math

import numpy as np
import pytest

from mixtally.ground.fixed import SCALE, threshold_of
from mixtally.privacy.divergence import single_bit
from mixtally.privacy.numerics.bracket import RELATIVE_SLACK, bracket
from mixtally.privacy.numerics.draws import Draws


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


def sum_of_flips(chances):
    pmf = np.ones(1)
    for chance in chances:
        pmf = np.convolve(pmf, [1.0 - chance, chance])
    return pmf


@pytest.mark.parametrize("ones", range(5))
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0])
def test_a_bit_is_priced_in_its_worse_direction(ones, epsilon):
    """Four others and a fake zero, summed by hand; with one direction alone some case is lower."""
    threshold = threshold_of(0.2)
    q = threshold / SCALE
    others = [1.0 - q] * ones + [q] * (5 - ones)
    with_one, with_zero = (sum_of_flips([*others, own]) for own in (1.0 - q, q))
    grow = math.exp(epsilon)
    both = [
        float(np.maximum(a - grow * b, 0.0).sum())
        for a, b in ((with_one, with_zero), (with_zero, with_one))
    ]
    ends = single_bit.delta(5, 1, threshold, epsilon, ones=ones)
    assert ends.lower <= max(both) <= ends.upper
    assert ends.upper == pytest.approx(max(both), rel=1e-6)


@pytest.mark.parametrize(("trials", "share"), [(10, 0.3), (10_000, 0.01), (10**6, 0.5)])
def test_the_mean_of_one_over_a_number_is_bounded_from_above(trials, share):
    """E[1 / (1 + B)] = (1 - (1 - s)^(n+1)) / ((n + 1) s)."""
    true = -math.expm1((trials + 1) * math.log1p(-share)) / ((trials + 1) * share)
    found = math.exp(Draws(1, trials, share).nats(0.0))
    assert true * (1.0 - 1e-9) <= found <= 1.02 * true
