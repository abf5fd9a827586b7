"""Ends that hold at once for many numbers, where each is a count of rare events.

By exact distributions; the twin of each is the normal approximation.
"""

from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats

from helpers.named import flip_blank
from mixtally.model.estimates import Tally
from mixtally.model.mechanism.memoized import make_memoized
from mixtally.primitives.fixed_point import threshold_of
from mixtally.protocol.estimate.cumulants import cornish_fisher_ends
from mixtally.protocol.estimate.intervals import NORMAL, intervals
from mixtally.protocol.estimate.memoized import bit_cumulants, estimate_memoized

TAILS = [0.1, 0.025, 1e-3, 1e-5, 1e-7, 1e-9]
MEANS = [1e-3, 0.05, 0.3, 1.0, 2.0, 4.0, 10.0, 20.0, 100.0, 1000.0]


def bent(mean, tail):
    return cornish_fisher_ends(*(np.asarray(mean) for _ in range(3)), tail)


def normal(mean, tail):
    width = -NormalDist().inv_cdf(tail) * mean**0.5
    return -width, width


def passed(mean, off):
    """The chance of either side that a Poisson number lies beyond whole ends around it."""
    least, most = off
    above = stats.poisson.sf(np.ceil(mean + most + 1.0) - 1.0, mean)
    return above, stats.poisson.cdf(np.floor(mean + least - 1.0), mean)


@pytest.mark.parametrize("tail", TAILS)
def test_whole_ends_hold_for_poisson_numbers_of_every_mean(tail):
    for mean in MEANS:
        assert max(passed(mean, bent(mean, tail))) <= tail, mean


def test_the_normal_law_does_not():
    wrong = [max(passed(mean, normal(mean, 1e-7))) / 1e-7 for mean in MEANS]
    assert max(wrong) > 10.0


MANY = 10**7
LARGE = flip_blank(bins=4, fakes=100_000, threshold=threshold_of(0.011))


def found_among(many, counts):
    tally = Tally(np.asarray(counts), 200_000)
    found = intervals(LARGE, tally, 0.95, simultaneous_over=many)
    assert found.method == NORMAL
    return found


def test_an_empty_bin_of_many_is_above_zero_no_more_often_than_stated():
    """By the binomial of its flips, of which 2,200 are expected: beyond exact inversion."""
    counts = np.arange(2_200, 2_700)
    least = int(counts[found_among(MANY, counts).lower > 0][0])
    tail = 0.025 / MANY
    q = LARGE.flip_probability
    assert 0.5 * tail < stats.binom.sf(least - 1, 200_000, q) <= 1.02 * tail
    width = -NormalDist().inv_cdf(tail) * (200_000 * q * (1.0 - q)) ** 0.5
    assert stats.binom.sf(200_000 * q + width, 200_000, q) > 1.5 * tail


PEOPLE = 20_000
RARE = make_memoized(60, 1e-4, 0.0, 1.0)
"""One bit in 20,000 is kept wrong, and shown as it is kept."""


@pytest.mark.parametrize("reports", [1, 3])
def test_memoized_bits_that_nobody_has_are_seldom_above_zero(reports):
    """Of 60 bits, in 2.5 % of the collections: a bit is kept wrong by a binomial number."""
    rate = 0.025 / 60
    wrong = stats.binom.pmf(np.arange(20), PEOPLE, RARE.f / 2.0)
    ones = np.tile(np.arange(20), (reports, 1))  # ends are for twenty numbers of sixty
    every = np.pad(ones, ((0, 0), (0, 40)))
    found = estimate_memoized(RARE, every, PEOPLE)
    assert wrong[found.simultaneous.lower[:20] > 0].sum() <= rate
    width = -NormalDist().inv_cdf(rate) * found.all_reports
    assert wrong[found.counts[:20] - width > 0.0].sum() > 5.0 * rate


@pytest.mark.parametrize("reports", [1, 2, 5])
def test_cumulants_of_memoized_bits_are_those_of_every_outcome(reports):
    """From the two kinds of people, each with two kinds of kept bits."""
    mechanism = make_memoized(4, 0.5, 0.25, 0.75)
    people, held = 7, np.array([0.0, 3.0, 7.0])
    found = bit_cumulants(mechanism, held, people, reports)
    k = np.arange(reports + 1)
    kept = [stats.binom.pmf(k, reports, shown) for shown in mechanism.report_probabilities]
    for order, cumulants in enumerate(found, start=2):
        one, zero = (
            _cumulant(k / reports / mechanism.gain, wrong * kept[0] + (1 - wrong) * kept[1], order)
            for wrong in (0.25, 0.75)
        )
        assert cumulants == pytest.approx(held * one + (people - held) * zero, rel=1e-9)


def _cumulant(values, chances, order):
    moments = [chances @ (values - chances @ values) ** n for n in range(5)]
    return moments[order] - 3.0 * moments[2] ** 2 * (order == 4)
