"""How large sets are, out of pads: unbiased, with intervals that hold as often as they say."""

import numpy as np
import pytest
from scipy.stats import binom

from helpers.named import clear_gaussian, clear_shaped, clear_uniform
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.estimates import Tally
from mixtally.model.shape import ratio_of
from mixtally.primitives.draw import draw_below
from mixtally.protocol.estimate.conclude.set_sizes import set_sizes
from mixtally.protocol.mixing import draw_fake_counts

BINS, MOST, FAKES = 40, 3, 1720
SIZES = np.array([100, 250, 400, 150])
"""People with sets of 0, 1, 2, 3 members."""
PEOPLE = int(SIZES.sum())
REACHED = np.cumsum(SIZES)[:MOST]
MEAN = float(SIZES @ np.arange(MOST + 1)) / PEOPLE
RUNS, LEVEL = 600, 0.9


AMONG = {
    "uniform": clear_uniform(bins=BINS, fakes=FAKES, max_set=MOST),
    "shaped": clear_shaped(bins=BINS, ratio=ratio_of(0.2), shift=30, mixes=2, max_set=MOST),
    "gaussian": clear_gaussian(bins=BINS, variance=20, shift=25, mixes=2, max_set=MOST),
}
EVERY = pytest.mark.parametrize("among", AMONG)


def fakes_of(mechanism, chance):
    """Fakes of every cell."""
    shaped, cells = mechanism.shaped_fakes, BINS + MOST
    if shaped is None:
        return np.bincount(draw_below(chance, cells, FAKES), minlength=cells)
    each = [draw_fake_counts(shaped.shape.weights, cells, chance) for _ in range(shaped.mixes)]
    return np.sum(each, axis=0)


def results(among="uniform", offset=0):
    """Of many collections whose fakes are drawn as they should be, with ``offset`` more pads."""
    chance = SeededChance(5)
    mechanism = AMONG[among]
    for _ in range(RUNS):
        counts = fakes_of(mechanism, chance)
        messages = PEOPLE * MOST + int(counts.sum())
        counts[BINS:] += REACHED[::-1] + offset
        yield set_sizes(
            "q", mechanism, Tally(counts[mechanism.bins :], messages), PEOPLE, LEVEL
        ).rows


def held(among, offset=0):
    """How often each number's interval holds the truth, and the means of all."""
    truth = np.array([MEAN, *REACHED])
    every = [
        [(row.estimate, row.lower, row.upper) for row in rows] for rows in results(among, offset)
    ]
    found = np.array(every)
    inside = (found[:, :, 1] <= truth + 1e-12) & (truth <= found[:, :, 2] + 1e-12)
    return inside.sum(axis=0), found[:, :, 0].mean(axis=0), truth


def noise_of(mechanism, cells):
    """The standard deviation of the fakes in so many cells."""
    if mechanism.shaped_fakes is None:
        return np.sqrt(FAKES * (cells / 43) * (1 - cells / 43))
    return np.sqrt(cells * mechanism.shaped_fakes.mixes * mechanism.shaped_fakes.shape.spread)


@EVERY
def test_numbers_are_unbiased_and_intervals_hold(among):
    """False alarm: below 10^-7 for all; exact binomial bounds, and six standard errors."""
    inside, means, truth = held(among)
    assert (binom.cdf(inside, RUNS, LEVEL) > 1e-9).all()
    noise, mean = noise_of(AMONG[among], 1), noise_of(AMONG[among], 3) / PEOPLE
    errors = np.array([mean, noise, noise, noise]) / np.sqrt(RUNS)
    assert (np.abs(means - truth) < 6 * errors).all()


@EVERY
def test_intervals_of_the_mean_are_no_wider_than_they_say(among):
    """By eight standard errors of 600 runs at most: what is said is near what is held."""
    inside, *_ = held(among)
    assert inside[0] / RUNS < LEVEL + 0.06


@EVERY
def test_the_twin_with_more_pads_is_caught(among):
    inside, *_ = held(among, offset=15)
    assert (binom.cdf(inside, RUNS, LEVEL) < 1e-9).any()


@EVERY
def test_the_rows_say_what_they_are(among):
    rows = next(results(among))
    assert [row.label for row in rows] == [
        "members of a set, on average",
        "people with an empty set",
        "people with at most 1 member",
        "people with at most 2 members",
    ]
    assert rows[0].standard_error == pytest.approx(noise_of(AMONG[among], 3) / PEOPLE, rel=1e-9)
    assert all(row.lower_simultaneous <= row.lower for row in rows[1:])
