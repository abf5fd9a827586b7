"""Counts of a crowd of which a round asked a part: intervals that hold for all bins at once."""

from statistics import NormalDist

import numpy as np
import pytest

from helpers.named import clear_uniform, flip_blank
from mixtally.lab.simulation import counts_only
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.estimates import Tally
from mixtally.primitives.fixed_point import threshold_of
from mixtally.protocol.estimate.conclude import conclude_extensions

USERS, ASKED, RUNS = 20_000, 4_000, 40_000
RATE, TESTS = 0.1, 200
MECHANISMS = {
    "clear": clear_uniform(bins=400, fakes=2_000),
    "flips": flip_blank(bins=400, fakes=2_000, threshold=threshold_of(0.002)),
}


def rounds(mechanism, held):
    """Tallies of a bin that ``held`` of all people hold, one of every collection."""
    chance = counts_only._generator(SeededChance(5))
    asked = chance.hypergeometric(held, USERS - held, ASKED, RUNS)
    if mechanism.uniform_fakes:
        return asked + chance.binomial(mechanism.fakes_promised, 1.0 / mechanism.bins, RUNS)
    q, sent = mechanism.flip_probability, ASKED + mechanism.fakes_promised
    return chance.binomial(asked, 1.0 - q) + chance.binomial(sent - asked, q)


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("held", [200, 6_000])
def test_intervals_of_a_part_of_the_crowd_hold_as_often_as_stated(name, held):
    """Of 40,000 collections 20 miss at most, as 200 bins share a tenth; false alarm below 1e-5.

    Planted: the normal approximation at the count found, which misses 60 times where few hold it.
    """
    mechanism = MECHANISMS[name]
    tally = Tally(rounds(mechanism, held), ASKED + mechanism.fakes_promised)
    found = conclude_extensions(
        mechanism, tally, RUNS, people=ASKED, users=USERS, tests=TESTS, error_rate=RATE
    )
    assert len(found.bins) > 0.99 * RUNS
    most = 20 + 5 * 20**0.5
    assert np.sum((found.lower > held) | (found.upper < held)) < most
    if held == 200:
        half = NormalDist().inv_cdf(1.0 - RATE / TESTS / 2.0) * found.errors
        assert np.sum(np.abs(found.counts - held) > half) > most


def test_a_crowd_that_is_asked_in_full_has_exact_ends():
    mechanism = MECHANISMS["flips"]
    tally = Tally(np.array([60, 9]), ASKED + mechanism.fakes_promised)
    found = conclude_extensions(
        mechanism, tally, 2, people=ASKED, users=ASKED, tests=TESTS, error_rate=RATE
    )
    assert (found.lower > 0).all()
    assert (found.upper >= found.counts).all()
