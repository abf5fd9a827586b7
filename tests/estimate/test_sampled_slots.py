"""Counts of sampled slots, their intervals, differences, totals and sizes, of drawn crowds.

Crowds are drawn by the code of devices from a fixed seed. A share of intervals is held against a
binomial: a right method fails a test here with chance below 1e-6, and each test is shown a wrong
one that fails.
"""

import numpy as np
import pytest
from msgspec.structs import replace
from scipy.stats import binom

from helpers import contracts as c
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.estimates import Tally
from mixtally.model.mechanism import InClear, UniformFakes
from mixtally.protocol.estimate import intervals
from mixtally.protocol.estimate.change import TalliedPart, estimate_change
from mixtally.protocol.estimate.conclude.set_sizes import set_sizes
from mixtally.protocol.estimate.debias import estimate_counts
from mixtally.protocol.estimate.noise import NoiseCache
from mixtally.protocol.estimate.total import group_total, total_interval
from mixtally.protocol.estimate.two_bins import difference_intervals, difference_variance
from mixtally.protocol.randomize import draw_part_fakes, randomize_records
from mixtally.protocol.randomize.parts import _draw_slots

ALARM = 1e-7
USERS = 600
SIZES = np.arange(USERS) % 4
"""People with an empty set, and with one, two and three members; the most are four."""
FIRST = np.arange(USERS) % 7
BITS = ((np.arange(8) - FIRST[:, None] // 3) % 8 < SIZES[:, None]).astype(np.uint8)
HELD = BITS.sum(axis=0).astype(np.int64)
ROWS = np.packbits(BITS, axis=1, bitorder="little")
SET = {slots: c.sampled(8, 4, slots, whole=1, coin=0) for slots in (1, 2, 3)}


def drawn(seed, slots=1, rows=ROWS, code=randomize_records):
    """A tally of devices, with their fakes."""
    chance, part = SeededChance(seed), SET[slots]
    fakes, number = draw_part_fakes(part, len(rows), chance)
    named = [part.layout.codes(some) for some in (code(part, rows, chance), fakes)]
    seen = np.concatenate(named)
    mechanism = part.mechanism(fakes=number)
    return mechanism, Tally(np.bincount(seen, minlength=part.layout.bins), len(seen))


def members_rather_than_pads(part, rows, chance):
    """Planted: k is what a person holds, not the slots of the plan."""
    sent = []
    for row in rows:
        cells = np.flatnonzero(np.unpackbits(row, bitorder="little"))
        cells = np.arange(8, 12) if not len(cells) else cells
        sent.append(_draw_slots(cells[None, :], 1, chance)[0])
    return part.layout.rows(np.concatenate(sent).astype(np.int64))


def agrees(slots=1, code=randomize_records, runs=60):
    """Whether all cells of many tallies have the mean and the variance of the mechanism."""
    held = np.concatenate([HELD, [np.count_nonzero(lack > SIZES) for lack in (4, 3, 2, 1)]])
    sums, spread = [], np.zeros(12)
    for seed in range(runs):
        mechanism, tally = drawn(seed, slots, code=code)
        sums.append(mechanism.debias_counts(tally.counts, tally.messages) - held)
        spread += [mechanism.variance_at(tally.messages, int(one)) for one in held]
    off, spread = np.array(sums), spread / runs
    if np.abs(off.sum(axis=0) / np.sqrt(runs * spread)).max() > 6.2:  # 12 normal tails, 7e-9
        return False
    # Of 12 cells with 60 runs each, an average over cells whose error is about 6 %.
    return bool(abs((off**2 / spread).mean() - 1.0) < 0.35)


@pytest.mark.parametrize("slots", [1, 2, 3])
def test_devices_draw_what_is_estimated(slots):
    """False alarm: below 1e-7, by the mean of 720 squares."""
    assert agrees(slots)


def test_the_twin_that_counts_members_is_caught():
    assert not agrees(code=members_rather_than_pads)


def test_the_twin_without_the_slots_of_the_person_is_caught(monkeypatch):
    """The variance of an empty bin for all; and slots of three instead of four."""
    with monkeypatch.context() as patch:
        patch.setattr(InClear, "variance_at", lambda self, messages, _: self.variance(messages))
        assert not agrees()
    monkeypatch.setattr(InClear, "sent_share", 1.0 / 3.0)
    assert not agrees()


def test_the_variance_is_that_of_the_page():
    """c (k - 1) + k^2 M (1/d)(1 - 1/d)."""
    sent = InClear(bins=1000, max_set=5, slots=1, fakes=UniformFakes(8569))
    noise = 25 * 8569 / 1005 * (1 - 1 / 1005)
    assert sent.standard_error(10**6, 1000) ** 2 == pytest.approx(4000 + noise, rel=1e-12)
    assert sent.standard_error(10**6, 1000) == pytest.approx(64.9, abs=0.05)
    assert sent.standard_error(10**6, 100_000) == pytest.approx(632.6, abs=0.05)
    two = replace(sent, slots=2)
    assert two.standard_error(10**6, 1000) ** 2 == pytest.approx(1500 + noise / 4, rel=1e-12)
    assert two.noise(2 * 10**6 + 8569, 10)[:3] == (0, ((8569, 1 / 1005),), ((10, 0.6),))


def held_by(ends, truth, wrong=1.0):
    middle, half = (ends.lower + ends.upper) / 2, (ends.upper - ends.lower) / 2 * wrong
    return np.abs(truth - middle) <= half


def covered(slots, level, *, wrong=1.0):
    """How many intervals of drawn tallies hold, of how many; ``wrong`` narrows them."""
    hits, trials, noises = 0, 0, NoiseCache()
    for seed in range(40):
        mechanism, tally = drawn(seed, slots)
        found = estimate_counts(mechanism, tally.first_bins(8), USERS, level=level, noises=noises)
        assert found.individual.method == "exact test inversion"
        hits += int(held_by(found.individual, HELD, wrong)[[0, 4]].sum())
        trials += 2
    return hits, trials


@pytest.mark.parametrize("slots", [1, 3])
def test_intervals_of_drawn_crowds_hold(slots):
    hits, trials = covered(slots, 0.9)
    assert binom.cdf(hits, trials, 0.9) > ALARM
    hits, trials = covered(slots, 0.9, wrong=0.35)
    assert binom.cdf(hits, trials, 0.9) < ALARM


def test_the_interval_is_the_inverse_of_the_test():
    """Every count of the interval, and none outside, explains the tally with both tails."""
    mechanism = InClear(bins=8, max_set=4, slots=1, fakes=UniformFakes(60))
    tally = Tally(np.array([24]), 260)
    found = estimate_counts(mechanism, tally, 200, level=0.9, simultaneous_over=1).individual
    share, fake = 0.25, 1 / 12

    def tails(count):
        law = np.convolve(
            binom.pmf(np.arange(count + 1), count, share), binom.pmf(np.arange(61), 60, fake)
        )
        return law[24:].sum(), law[:25].sum()

    accepted = [count for count in range(201) if min(tails(count)) > 0.05]
    assert (int(found.lower[0]), int(found.upper[0])) == (accepted[0], accepted[-1])


def test_many_bins_have_the_ends_of_the_exact_test(monkeypatch):
    """Never narrower by more than one person, and hardly wider, wherever the tally may be."""
    mechanism = InClear(bins=300, max_set=5, slots=1, fakes=UniformFakes(305 * 9))
    tally = Tally(np.arange(0, 300, 7), 4000 + 305 * 9)
    given = {"level": 0.95, "simultaneous_over": 300}
    found = estimate_counts(mechanism, tally, 4000, **given)
    assert found.individual.method == "normal approximation"
    monkeypatch.setattr(intervals, "_MOST_DISTINCT", 10**6)
    exact = estimate_counts(mechanism, tally, 4000, **given)
    assert exact.individual.method == "exact test inversion"
    for one, true in (
        (found.individual, exact.individual),
        (found.simultaneous, exact.simultaneous),
    ):
        assert (one.lower <= true.lower + 1).all()
        assert (one.upper >= true.upper - 1).all()
        assert np.abs(one.lower - true.lower).max() <= 6
        assert np.abs(one.upper - true.upper).max() <= 6


def variances_of_differences(slots, first, second):
    """The variance of the difference of two bins, drawn, and as it is stated."""
    found, stated = [], []
    for seed in range(300):
        mechanism, tally = drawn(seed, slots)
        one, other = (
            TalliedPart(mechanism, Tally(tally.counts[place : place + 1], tally.messages))
            for place in (first, second)
        )
        found.append(one.unbiased_counts[0] - other.unbiased_counts[0])
        stated.append(difference_variance(one, other, one_message=True))
    truth = HELD[first] - HELD[second]
    return np.mean((np.array(found) - truth) ** 2), np.mean(stated)


@pytest.mark.parametrize(("slots", "first", "second"), [(1, 0, 1), (1, 0, 4), (3, 0, 1)])
def test_differences_are_no_surer_than_drawn_ones(slots, first, second):
    """False alarm: below 1e-7, a variance of 300 runs whose error is 8 %."""
    drawn_, stated = variances_of_differences(slots, first, second)
    assert drawn_ < stated * 1.45


def test_the_twin_whose_bins_are_independent_is_caught(monkeypatch):
    """Everybody holds both bins: then only one of them is sent."""
    both = np.tile(
        np.packbits(np.array([1, 1] + [0] * 6, dtype=np.uint8), bitorder="little"), (USERS, 1)
    )
    found, stated, independent = [], [], []
    for seed in range(300):
        mechanism, tally = drawn(seed, rows=both)
        one, other = (
            TalliedPart(mechanism, Tally(tally.counts[place : place + 1], tally.messages))
            for place in (0, 1)
        )
        found.append(one.unbiased_counts[0] - other.unbiased_counts[0])
        stated.append(difference_variance(one, other, one_message=True))
        independent.append(2 * mechanism.variance_at(tally.messages, USERS))
    assert np.mean(np.square(found)) < 1.45 * np.mean(stated)
    # The difference varies by k (c + c'), where independent bins would by (k - 1) (c + c').
    assert np.mean(stated) > 1.2 * np.mean(independent)


def test_intervals_of_differences_hold():
    hits = 0
    for seed in range(60):
        mechanism, tally = drawn(seed)
        one, other = (
            TalliedPart(mechanism, Tally(tally.counts[place : place + 1], tally.messages))
            for place in (0, 4)
        )
        ends = difference_intervals(one, other, 0.9, over=1, one_message=True)
        hits += int(held_by(ends, HELD[0] - HELD[4])[0])
    assert binom.cdf(hits, 60, 0.9) > ALARM


def test_totals_hold_whoever_holds_several_of_the_bins():
    hits = narrow = 0
    for seed in range(60):
        mechanism, tally = drawn(seed)
        found = group_total(mechanism, tally, np.arange(3), USERS)
        low, high, _ = total_interval([found], 0.05)
        truth = HELD[:3].sum()
        hits += low <= truth <= high
        narrow += abs(found.estimate - truth) <= 0.3 * (high - low) / 2
    assert binom.cdf(hits, 60, 0.9) > ALARM
    assert binom.cdf(narrow, 60, 0.9) < ALARM


def test_changes_hold():
    hits = 0
    for seed in range(40):
        before, after = (
            TalliedPart(mechanism, tally.first_bins(8))
            for mechanism, tally in (drawn(seed), drawn(1000 + seed))
        )
        ends = estimate_change(before, after, level=0.9).individual
        hits += int(held_by(ends, 0)[[0, 4]].sum())
    assert binom.cdf(hits, 80, 0.9) > ALARM


def test_sizes_of_sets_are_found_from_pads():
    """False alarm: below 1e-7, 5.5 standard errors of each number."""
    mechanism, tally = drawn(1)
    pads = Tally(tally.counts[8:], tally.messages)
    mean, *rows = set_sizes("q", mechanism, pads, USERS, 0.95).rows
    assert abs(mean.estimate - SIZES.mean()) < 5.5 * mean.standard_error
    assert mean.lower <= SIZES.mean() <= mean.upper
    for members, row in enumerate(rows):
        assert abs(row.estimate - np.count_nonzero(members >= SIZES)) < 5.5 * row.standard_error
        held = min(round(row.estimate), USERS)
        assert row.standard_error**2 == pytest.approx(mechanism.variance_at(tally.messages, held))
