"""Sum, mean, squares and quantiles of rounded numbers: right without noise, honest with it."""

import itertools
import json
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from helpers.named import clear_shaped, clear_uniform, flip_blank, flip_uniform
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.grid import Grid
from mixtally.model.shape import ratio_of
from mixtally.primitives.fixed_point import threshold_of
from mixtally.protocol.encode.numbers import round_to_grid
from mixtally.protocol.estimate.cumulants import Cumulants, cumulants
from mixtally.protocol.estimate.numbers import QUANTILES, RoundedNumbers, summary
from reference.played import play

GOLDEN = json.loads(Path(__file__).with_name("rounded_golden.json").read_text())
GRID = Grid(low=0.0, high=100.0, points=40)
USERS = 4000
VALUES = 100.0 * ((np.arange(USERS) + 0.5) / USERS) ** 2
PROTOCOLS = {
    "flips": flip_blank(bins=40, fakes=4000, threshold=threshold_of(0.05)),
    "uniform": clear_uniform(bins=40, fakes=12_000),
    "flips, uniform": flip_uniform(bins=40, fakes=12_000, threshold=threshold_of(0.01)),
    "shaped": clear_shaped(bins=40, ratio=ratio_of(0.1), shift=100),
}
RUNS = 300


def normal(variance, points=40):
    return Cumulants(variance, np.zeros(points), 0.0)


def found(counts, noise=None, grid=GRID, users=USERS):
    counts = np.asarray(counts, dtype=float)
    return RoundedNumbers(counts, grid, users, noise or normal(0.0, counts.size))


def hats(values, grid=GRID):
    """What counts are on average over all rounding."""
    place = (np.clip(values, grid.low, grid.high) - grid.low) / grid.step
    return np.maximum(0.0, 1.0 - np.abs(place[:, None] - np.arange(grid.points))).sum(axis=0)


