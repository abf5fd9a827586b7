"""Flips so rare that records travel nearly bare: weights beyond any number, the answer is one."""

import math

import pytest

from mixtally.accounting.divergence import k_hot, vectors
from mixtally.accounting.numerics.draws import Draws
from mixtally.accounting.numerics.flip_ratios import Orbit, flip_distribution
from mixtally.accounting.numerics.largest import largest_upper
from mixtally.accounting.numerics.positive import chance_positive
from mixtally.accounting.numerics.saddle_point import ceiling, saddle_point_bounds
from mixtally.primitives.fixed_point import threshold_of

BARE = [  # people, bits, flip probability
    (2, 64, 1e-9),
    (2, 20, 3.6e-12),
    (2, 20, 1e-9),
    (10**6, 40, 1e-5),
    (10**10, 64, 2.0**-40),
    (10**10, 64, 0.006),
    (3, 13, 2.0**-40),
]


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 20.0])
@pytest.mark.parametrize(("users", "bits", "q"), BARE)
def test_a_bare_vector_is_known_for_certain(users, bits, q, epsilon):
    threshold = threshold_of(q)
    opposite = vectors.homogeneous_delta(users, bits, threshold, epsilon)
    assert opposite.lower >= 1 - 1e-6
    assert opposite.upper == 1.0
    assert vectors.blanket_upper(users, bits, threshold, epsilon) == 1.0


@pytest.mark.parametrize(("users", "bits", "q"), BARE[:3])
def test_some_dataset_shows_it(users, bits, q):
    ends = vectors.any_dataset_delta(users, bits, threshold_of(q), 1.0)
    assert ends.lower >= 1 - 1e-6
    assert ends.upper == 1.0


@pytest.mark.parametrize("bits", [33, 34, 35, 36])
def test_nothing_jumps_where_some_bits_are_no_longer_looked_at(bits):
    """From 34 bits on: ln(p/q) is 9.21. Fewer bits tell no more, so the lower bound stays one."""
    threshold = threshold_of(1e-4)
    assert vectors._count_observable_bits(bits, threshold) == min(bits, 34)
    ends = vectors.homogeneous_delta(1000, bits, threshold, 1.0)
    assert 1 - 1e-6 <= ends.lower <= ends.upper == 1.0


@pytest.mark.parametrize("orbit", [Orbit(0, 16, 0), Orbit(16, 0, 0), Orbit(1, 1, 15)])
def test_weights_that_cannot_be_squared_have_the_widest_ends(orbit):
    distribution = flip_distribution(orbit, 1e-11, math.e)
    ends = saddle_point_bounds(distribution, 1000)
    assert ends.lower == 0.0
    assert (
        ends.upper
        == largest_upper([distribution], Draws(1000))
        == min(1.0, ceiling(distribution, 1000))
    )
    assert ends.upper >= 1 - 1e-6
    assert chance_positive(distribution, 1000) == (0.0, 1.0)


def test_a_bare_set_is_known_for_certain():
    assert k_hot.upper(0, 10, 14, 1 << 24, 1.0, expected_only=True) == 1.0
