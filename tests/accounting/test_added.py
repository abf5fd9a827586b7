"""What is added to be safe, each part by itself: the fixed slack, which would hide it, is zero.

Deltas near 1e-15, against fifty digits; without any of these parts they are below the truth.
"""

import math
from functools import cache

import mpmath
import numpy as np
import pytest

from accounting.test_saddle_point import pmf
from accounting.test_saddle_point_parts import by_counts
from mixtally.accounting.composition import convolve
from mixtally.accounting.composition.convolve import LossSum
from mixtally.accounting.composition.losses import LossDistribution
from mixtally.accounting.numerics import bracket, count_enumeration, positive, saddle_line
from mixtally.accounting.numerics import saddle_point as module
from mixtally.accounting.numerics.draws import Draws
from mixtally.accounting.numerics.largest import largest_upper
from mixtally.accounting.numerics.positive import chance_positive
from mixtally.accounting.numerics.saddle_line import Saddle
from mixtally.accounting.numerics.saddle_point import saddle_point_bounds

DRAWS = [(1, 100), (1, 1000), (3, 100), (3, 1000), (50, 100)]
"""Steps of 2^-8 that a coin loses or gains, and how often it is thrown."""
COUNTED = [(18.5, 2**-5), (40.0, 2**-7), (44.0, 2**-7), (55.3, 2**-7)]
"""A rare heavy value next to -1 and its chance, three thousand draws."""
DROPPED = (-1, 1.3, 6.1), (1 - 2**-7 - 2**-52, 2**-7, 2**-52), 20


@pytest.fixture(autouse=True)
def no_slack(monkeypatch):
    for place in (bracket, module, convolve):
        monkeypatch.setattr(place, "RELATIVE_SLACK", 0.0)
    monkeypatch.setattr(convolve, "_EXPONENT_ERROR", 0.0)


def test_there_is_no_slack_left():
    assert bracket.bracket(0.25, cut=0.0) == (0.25, 0.25)
    assert (
        LossSum([(LossDistribution(1.0, np.array([1]), np.array([0.5]), 0.5, 0.25), 1)]).delta(1.0)
        == 0.25
    )


def coin(place):
    """A loss of ``place`` steps, or as much gained."""
    chance = 1.0 / (1.0 + math.exp(-place * 2.0**-8))
    return LossDistribution(2.0**-8, np.array([place]), np.array([chance]), 0.0, 0.0)


@cache
def composed(place, times, epsilon):
    """delta(epsilon) of the coin thrown ``times``, in fifty digits."""
    less, more = (
        mpmath.mpf(float(one)) for one in coin(place).expand_both_sides(2.0**-8)[1][[0, -1]]
    )
    with mpmath.workdps(50):
        total = mpmath.mpf(0)
        for i in range(times + 1):
            gap = (2 * i - times) * place * mpmath.mpf(2) ** -8 - mpmath.mpf(epsilon)
            if gap > 0:
                chance = mpmath.binomial(times, i) * more**i * less ** (times - i)
                total += chance * -mpmath.expm1(-gap)
        return total


def coins():
    """Whether each composition is at least the truth, from the middle to delta near 1e-15."""
    for place, times in DRAWS:
        loss = place * 2.0**-8
        mean, deviation = times * loss * math.tanh(loss / 2), math.sqrt(times) * loss
        for away in (0.0, 3.0, 5.0, 7.0):
            epsilon = mean + away * deviation
            truth = composed(place, times, epsilon)
            found = LossSum([(coin(place), times)]).delta(epsilon)
            assert found <= truth * (1 + 1e-6)
            yield found >= truth


def test_the_rounding_of_the_transform_is_covered_by_its_own_bound():
    assert all(coins())


@cache
def by_heads(heavy, chance, count):
    """(1/count) E[(sum)_+] of -1 and a heavy value, in fifty digits."""
    with mpmath.workdps(50):
        p, total, least = mpmath.mpf(chance), mpmath.mpf(0), math.floor(count / (1 + heavy))
        for k in range(least, least + 300):  # beyond lies less than the last of thirty digits
            value = k * mpmath.mpf(heavy) - (count - k)
            if value > 0:
                total += mpmath.binomial(count, k) * p**k * (1 - p) ** (count - k) * value
        return total / count


def counted():
    """Whether the ends, by counts, lie around the truth."""
    for heavy, chance in COUNTED:
        truth = by_heads(heavy, chance, 3000)
        ends = saddle_point_bounds(pmf((-1, heavy), (1 - chance, chance)), 3000)
        assert ends.upper <= truth * (1 + 1e-9)
        yield ends.lower <= truth <= ends.upper


def test_the_rounding_of_counts_is_covered_by_its_own_bound(unsmoothed):
    assert all(counted())


def test_counts_that_are_cut_are_covered_by_their_own_bound(monkeypatch, unsmoothed):
    """With windows of 10 nats for 46."""
    values, chances, count = (-900, -1, 20000), (2**-12, 1 - 2**-12 - 2**-18, 2**-18), 150
    truth = by_counts(values, chances, count)
    monkeypatch.setattr(count_enumeration, "_CUT_NATS", 10.0)
    assert truth <= largest_upper([pmf(values, chances)], Draws(count))


def dropped():
    """Whether both upper bounds hold without a value whose part of the truth is below 10^-9."""
    values, chances, count = DROPPED
    given = pmf(values, chances), count
    truth, chance = by_counts(*DROPPED), by_counts(*DROPPED, gain=lambda _: count)
    return truth <= saddle_point_bounds(*given).upper, chance <= chance_positive(*given).upper


@pytest.fixture
def without_counts(monkeypatch):
    """The integral alone, from which more values are dropped than otherwise."""
    monkeypatch.setattr(module, "_MOST_SMOOTHED", math.inf)
    monkeypatch.setattr(positive, "_MAX_RELATIVE_GAP", math.inf)
    monkeypatch.setattr(saddle_line, "_RARE", 1e-6)


def test_values_that_are_dropped_are_covered_by_their_own_bound(without_counts):
    saddle = Saddle(*module.merge_values(pmf(*DROPPED[:2]))[:2], Draws(DROPPED[2]))
    assert len(saddle.live) == 2
    assert dropped() == (True, True)
