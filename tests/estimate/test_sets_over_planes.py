"""Counts of sets over planes: their exact distribution, what they lack, and how sure they are."""

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from helpers import contracts
from mixtally.contract.planes import most_digits
from mixtally.estimate.conclude import conclude, seen_of
from mixtally.estimate.debias import unsure_of
from mixtally.estimate.noise import Noises, noise_distribution
from mixtally.ground.fixed import SCALE
from mixtally.randomize import part_fakes, part_reports
from mixtally.records.mechanism import InClear, KaryResponse, UniformFakes
from mixtally.records.planes import Planes
from mixtally.records.question import Kind, Question
from mixtally.simulation.seeded import SeededChance
from mixtally.tally.fold import tally_messages

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
    chance, noises, found = SeededChance(11), Noises(), []
    for _ in range(ROUNDS):
        fakes, _ = part_fakes(PART, PEOPLE, chance)
        rows = np.concatenate([part_reports(PART, SETS, chance), fakes])
        tally = tally_messages(PART.layout, rows)
        found.append((conclude(PLAN, [tally], noises=noises), seen_of(PART, tally).counts))
    return found


def inside(intervals, truth):
    return sum(low <= truth <= high for low, high in intervals)


@pytest.mark.seconds
def test_intervals_hold_counts_and_sizes():
    """False alarm: below 10^-5, seven intervals at 10^-6 and three means within six errors."""
    found = [one for one, _ in rounds()]
    for x in LINES:
        ends = [(one.estimate.each.lower[x], one.estimate.each.upper[x]) for one in found]
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


@pytest.mark.parametrize(("prime", "size"), [(1321, 2), (683, 4), (6203, 4), (23, 11)])
def test_what_points_in_special_position_may_change_is_as_the_sum_of_their_chances(prime, size):
    """n records, each of k messages that are 1/p off where a point lies in the span of others, and
    wholly where two are one.
    """
    over = Planes(prime, most_digits(prime))
    spans = sum(Fraction(prime**one, over.points) for one in range(size))
    one = Fraction(size * (size + 1), 2 * over.points)
    least = 1000 * (spans * size / prime + one)
    assert float(least) <= over.unsure(1000, size) <= 1.1 * float(least)
    assert over.unsure(1000) == pytest.approx(1000 / over.points)


@pytest.mark.parametrize("variance", [0.0, 0.3, 4.0, 1e4])
def test_one_message_more_moves_a_sum_by_its_largest_chance(variance):
    """Of Poisson-binomial sums of this variance, the chances of which are drawn."""
    over, chance = Planes(683, 6), SeededChance(5)
    free = over.unsure(1000, 4, 1e99)
    stated = (over.unsure(1000, 4, variance) - free) / (over.unsure(1000, 4) - free)
    for _ in range(20):
        chances = (chance.words(max(1, int(6 * variance))) / 2.0**64) ** 2
        if (chances * (1 - chances)).sum() < variance:
            continue
        assert most_likely(chances) <= stated * (1 + 1e-9)
    fair = np.full(max(1, int(4 * variance)), 0.5)
    assert variance == 0.0 or most_likely(fair) >= 0.3 * stated


def most_likely(chances):
    sums = np.ones(1)
    for one in chances[:500]:
        sums = np.convolve(sums, [1 - one, one])
    return sums.max() if len(chances) <= 500 else 0.4 / np.sqrt((chances * (1 - chances)).sum())


@pytest.mark.parametrize("replaced", [0, SCALE // 4])
def test_the_least_noise_of_other_messages_is_counted(replaced):
    """Fakes and others' messages that are replaced point at a value each with 1 / p."""
    over, people, fakes = Planes(23, 4), 50, 30
    kinds = {"bins": 1000, "fakes": UniformFakes(fakes), "planes": over, "max_set": 3}
    one = KaryResponse(replaced=replaced, crowd=people, **kinds) if replaced else InClear(**kinds)
    each, rise = 1 / 23, replaced / SCALE / 23
    least = fakes * each * (1 - each) + 3 * (people - 1) * rise * (1 - rise)
    assert unsure_of(one, people, hashed=False) == pytest.approx(over.unsure(people, 3, least))


def test_more_digits_than_members_leave_next_to_nothing():
    """With as many digits as members it would be hundredths, and more."""
    fewest, none = Planes(6203, 5), Planes(6203, 4)
    assert fewest.unsure(10**6, 4) < 1e-4
    assert none.unsure(10**6, 4) > 0.05
