"""Intervals for all changes share the error allowed, however many epochs there are."""

import numpy as np
import pytest

from helpers.named import clear_uniform
from mixtally.model.estimates import Tally
from mixtally.protocol.estimate.change import TalliedPart, change_intervals
from mixtally.protocol.estimate.conclude.series import StepsBetween

PROTOCOL = clear_uniform(bins=4, fakes=400)


def interval(earlier, later, over):
    both = (TalliedPart(PROTOCOL, one) for one in (earlier, later))
    return change_intervals(*both, 0.95, simultaneous_over=over)


@pytest.mark.parametrize(("epochs", "changes"), [(2, 1), (3, 3), (5, 5)])
def test_every_change_of_every_bin_counts(epochs, changes):
    tallies = [Tally(np.array([110, 90, 105, 495]) + 3 * i, 800 + 12 * i) for i in range(epochs)]
    between = StepsBetween(epochs, 0.95)
    for tally in tallies:
        between.add(TalliedPart(PROTOCOL, tally))
    found = between.steps
    assert len(found) == changes
    for step in found:
        earlier, later = tallies[step.first], tallies[step.last]
        wanted = interval(earlier, later, 4 * changes)
        assert np.array_equal(step.change.simultaneous.lower, wanted.lower)
        assert np.array_equal(step.change.simultaneous.upper, wanted.upper)
    alone = interval(tallies[0], tallies[1], 4)
    wide = found[0].change.simultaneous
    assert (changes == 1) == np.array_equal(wide.upper - wide.lower, alone.upper - alone.lower)
