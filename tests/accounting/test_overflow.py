"""The chance of more ones than the cap, against exact fractions, and the growth it brings."""

import math
from fractions import Fraction
from math import comb

import pytest

from mixtally.accounting.plans.overflow import local_growth, overflow_chance
from mixtally.primitives.fixed_point import SCALE


def exactly(bins, ones, threshold, cap):
    """P(Bin(ones, p) + Bin(bins - ones, q) > cap)."""
    q = Fraction(threshold, SCALE)

    def chance(trials, share, k):
        return comb(trials, k) * share**k * (1 - share) ** (trials - k)

    return sum(
        chance(ones, 1 - q, stays) * chance(bins - ones, q, rises)
        for stays in range(ones + 1)
        for rises in range(bins - ones + 1)
        if stays + rises > cap
    )


CASES = [
    (bins, ones, threshold, cap)
    for bins in (2, 9, 60)
    for ones in (0, 1, 2)
    for threshold in (1 << 24, SCALE // 200, SCALE // 3)
    for cap in (1, 2, 5, 30)
    if cap <= bins
]


@pytest.mark.parametrize("case", CASES)
def test_it_is_the_exact_chance_upwards(case):
    true, stated = exactly(*case), overflow_chance(*case)
    assert true <= Fraction(stated)
    assert stated <= float(true) * (1 + 1e-8) + 1e-26


def test_a_cap_of_all_bins_is_never_passed():
    assert overflow_chance(9, 2, SCALE // 3, 9) == 0.0
    assert local_growth(9, 2, SCALE // 3, 9) == 0.0


@pytest.mark.parametrize("cap", [2, 3, 5])
def test_the_local_epsilon_grows_by_what_is_left(cap):
    bins, most, threshold = 9, 2, SCALE // 10
    left = [1 - exactly(bins, ones, threshold, cap) for ones in range(most + 1)]
    true = math.log(max(left) / min(left))
    assert true <= local_growth(bins, most, threshold, cap)
    assert local_growth(bins, most, threshold, cap) <= -math.log(min(left)) * 1.01
