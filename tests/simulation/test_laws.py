"""Played collections follow the laws that error and intervals are computed from.

Every check is a function that says yes or no, so that its twin, the same check on a planted bug,
must say no. Seeds are fixed: a false alarm would have shown when the test was written.
"""

import numpy as np
import pytest
from msgspec.structs import replace
from scipy.stats import binom, binomtest, chisquare

from helpers.contracts import flipped, uniform
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.contract import FakeRecord, OwnFakes
from mixtally.primitives.fixed_point import SCALE
from mixtally.protocol.estimate.noise import noise_distribution
from reference.coverage import coverage, draw_counts
from simulation.rounds import came, tally_of

NEVER = 1e-9
NAMES = ["flip-blank", "clear-uniform", "clear-shaped"]


def flips_as_often_as_said(part, tally, people):
    """Ones in bins without people are Bin(messages x bins, q) in all."""
    ones = int(tally.counts[people:].sum())
    flips = tally.messages * (part.bins - people)
    return binomtest(ones, flips, part.threshold / SCALE).pvalue > NEVER


def test_empty_bins_are_set_by_flips_alone(parts, codes):
    """False alarm: 10^-9, an exact binomial test."""
    part = parts["flip-blank"]
    assert flips_as_often_as_said(part, tally_of(part, codes, SeededChance(1)), 100)


def test_the_twin_that_flips_two_percent_more_often_is_caught(parts, codes):
    part = parts["flip-blank"]
    wrong = replace(part, threshold=part.threshold * 102 // 100)
    assert not flips_as_often_as_said(part, tally_of(wrong, codes, SeededChance(1)), 100)


def falls_evenly(added):
    return chisquare(added).pvalue > NEVER


def fakes_of(part, codes):
    tally = tally_of(part, codes, SeededChance(1))
    return tally.counts - np.bincount(codes, minlength=len(tally.counts))


def test_uniform_fakes_fall_evenly(codes):
    """False alarm: about 10^-9, a chi-square test with 795 expected in each of 100 bins."""
    assert falls_evenly(fakes_of(uniform(100, whole=26, coin=SCALE // 2), codes))


def test_the_twin_that_never_draws_the_last_bin_is_caught(codes):
    few = fakes_of(uniform(99, whole=26, coin=SCALE // 2), codes % 99)
    assert not falls_evenly(np.append(few, 0))


def spread(mechanism, messages, counts, truth):
    """Mean square error over its expectation, in standard deviations from 1."""
    law = noise_distribution(mechanism, messages, 0)
    values = np.arange(len(law.pmf))
    mean = law.pmf @ values
    variance = law.pmf @ (values - mean) ** 2
    fourth = law.pmf @ (values - mean) ** 4
    ratio = np.mean((counts - truth) ** 2) / mechanism.variance(messages)
    return (ratio - 1) / np.sqrt((fourth / variance**2 - 1) / len(truth))


@pytest.mark.parametrize("name", NAMES)
def test_the_mean_square_error_is_the_stated_variance(parts, codes, name):
    """False alarm: below 10^-7.

    The mean over 2000 bins is normal but for what its own fourth moment accounts for; six
    standard deviations.
    """
    tally = tally_of(parts[name], codes, SeededChance(1))
    mechanism = came(parts[name], tally, len(codes))
    truth = np.bincount(codes, minlength=mechanism.bins)
    counts = mechanism.debias_counts(tally.counts, tally.messages)
    assert abs(spread(mechanism, tally.messages, counts, truth)) < 6


@pytest.mark.parametrize("name", NAMES)
def test_the_twin_without_subtracting_the_offset_is_caught(parts, codes, name):
    tally = tally_of(parts[name], codes, SeededChance(1))
    mechanism = came(parts[name], tally, len(codes))
    truth = np.bincount(codes, minlength=mechanism.bins)
    counts = tally.counts / mechanism.gain
    assert abs(spread(mechanism, tally.messages, counts, truth)) > 6


TRUTH = np.array([0, 0, 1, 5, 20, 80, 300])
RUNS = 400


SMALL = flipped(len(TRUTH), q=0.02, own=OwnFakes(FakeRecord.BLANK, 1, 0))
MESSAGES = 2 * int(TRUTH.sum())


def small():
    return SMALL.mechanism(fakes=MESSAGES // 2)


def enough(share, trials, level):
    """Whether a share of ``trials`` could come from a chance of at least ``level``."""
    return binom.cdf(round(share * trials), trials, level) > NEVER


def test_intervals_hold_the_truth_at_least_as_often_as_they_say():
    """False alarm: 2 x 10^-9, exact binomial bounds; bins are drawn independently."""
    each, together = coverage(
        small(), TRUTH, MESSAGES, level=0.9, runs=RUNS, chance=SeededChance(1)
    )
    assert enough(each, RUNS * len(TRUTH), 0.9)
    assert enough(together, RUNS, 0.9)


def test_the_twin_with_twice_the_fakes_is_caught(monkeypatch):
    """Counts from 812 fakes, intervals for 406."""

    def drawn(mechanism, truth, messages, runs, chance):
        return draw_counts(mechanism, truth, messages * 3 // 2, runs, chance)

    monkeypatch.setattr("reference.coverage.draw_counts", drawn)
    each, together = coverage(
        small(), TRUTH, MESSAGES, level=0.9, runs=RUNS, chance=SeededChance(1)
    )
    assert not enough(each, RUNS * len(TRUTH), 0.9)
    assert not enough(together, RUNS, 0.9)


def drawn_like_played(counts, mechanism, truth, messages):
    """Means of ``counts`` over runs lie within six standard errors of gain z + offset."""
    expected = mechanism.gain * truth + mechanism.offset(messages)
    error = mechanism.gain * np.sqrt(mechanism.variance(messages) / len(counts))
    return bool(np.all(np.abs(counts.mean(axis=0) - expected) < 6 * error))


def test_counts_drawn_at_once_have_the_mean_of_played_ones():
    """False alarm: below 10^-7, six standard errors of nearly normal means over 7 bins."""
    counts = draw_counts(small(), TRUTH, MESSAGES, 2000, SeededChance(1))
    assert counts.shape == (2000, len(TRUTH))
    assert drawn_like_played(counts, small(), TRUTH, MESSAGES)
    assert not drawn_like_played(counts + 1, small(), TRUTH, MESSAGES)


def test_played_counts_have_the_mean_of_drawn_ones():
    """False alarm: below 10^-7, six standard errors of nearly normal means over 7 bins."""
    codes, chance = np.repeat(np.arange(len(TRUTH)), TRUTH), SeededChance(1)
    counts = np.array([tally_of(SMALL, codes, chance).counts for _ in range(300)])
    assert drawn_like_played(counts, small(), TRUTH, MESSAGES)
    assert not drawn_like_played(counts + 2, small(), TRUTH, MESSAGES)
