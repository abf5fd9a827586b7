"""How large sets are, out of pads: unbiased, with intervals that hold as often as they say."""

import numpy as np
import pytest
from scipy.stats import binom

from mixtally.estimate.conclude.set_sizes import set_sizes
from mixtally.ground.draw import below
from mixtally.records.mechanism.named import clear_uniform
from mixtally.records.results import Tally
from mixtally.simulation.seeded import SeededChance

BINS, MOST, FAKES = 40, 3, 1720
SIZES = np.array([100, 250, 400, 150])
"""People with sets of 0, 1, 2, 3 members."""
PEOPLE = int(SIZES.sum())
REACHED = np.cumsum(SIZES)[:MOST]
MEAN = float(SIZES @ np.arange(MOST + 1)) / PEOPLE
RUNS, LEVEL = 600, 0.9


def results(offset=0):
    """Of many collections whose fakes are drawn as they should be, with ``offset`` more pads."""
    chance = SeededChance(5)
    mechanism = clear_uniform(bins=BINS, fakes=FAKES, max_set=MOST)
    for _ in range(RUNS):
        counts = np.bincount(below(chance, BINS + MOST, FAKES), minlength=BINS + MOST)
        counts[BINS:] += REACHED[::-1] + offset
        yield set_sizes("q", mechanism, Tally(counts, PEOPLE * MOST + FAKES), PEOPLE, LEVEL).rows


def held(offset=0):
    """How often each number's interval holds the truth, and the means of all."""
    truth = np.array([MEAN, *REACHED])
    every = [[(row.estimate, row.lower, row.upper) for row in rows] for rows in results(offset)]
    found = np.array(every)
    inside = (found[:, :, 1] <= truth + 1e-12) & (truth <= found[:, :, 2] + 1e-12)
    return inside.sum(axis=0), found[:, :, 0].mean(axis=0), truth


def test_numbers_are_unbiased_and_intervals_hold():
    """False alarm: below 10^-7 for all; exact binomial bounds, and six standard errors."""
    inside, means, truth = held()
    assert (binom.cdf(inside, RUNS, LEVEL) > 1e-9).all()
    noise = np.sqrt(FAKES * (1 / 43) * (1 - 1 / 43))
    mean = np.sqrt(FAKES * (3 / 43) * (1 - 3 / 43)) / PEOPLE
    errors = np.array([mean, noise, noise, noise]) / np.sqrt(RUNS)
    assert (np.abs(means - truth) < 6 * errors).all()


def test_the_twin_with_more_pads_is_caught():
    inside, *_ = held(offset=15)
    assert (binom.cdf(inside, RUNS, LEVEL) < 1e-9).any()


def test_the_rows_say_what_they_are():
    rows = next(results())
    assert [row.label for row in rows] == [
        "members of a set, on average",
        "people with an empty set",
        "people with at most 1 member",
        "people with at most 2 members",
    ]
    assert rows[0].standard_error == pytest.approx(
        np.sqrt(FAKES * (3 / 43) * (40 / 43)) / PEOPLE, rel=1e-9
    )
    assert all(row.lower_simultaneous <= row.lower for row in rows[1:])
