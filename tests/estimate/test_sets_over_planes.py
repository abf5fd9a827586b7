"""Counts of sets over planes: their exact distribution, what they lack, and how sure they are."""

import itertools
import math
from functools import cache

import numpy as np
import pytest

from helpers import contracts
from mixtally.device.contract import planes as bare
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.planes import Planes
from mixtally.model.question import Kind, Question
from mixtally.protocol.estimate.conclude import conclude, tally_of_bins
from mixtally.protocol.estimate.noise import NoiseCache, noise_distribution
from mixtally.protocol.randomize import draw_part_fakes, randomize_records
from mixtally.protocol.tally.fold import tally_messages

P, BINS, MOST, PEOPLE, ROUNDS = 53, 60, 2, 300, 300
PART = contracts.over_planes(BINS, P, whole=1, coin=0, most_set=MOST)
PLAN = contracts.plan_of(
    Question(name="q", bins=BINS, kind=Kind.SET, max_set=MOST), [PART], users=PEOPLE, hops=1
)
SETS = np.full((PEOPLE, MOST), -1)
SETS[:200, 0], SETS[:120, 1], SETS[200:260, 1] = 3, np.arange(120) % 3, 19
HELD = np.bincount(SETS[SETS >= 0], minlength=BINS)
LINES = (0, 3, 10, 19)
LEAST = 265
"""Of 300 rounds' intervals of 95 %: fewer hold the truth with a chance of 10^-6."""


@cache
def rounds():
    chance, noises, found = SeededChance(11), NoiseCache(), []
    for _ in range(ROUNDS):
        fakes, _ = draw_part_fakes(PART, PEOPLE, chance)
        rows = np.concatenate([randomize_records(PART, SETS, chance), fakes])
        tally = tally_messages(PART.layout, rows)
        found.append((conclude(PLAN, [tally], noises=noises), tally_of_bins(PART, tally).counts))
    return found


def inside(intervals, truth):
    return sum(low <= truth <= high for low, high in intervals)


@pytest.mark.seconds
def test_intervals_hold_counts_and_sizes():
    """False alarm: below 10^-5, seven intervals at 10^-6 and three means within six errors."""
    found = [one for one, _ in rounds()]
    for x in LINES:
        ends = [
            (one.estimate.individual.lower[x], one.estimate.individual.upper[x]) for one in found
        ]
        assert inside(ends, HELD[x]) >= LEAST
    members = (SETS >= 0).sum(axis=1)
    wanted = [members.mean(), *((members <= one).sum() for one in range(MOST))]
    for place, truth in enumerate(wanted):
        rows = [one.figures[0].rows[place] for one in found]
        assert inside([(row.lower, row.upper) for row in rows], truth) >= LEAST
        off = np.mean([row.estimate for row in rows]) - truth
        assert abs(off) < 6.0 * rows[0].standard_error / math.sqrt(ROUNDS)


def off_by(chance, gain):
    """How many standard errors the means of unbiased counts are off, if so many others point."""
    seen = np.mean([counts for _, counts in rounds()], axis=0)
    messages = PEOPLE * MOST + PEOPLE
    found = (seen - (messages - PEOPLE) * chance - PEOPLE / P) / gain
    error = rounds()[0][0].estimate.standard_error / math.sqrt(ROUNDS)
    return np.abs(found - HELD).max() / error


@pytest.mark.seconds
def test_means_are_the_counts():
    """False alarm: below 10^-7, 20 means within six errors; the estimates are those numbers."""
    assert off_by(1 / P, 1 - 2 / P) < 6.0
    result, seen = rounds()[0]
    wanted = (seen - 3 * PEOPLE / P) / (1 - 2 / P)
    assert result.estimate.counts == pytest.approx(wanted)


@pytest.mark.seconds
@pytest.mark.parametrize(("chance", "gain"), [(0.8 / P, 1 - 2 / P), (1 / P, 1 - 1 / P)])
def test_the_twins_are_caught(chance, gain):
    """Planted: others point more rarely; whoever holds a value is one message less, not k."""
    assert off_by(chance, gain) > 6.0


def test_the_noise_is_of_all_messages_of_others():
    mechanism = PART.mechanism(fakes=50)
    noise = noise_distribution(mechanism, 2 * PEOPLE + 50, 100)
    mean = float((noise.first + np.arange(len(noise.pmf))) @ noise.pmf)
    assert mean == pytest.approx((2 * 200 + 50) / P, rel=1e-9)
    assert mechanism.gain == 1 - 2 / P
    assert mechanism.offset(2 * PEOPLE + 50) == pytest.approx((2 * PEOPLE + 50) / P)


def off_on_average(prime, digits, size):
    """How far, on average over all points of the other members and of x by those of the first, the
    chance that its message points at x is from 1/p; where two are one, 1 for all messages.
    """
    every = np.array(list(itertools.product(range(prime), repeat=digits)))
    products = every[1:] @ every.T % prime  # directions by points; the first member is the origin
    away, at = products != 0, products == 0
    total, count = 0.0, 0
    for others in itertools.product(range(len(every)), repeat=size - 1):
        may = np.logical_and.reduce([away[:, one] for one in others])
        points = at[may].sum(axis=0)
        for x in range(len(every)):
            count += 1
            apart = len({0, x, *others}) == size + 1
            total += abs(points[x] / max(1, may.sum()) - 1 / prime) if apart else 1 / size
    return total / count


@pytest.mark.parametrize(("prime", "digits", "size"), [(5, 2, 2), (5, 3, 2), (7, 2, 2), (7, 2, 3)])
def test_what_points_in_special_position_may_change_is_bounded(prime, digits, size):
    """Enumerated: all points of a record and of x, of a plane and of space."""
    true = off_on_average(prime, digits, size)
    stated = Planes(prime, digits).total_variation_bound(1, size) / size
    assert true <= stated
    assert true >= stated / 4


@pytest.mark.parametrize(("prime", "digits", "size"), [(5, 2, 2), (5, 3, 2), (7, 2, 2), (7, 2, 3)])
def test_fewer_digits_than_members_change_no_more_than_is_stated(prime, digits, size, monkeypatch):
    """The bound for messages of 16 bytes, of which small planes have a share that is seen."""
    monkeypatch.setattr(bare, "MOST_MESSAGES", 1)
    true = off_on_average(prime, digits, size)
    stated = Planes(prime, digits).total_variation_bound(1, size) / size
    assert true <= stated
    assert true >= stated / 12


def test_what_plans_have_leaves_next_to_nothing():
    """Planes of eleven members of 10^5 people, and of eight of 10^6; five digits are too few."""
    assert Planes(37, 12).total_variation_bound(10**5, 11) < 1e-4
    assert Planes(127, 9).total_variation_bound(10**6, 8) < 1e-6
    assert Planes(37, 5).total_variation_bound(10**5, 11) > 1.0
    assert Planes(9661, 9).total_variation_bound(10**6, 16) < 1e-9
