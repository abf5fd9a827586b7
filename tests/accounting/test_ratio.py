"""The tail of the privacy ratio: counts of all draws, and rare heavy values that move it."""

import math

import mpmath
import pytest

from accounting.test_saddle_point import pmf
from accounting.test_saddle_point_parts import by_counts
from helpers.sampled import rows
from mixtally.accounting.numerics.positive import chance_positive
from mixtally.lab.formulas import privacy_ratio as ratio
from mixtally.primitives.fixed_point import SCALE, threshold_of

HEAVY = [  # values, chances, draws; no sum is zero
    ((-1, 20011), (1 - 2**-20, 2**-20), 500),
    ((-3, 997, 15013), (1 - 2**-11 - 2**-16, 2**-11, 2**-16), 150),
    ((-900, -1, 20000), (2**-12, 1 - 2**-12 - 2**-18, 2**-18), 150),
    ((-1, 2.5), (0.75, 0.25), 60),
    ((-1, 0.4, 25.3), (2**-1, 2**-1 - 2**-10, 2**-10), 100),
]


@pytest.mark.parametrize(("values", "chances", "count"), rows(HEAVY, 2))
def test_the_chance_of_a_positive_sum_is_within_two_percent(values, chances, count):
    truth = by_counts(values, chances, count, gain=lambda _: count)
    ends = chance_positive(pmf(values, chances), count)
    assert ends.lower <= truth <= ends.upper
    assert ends.upper <= 1.02 * truth
    assert ends.lower >= 0.98 * truth


def tail(users, bits, threshold, epsilon):
    """eta of three people to fifty digits, over the set bits of each vector."""
    with mpmath.workdps(50):
        q = mpmath.mpf(threshold) / SCALE
        r, limit = (1 - q) / q, users * mpmath.exp(mpmath.mpf(epsilon))
        falls = [math.comb(bits, t) * q**t * (1 - q) ** (bits - t) for t in range(bits + 1)]
        weights = [r ** (2 * t - bits) for t in range(bits + 1)]
        total = mpmath.mpf(0)
        for s in range(bits + 1):
            for t in range(bits + 1):
                for own in range(bits + 1):
                    if weights[s] + weights[t] + weights[own] > limit:
                        total += falls[s] * falls[t] * falls[bits - own]
        return total


@pytest.mark.seconds
@pytest.mark.parametrize("bits", [1, 3, 8])
@pytest.mark.parametrize("q", [0.05, 0.2, 0.35])
def test_the_tail_of_three_people_lies_between_its_ends(bits, q):
    threshold = threshold_of(q)
    for epsilon in (0.1, 0.9):
        ends = ratio.eta(3, bits, threshold, epsilon)
        assert ends.lower <= tail(3, bits, threshold, epsilon) <= ends.upper


def apart():
    """Of forty bits, where a few vectors in ten million have weights of 10^8 and more."""
    ends = ratio.eta(10**7, 40, threshold_of(0.351), 2.0)
    return ends.upper / ends.lower, ends.lower <= 0.001338 <= ends.upper


def test_the_tail_of_forty_bits_is_known_to_two_percent():
    share, holds = apart()
    assert holds
    assert share <= 1.02


def test_what_is_asked_is_settled_no_worse_and_often_sooner():
    """The twin of an end that stays wide: it lies on the same side of what was asked."""
    values, chances, count = HEAVY[4]
    near = chance_positive(pmf(values, chances), count)
    for asked in (0.3 * near.lower, 0.99 * near.lower, 1.01 * near.upper, 3.0 * near.upper):
        ends = chance_positive(pmf(values, chances), count, asked)
        assert ends.lower <= near.upper
        assert near.lower <= ends.upper
        assert (ends.upper <= asked) == (near.upper <= asked)


def test_the_flips_for_a_tail_keep_it():
    threshold = ratio.eta_threshold(3000, 8, 1.0, 1e-3)
    assert ratio.eta(3000, 8, threshold, 1.0).upper <= 1e-3
    assert ratio.eta(3000, 8, round(0.99 * threshold), 1.0).upper > 1e-3
