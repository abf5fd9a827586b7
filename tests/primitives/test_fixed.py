"""Flip probabilities as integers over 2^64."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixtally.errors import ParameterError
from mixtally.primitives import fixed_point


@given(st.floats(min_value=2.0**-40, max_value=0.5))
def test_the_threshold_is_the_nearest_integer(probability):
    threshold = fixed_point.threshold_of(probability)
    assert abs(Fraction(threshold, fixed_point.SCALE) - Fraction(probability)) <= Fraction(
        1, 1 << 65
    )
    assert fixed_point.check_threshold(threshold) == threshold


@pytest.mark.parametrize(
    ("probability", "threshold"),
    [(2.0**-40, 1 << 24), (0.5, 1 << 63), (0.25, 1 << 62), (3 * 2.0**-40, 3 << 24)],
)
def test_dyadic_probabilities_are_exact(probability, threshold):
    assert fixed_point.threshold_of(probability) == threshold


@pytest.mark.parametrize(
    "probability",
    [0.0, -0.1, 0.6, 1.0, math.nan, math.inf, math.nextafter(0.5, 1), math.nextafter(2.0**-40, 0)],
)
def test_a_probability_outside_its_range_is_refused(probability):
    with pytest.raises(ParameterError, match="flip probability"):
        fixed_point.threshold_of(probability)


@pytest.mark.parametrize(
    "threshold", [fixed_point.LEAST_THRESHOLD, 1 << 40, fixed_point.MOST_THRESHOLD]
)
def test_a_threshold_in_range_comes_back_itself(threshold):
    assert fixed_point.check_threshold(threshold) == threshold


@pytest.mark.parametrize(
    "threshold",
    [0, -1, fixed_point.LEAST_THRESHOLD - 1, fixed_point.MOST_THRESHOLD + 1, fixed_point.SCALE],
)
def test_a_threshold_outside_its_range_is_refused(threshold):
    with pytest.raises(ParameterError, match="flip threshold"):
        fixed_point.check_threshold(threshold)
