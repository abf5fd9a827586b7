"""Intervals for all changes share the error allowed, however many epochs there are."""

import numpy as np
import pytest

from mixtally.estimate.change import change_intervals
from mixtally.estimate.conclude.series import steps_between
from mixtally.records.mechanism.named import clear_uniform
from mixtally.records.results import Tally

PROTOCOL = clear_uniform(bins=4, fakes=400)


@pytest.mark.parametrize(("epochs", "changes"), [(2, 1), (3, 3), (5, 5)])
def test_every_change_of_every_bin_counts(epochs, changes):
    tallies = [Tally(np.array([110, 90, 105, 495]) + 3 * i, 800 + 12 * i) for i in range(epochs)]
    found = steps_between(PROTOCOL, tallies, 0.95)
    assert len(found) == changes
    for step in found:
        earlier, later = tallies[step.first], tallies[step.last]
        wanted = change_intervals(PROTOCOL, earlier, later, 0.95, simultaneous_over=4 * changes)
        assert np.array_equal(step.change.together.lower, wanted.lower)
        assert np.array_equal(step.change.together.upper, wanted.upper)
    alone = change_intervals(PROTOCOL, tallies[0], tallies[1], 0.95, simultaneous_over=4)
    wide = found[0].change.together
    assert (changes == 1) == np.array_equal(wide.upper - wide.lower, alone.upper - alone.lower)
