"""The shaped law is a law: integers that sum to 2^64, symmetric, falling from the peak."""

import math
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from mixtally.errors import ParameterError
from mixtally.ground.chance import Keystream
from mixtally.ground.codec import canonical
from mixtally.ground.fixed import SCALE
from mixtally.mixing.shaped import shaped_fakes
from mixtally.records.layout import Form, Layout
from mixtally.records.mechanism.fakes import ShapedFakes, checked_shape, ratio_of


@given(st.integers(1, SCALE - 1), st.integers(1, 300))
def test_the_weights_are_a_symmetric_falling_law(ratio, shift):
    weights = ShapedFakes(ratio, shift).weights
    assert len(weights) == 2 * shift + 1
    assert sum(weights) == SCALE
    assert weights == weights[::-1]
    side = weights[shift:]
    assert all(outer <= inner for inner, outer in pairwise(side))
    assert all(isinstance(w, int) and w >= 0 for w in weights)


@given(st.integers(1 << 60, SCALE - 1), st.integers(1, 60))
def test_the_weights_are_the_truncated_discrete_laplace_to_the_last_unit(ratio, shift):
    ratio_exact = Fraction(ratio, SCALE)
    powers = [ratio_exact ** abs(k - shift) for k in range(2 * shift + 1)]
    total = sum(powers)
    for k, weight in enumerate(ShapedFakes(ratio, shift).weights):
        # Rounded down at the sides (with one unit for the guard digits); the peak takes the rest.
        slack = 2 * shift + 1 if k == shift else 1
        assert abs(weight - powers[k] / total * SCALE) <= slack


def test_a_large_shape_still_sums_exactly():
    weights = ShapedFakes(SCALE - 1, 100_000).weights
    assert sum(weights) == SCALE
    assert min(weights) > 0


@pytest.mark.parametrize(("ratio", "shift"), [(SCALE - 1, 5), (1 << 63, 60), (1 << 63, 70), (1, 3)])
def test_every_accepted_shape_can_be_drawn(ratio, shift):
    """Also when its ends are so rare that they have no weight left."""
    weights = ShapedFakes(ratio, shift).weights
    fakes = shaped_fakes(weights, Layout(Form.INDEX, 3), Keystream(bytes(32)))
    assert len(fakes) <= 3 * 2 * shift


@pytest.mark.parametrize("decay", [1e-6, 0.005, 0.5, 1.0, 10.0, 40.0])
def test_a_ratio_is_the_power_of_its_decay_to_half_a_unit(decay):
    true = math.exp(-decay) * SCALE
    assert abs(ratio_of(decay) - true) <= 0.5 + 1e-15 * true
    checked_shape(ratio_of(decay), 1)


@pytest.mark.parametrize("decay", [0.0, -1.0, 9e-7, 41.0, math.nan, math.inf])
def test_an_impossible_decay_is_refused(decay):
    with pytest.raises(ParameterError, match="shape decay"):
        ratio_of(decay)


@pytest.mark.parametrize(
    ("ratio", "shift"), [(0, 1), (SCALE, 1), (-1, 1), (1, 0), (1, -1), (1, 100_001)]
)
def test_an_impossible_shape_is_refused(ratio, shift):
    with pytest.raises(ParameterError, match="shape"):
        checked_shape(ratio, shift)
    with pytest.raises(ParameterError, match="shape"):
        ShapedFakes(ratio, shift)


@pytest.mark.parametrize("mixes", [0, -1, 101])
def test_an_impossible_number_of_mixes_is_refused(mixes):
    with pytest.raises(ParameterError, match="mixes"):
        ShapedFakes(1 << 63, 5, mixes)


def test_weights_once_computed_change_nothing_that_is_compared_or_written():
    used, fresh = ShapedFakes(1 << 63, 5), ShapedFakes(1 << 63, 5)
    assert len(used.weights) == 11
    assert used.weights is used.weights
    assert (used, hash(used), canonical(used)) == (fresh, hash(fresh), canonical(fresh))
    assert len(replace(used, shift=7).weights) == 15