def law(case):
    """Every outcome of rounding and of uniform fakes with its chance: counts less m / B."""
    lo, hi = Fraction(case["lo"]), Fraction(case["hi"])
    points, fakes = case["B"], case["m"]
    step = (hi - lo) / (points - 1)
    ways = [Counter({(0,) * points: Fraction(1)})]
    moves = []
    for y in map(Fraction, case["ys"]):
        t = (min(max(y, lo), hi) - lo) / step
        i = min(t.numerator // t.denominator, points - 2)
        moves.append({i: 1 - (t - i), i + 1: t - i})
    moves += [dict.fromkeys(range(points), Fraction(1, points))] * fakes
    for move in moves:
        after = Counter()
        for (counts, chance), (place, more) in itertools.product(ways[-1].items(), move.items()):
            grown = tuple(c + (i == place) for i, c in enumerate(counts))
            after[grown] += chance * more
        ways.append(after)
    return ways[-1]


@pytest.mark.parametrize("case", GOLDEN["exact"])
def test_the_sum_has_the_law_that_brute_force_finds(case):
    """Mean and variance of the estimated sum over every outcome, beside exact fractions.

    The second moment is off by what rounding adds, and its resolution holds that.
    """
    grid = Grid(low=float(case["lo"]), high=float(case["hi"]), points=case["B"])
    users, fakes = len(case["ys"]), case["m"]
    chances, sums, squares, variances = [], [], [], []
    mechanism = clear_uniform(bins=grid.points, fakes=fakes)
    for counts, chance in law(case).items():
        unbiased = np.array(counts) - fakes / grid.points
        noise = cumulants(mechanism, users + fakes, unbiased)
        one = found(unbiased, noise, grid, users)
        chances.append(float(chance))
        sums.append(one.sum(0.95).estimate)
        squares.append(users * one.second_moment(0.95).estimate)
        variances.append(one.variance(0.95).estimate)
    mean = np.dot(chances, sums)
    assert mean == pytest.approx(float(Fraction(case["sum"])), rel=1e-12)
    variance = np.dot(chances, (np.array(sums) - mean) ** 2)
    assert variance == pytest.approx(float(Fraction(case["variance_of_sum"])), rel=1e-12)
    noise_alone = fakes * grid.step**2 * (grid.points**2 - 1) / 12
    assert variance <= noise_alone + grid.rounding_variance(users) + 1e-12
    stated = one.sum(0.95).standard_error ** 2
    assert stated == pytest.approx(noise_alone + grid.rounding_variance(users))
    raw = float(Fraction(case["mean_of_second_moment"]))
    assert np.dot(chances, squares) == pytest.approx(raw - users * grid.step**2 / 8)
    clipped = np.clip([float(Fraction(y)) for y in case["ys"]], grid.low, grid.high)
    assert abs(np.dot(chances, squares) - np.sum(clipped**2)) <= users * grid.step**2 / 8 + 1e-9
    assert abs(np.dot(chances, variances) - clipped.var()) <= grid.step**2 / 8 + 1e-9


def test_without_noise_or_rounding_numbers_are_right():
    """Counts as they are on average: the mean exactly, all else within its resolution."""
    rows = {row.label: row for row in summary(found(hats(VALUES)), 0.95)}
    assert rows["mean"].estimate == pytest.approx(VALUES.mean(), rel=1e-12)
    assert rows["sum"].estimate == pytest.approx(VALUES.sum(), rel=1e-12)
    assert rows["mean"].resolution is None
    for name, true in (("second moment", np.mean(VALUES**2)), ("variance", VALUES.var())):
        assert abs(rows[name].estimate - true) <= rows[name].resolution
        assert rows[name].resolution == pytest.approx(GRID.step**2 / 8)
    for share, true in zip(QUANTILES, np.quantile(VALUES, QUANTILES), strict=True):
        row = rows[f"{100 * share:g} % quantile"]
        assert row.lower <= true <= row.upper
        assert row.estimate == pytest.approx(true, abs=GRID.step)
        assert row.resolution == pytest.approx(2 * GRID.step)
        assert row.upper - row.lower <= 4 * GRID.step + 1e-9


def test_a_mean_has_no_resolution():
    """The interval is the chance of rounding alone, 1.96 w / (2 sqrt n) on each side."""
    row = found(hats(VALUES)).mean(0.95)
    half = 1.959964 * GRID.step / 2 / np.sqrt(USERS)
    assert (row.lower, row.upper) == pytest.approx((row.estimate - half, row.estimate + half))
    change = found(hats(VALUES)).change_to(found(hats(VALUES)), 0.95)
    assert change.upper == pytest.approx(half * np.sqrt(2))
    assert change.lower == -change.upper


def test_the_running_sums_are_averages_of_the_share_below():
    """Over every step, exactly: people spread out in it count by how far it is to its end."""
    passed, low, high = found(hats(VALUES)).cumulative_counts(0.95)
    fine = np.linspace(0.0, 100.0, 39_001)
    below = np.searchsorted(VALUES, fine, side="right") / USERS
    averages = [np.trapezoid(below[i : i + 1001], dx=1 / 1000) for i in range(0, 39_000, 1000)]
    assert passed / USERS == pytest.approx(averages, abs=1e-5)
    assert (low <= passed).all()
    assert (passed <= high).all()


def test_a_quantile_at_a_point_needs_both_steps():
    """Everybody half a step beyond a point, or just above one: what one step alone would miss."""
    for offset in (1e-9, 0.5, 1 - 1e-9):
        values = np.full(USERS, GRID.step * (10 + offset))
        (row,) = found(hats(values)).quantiles([0.5], 0.95)
        assert row.lower <= values[0] <= row.upper
    two = Grid(low=0.0, high=1.0, points=2)
    (row,) = found([2000.0, 2000.0], grid=two).quantiles([0.5], 0.95)
    assert (row.lower, row.upper) == (0.0, 1.0)


def estimates(mechanism, runs=RUNS):
    """Means over runs of rounding and playing, the naive sums beside them, the stated error."""
    chance, messages = SeededChance(4), USERS + mechanism.fakes_promised
    means, naive = [], []
    for _ in range(runs):
        codes = round_to_grid(GRID, VALUES, chance.words(USERS))
        counts = mechanism.debias_counts(play(mechanism, codes, chance).counts, messages)
        one = found(counts, cumulants(mechanism, messages, counts))
        means.append(one.mean(0.95).estimate)
        naive.append(counts @ GRID.values / USERS)
    return np.array(means), np.array(naive), one.mean(0.95).standard_error


@pytest.mark.parametrize("name", PROTOCOLS)
def test_the_mean_is_unbiased_with_the_stated_error(name):
    """False alarm below 10^-4: bias of 5 standard errors, spread of 300 normal means by 20 %.

    Rounding is stated at its worst, three halves of what it is here, of which little is seen.
    """
    means, _, error = estimates(PROTOCOLS[name])
    assert abs(means.mean() - VALUES.mean()) < 5 * error / np.sqrt(RUNS)
    assert 0.7 * error < means.std() < 1.2 * error


@pytest.mark.parametrize("name", ["flips", "shaped"])
def test_the_twin_with_another_origin_errs_more(name):
    """sum g_i z_i / n, the origin at 0 and what the counts lack left out."""
    _, naive, error = estimates(PROTOCOLS[name])
    assert naive.std() > 1.5 * error


def test_an_interval_is_there_whatever_the_noise_did():
    for seed in range(200):
        noise = SeededChance(seed).words(40).astype(float) / 2.0**62 - 2.0
        for row in summary(found(hats(VALUES) + 500 * noise, normal(1.0)), 0.95):
            assert np.isfinite([row.estimate, row.lower, row.upper]).all()
            assert row.lower <= row.upper
            if row.label not in ("sum", "second moment", "variance"):
                assert row.lower >= 0
                assert row.upper <= 100


LEANING = Cumulants(80.0, np.linspace(20.0, 900.0, 40), 4000.0)


def test_running_sums_from_the_other_end_have_the_same_intervals():
    """How many lie below a step is the people without those above it, and leans the other way."""
    counts = hats(VALUES)
    _, low, high = found(counts, LEANING).cumulative_counts(0.95)
    turned = Cumulants(80.0, LEANING.third[::-1], 4000.0)
    _, low_above, high_above = found(counts[::-1], turned).cumulative_counts(0.95)
    assert low == pytest.approx(USERS - high_above[::-1])
    assert high == pytest.approx(USERS - low_above[::-1])
    assert np.abs((high + low) / 2 - np.cumsum(counts)[:-1]).max() > 1  # they do lean


def test_the_change_back_is_the_change_turned_over():
    counts = hats(VALUES)
    before = found(counts, Cumulants(80.0, np.linspace(0.0, 5000.0, 40), 4000.0))
    after = found(np.roll(counts, 1), Cumulants(80.0, np.linspace(900.0, 0.0, 40), 4000.0))
    there, back = before.change_to(after, 0.95), after.change_to(before, 0.95)
    assert (there.lower, there.upper) == pytest.approx((-back.upper, -back.lower))
