"""Answers in clear that are sent several times: intervals are of people, not of messages.

Of 10,000 intervals at 95 % as many hold the truth. Sound ones fall below 94 % with a chance below
3e-5, by Chernoff's bound.
"""

import numpy as np
import pytest

from helpers.sampled import each
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.estimates import Tally
from mixtally.model.mechanism import InClear, ShapedFakes, UniformFakes
from mixtally.model.shape import LaplaceShape
from mixtally.primitives.draw import draw_from_table
from mixtally.protocol.estimate.intervals import intervals
from mixtally.protocol.estimate.noise import noise_distribution

LEVEL, LEAST, RUNS = 0.95, 0.94, 10_000
TRUTH = np.array([0, 3, 40, 180, 900])
MECHANISMS = {
    f"{name}, {repeats} times": InClear(bins=5, fakes=fakes, repeats=repeats)
    for name, fakes in (
        ("uniform", UniformFakes(300)),
        ("shaped", ShapedFakes(LaplaceShape(1 << 63, 30), 1)),
    )
    for repeats in (1, 2, 5)
}


def noise(mechanism, seed):
    """What is counted besides the answers, in many collections."""
    law = noise_distribution(mechanism, 10_000, 0)
    cumulative = np.minimum(np.cumsum(law.pmf)[:-1], 1.0 - 2.0**-53) * 2.0**64
    return law.first + draw_from_table(SeededChance(seed), cumulative.astype(np.uint64), RUNS)


def covered(mechanism):
    messages = mechanism.repeats * int(TRUTH.sum()) + mechanism.fakes_promised
    seen = mechanism.repeats * TRUTH[:, None] + noise(mechanism, 7).reshape(len(TRUTH), -1)
    held = 0
    for counts in seen.T:
        found = intervals(mechanism, Tally(counts, messages), LEVEL, simultaneous_over=1)
        held += int(((found.lower <= TRUTH) & (found.upper >= TRUTH)).sum())
    return held / RUNS


@pytest.mark.parametrize("name", each(MECHANISMS, 2))
def test_intervals_hold_the_number_of_people(name):
    assert covered(MECHANISMS[name]) >= LEAST


@pytest.mark.parametrize("name", MECHANISMS)
def test_an_interval_holds_its_estimate_and_is_as_narrow_as_one_number(name):
    mechanism = MECHANISMS[name]
    people = mechanism.repeats * TRUTH + round(mechanism.offset(10_000))
    messages = mechanism.repeats * int(TRUTH.sum()) + mechanism.fakes_promised
    found = intervals(mechanism, Tally(people, messages), LEVEL, simultaneous_over=1)
    assert (found.lower <= TRUTH).all()
    assert (found.upper >= TRUTH).all()
    wide = 5.0 * np.sqrt(mechanism.variance(messages)) + 2
    assert (found.upper - found.lower <= wide).all()
