"""Intervals err outwards: rounded away from the estimate, shared by all bins, rightly turned."""

import math
from statistics import NormalDist

import numpy as np
import pytest

from helpers.named import clear_uniform, flip_blank, flip_uniform
from mixtally.model.estimates import Tally
from mixtally.primitives.fixed_point import threshold_of
from mixtally.protocol.estimate.change import TalliedPart, change_intervals
from mixtally.protocol.estimate.debias import estimate_counts
from mixtally.protocol.estimate.intervals import NORMAL, intervals

FLIPS = flip_blank(bins=4, fakes=10_000, threshold=threshold_of(0.3))
TALLY = Tally(np.array([6003, 6104, 6007, 9000]), 20_000)


def test_normal_ends_are_rounded_away_from_the_estimate():
    found = intervals(FLIPS, TALLY, 0.95, simultaneous_over=1)
    assert found.method == NORMAL
    counts = FLIPS.debias_counts(TALLY.counts, TALLY.messages)
    z = NormalDist().inv_cdf(0.975)
    width = z * math.sqrt(FLIPS.variance(TALLY.messages))
    held = np.clip(counts, 0.0, 10_000.0)
    lean = (1.0 - 2.0 * held / TALLY.messages) * (z * z - 1.0) / 6.0  # third over second moment
    assert found.lower.tolist() == np.maximum(np.floor(counts - lean - width), 0).tolist()
    assert found.upper.tolist() == np.ceil(counts - lean + width).tolist()


@pytest.mark.parametrize("mechanism", [FLIPS, clear_uniform(bins=4, fakes=10_000)])
@pytest.mark.parametrize("together", [None, 4, 400])
def test_intervals_for_all_bins_share_the_error(mechanism, together):
    found = estimate_counts(mechanism, TALLY, 10_000, simultaneous_over=together)
    alone = intervals(mechanism, TALLY, 0.95, simultaneous_over=1)
    shared = intervals(mechanism, TALLY, 0.95, simultaneous_over=together or 4)
    assert np.array_equal(found.individual.upper, alone.upper)
    assert np.array_equal(found.simultaneous.upper, shared.upper)
    assert np.array_equal(found.simultaneous.lower, shared.lower)
    assert (shared.upper > alone.upper).all()


@pytest.mark.parametrize("flip", [0.01, 0.2])
def test_equal_tallies_have_changed_by_nothing(flip):
    """The law of the difference of two like collections is symmetric about zero."""
    mechanism = flip_uniform(bins=3, fakes=300, threshold=threshold_of(flip))
    one = TalliedPart(mechanism, Tally(np.array([200, 150, 260]), 700))
    found = change_intervals(one, one, 0.95, simultaneous_over=1)
    assert np.array_equal(found.lower, -found.upper)
    assert (found.upper > 0).all()
    assert (found.upper < 100).all()
