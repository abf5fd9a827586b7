"""What makes expectations of a positive part quick: counts, skipped frequencies, ruled-out
distributions.
"""

import math
import time

import mpmath
import numpy as np
import pytest
from scipy import stats

from accounting.test_saddle_point import WHOLE, exactly, one_sided, pmf
from helpers.sampled import rows
from mixtally.accounting.divergence import k_hot
from mixtally.accounting.numerics import count_enumeration as few_atoms
from mixtally.accounting.numerics import frequencies, saddle_line
from mixtally.accounting.numerics.bracket import Bracket, larger
from mixtally.accounting.numerics.draws import Draws, Power
from mixtally.accounting.numerics.flip_ratios import (
    Orbit,
    dilute,
    flip_distribution,
    uniform_distribution,
)
from mixtally.accounting.numerics.largest import largest, largest_upper
from mixtally.accounting.numerics.saddle_point import (
    NOTHING,
    ceiling,
    prepare_expectation,
    saddle_point_bounds,
    upper_of_prepared,
)
from mixtally.primitives.fixed_point import threshold_of

RARE = [  # heavy values so rare that the sum's atoms stand far apart
    ((-1, 20011), (1 - 2**-20, 2**-20), 5000),
    ((-3, 997, 15013), (1 - 2**-11 - 2**-16, 2**-11, 2**-16), 150),
    ((-900, -1, 20000), (2**-12, 1 - 2**-12 - 2**-18, 2**-18), 150),
    ((-1, 0, 25), (2**-3, 1 - 2**-3 - 2**-10, 2**-10), 100),
]


def by_counts(values, chances, count, gain=lambda value: value):
    """(1/count) E[gain(sum), sum > 0] of two or three values to fifty digits, over all counts."""
    total = mpmath.mpf(0)
    with mpmath.workdps(50):
        p, q, r = (mpmath.mpf(chance) for chance in (*chances, 0.0)[:3])
        for i in range(count + 1):
            for j in range(count + 1 - i) if r else (count - i,):
                k = count - i - j
                value = i * values[0] + j * values[1] + (k * values[2] if r else 0)
                if value > 0:
                    total += (
                        math.comb(count, i)
                        * math.comb(count - i, j)
                        * p**i
                        * q**j
                        * r**k
                        * gain(value)
                    )
        return total / count


RARE_FEW = [
    ((-1, 90), (1 - 2**-8, 2**-8)),
    ((-3, 0, 40), (2**-2, 1 - 2**-2 - 2**-6, 2**-6)),
]


@pytest.mark.seconds
@pytest.mark.usefixtures("unsmoothed")
@pytest.mark.parametrize(("values", "chances", "count"), RARE)
def test_rare_heavy_values_are_counted(values, chances, count):
    truth = by_counts(values, chances, count)
    ends = saddle_point_bounds(pmf(values, chances), count)
    assert one_sided(ends, truth)
    assert ends.upper <= truth * (1 + 3e-9)
    assert ends.lower >= truth * (1 - 3e-9)


CROWDS = [Draws(2, 40, 0.05), Draws(5, 10**6, 3e-6), Draws(1, 12, 0.5)]


def counted_of(values, chances, draws):
    """The mean over every number of draws, and what counting makes of it."""
    numbers = range(min(draws.trials, 60) + 1)
    shares = stats.binom(draws.trials, draws.share).pmf(numbers)
    truth = math.fsum(
        share * exactly(values, chances, draws.certain + more)
        for more, share in zip(numbers, shares, strict=True)
    )
    return truth, prepare_expectation(pmf(values, chances), draws).saddle.sum_by_counts(1 << 24)


@pytest.mark.parametrize("draws", CROWDS, ids=str)
@pytest.mark.parametrize(("values", "chances"), rows(RARE_FEW, 2))
def test_a_random_number_of_draws_is_counted(values, chances, draws):
    truth, (value, smoothed, cut) = counted_of(values, chances, draws)
    assert value == pytest.approx(truth, rel=1e-9)
    assert truth <= value + cut <= truth * (1.0 + 1e-9)
    assert smoothed == 0.0
    assert math.fsum(share for _, share in draws.numbers) == pytest.approx(1.0)


def test_many_numbers_of_draws_are_not_counted():
    assert not Draws(1, 10**6, 0.5).numbers
    assert (
        prepare_expectation(pmf(*RARE_FEW[0]), Draws(1, 10**6, 0.5)).saddle.sum_by_counts(1 << 24)
        is None
    )


@pytest.mark.parametrize(("values", "chances"), rows(WHOLE, 2))
def test_quick_upper_ends_are_upper_ends(values, chances):
    for count in (2, 10, 100):
        truth, ends = (
            exactly(values, chances, count),
            saddle_point_bounds(pmf(values, chances), count),
        )
        assert truth <= ceiling(pmf(values, chances), count)
        assert (
            upper_of_prepared(prepare_expectation(pmf(values, chances), Draws(count)), 0.0)
            == ends.upper
        )
        for least in (ends.upper / 2.0, 2.0 * ends.upper, 1.0):
            found = upper_of_prepared(
                prepare_expectation(pmf(values, chances), Draws(count)), least
            )
            assert truth <= found
            assert found == ends.upper or found <= least


def test_what_is_almost_nothing_is_told_from_nothing():
    ends = saddle_point_bounds(flip_distribution(Orbit(0, 40, 0), 0.374, math.exp(2.0)), 10**7)
    assert ends == Bracket(0.0, NOTHING)


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("count", [10, 10**6, 10**10])
def test_powers_hold_fifty_digits_and_what_is_left_out_is_small(count, apart):
    """Against 50-digit powers: at each frequency kept, and below the bound wherever not."""
    values, weights = np.array([-7.1, 0.002, 3.3, 900.0]), np.array([2.0, 90.0, 3.0, 0.5])
    weights = weights / weights.sum() * np.array([1, 1, 1, 0.999999])
    if count > 10:
        weights[[0, 2, 3]] *= 10.0 / count
        weights[1] = 1.0 - weights[[0, 2, 3]].sum()
    if apart:
        values[1] = 0.0
    step, spread, turn = 0.0137, 2e-3, 0.7
    wave = frequencies.Wave(values, weights, Power(count), apart)
    rows = list(wave.rows(step, 6000, spread, turn))
    kept = {
        round(w / step): complex(x, y)
        for row in rows
        for w, x, y in zip(row.omega.flat, row.real.flat, row.imaginary.flat, strict=True)
    }
    skipped, digits = mpmath.mpf(0), mpmath.workdps(50)
    with digits:
        for k in range(0, 6000, 29):
            turns = [mpmath.expjpi(k * mpmath.mpf(step) * v / mpmath.pi) - 1 for v in values]
            parts = [mpmath.mpf(w) * turn for w, turn in zip(weights, turns, strict=True)]
            phi, grain = 1 + sum(parts), k * step * float(np.dot(weights, np.abs(values)))
            zeros = (1 - sum(map(mpmath.mpf, weights[[0, 2, 3]]))) ** count if apart else 0
            power = (phi**count - zeros) * mpmath.exp(-((k * step * spread) ** 2) / 2)
            power *= mpmath.expj(k * step * turn)
            if k in kept:
                assert abs(kept[k] - power) <= 16 * 2.0**-52 * (1 + count * grain)
            else:
                skipped += abs(power)
    assert skipped <= sum(row.omitted_bound for row in rows) <= 1e-15


@pytest.mark.parametrize("width", [1e-3, 0.1, 2.0, 50.0])
def test_the_bound_of_a_block_holds_within_it(width):
    values, weights = np.array([-4.0, -0.5, 0.25, 31.0]), np.array([0.1, 0.5, 0.3, 0.1])
    wave, starts = frequencies.Wave(values, weights, Power(25)), np.linspace(0.0, 60.0, 400)
    inside = starts[:, None] + np.linspace(0.0, width, 50)
    true = 25 * np.log(np.abs(np.exp(1j * inside[..., None] * values) @ weights))
    assert np.all(wave.ceilings(starts, width, 0.0) >= true.max(axis=1) - 1e-9)


@pytest.mark.parametrize("zeros", [0.3, 0.9, 0.999])
@pytest.mark.parametrize("width", [1e-3, 0.1, 2.0, 50.0])
def test_the_bound_of_a_block_without_the_zeros_holds_within_it(width, zeros):
    values, weights = np.array([-4.0, 0.0, 0.25, 31.0]), np.array([0.5, 0.0, 0.4, 0.1])
    weights *= 1.0 - zeros
    weights[1] = zeros
    wave, starts = frequencies.Wave(values, weights, Power(25), True), np.linspace(0.0, 60.0, 400)
    inside = starts[:, None] + np.linspace(0.0, width, 50)
    true = np.abs((np.exp(1j * inside[..., None] * values) @ weights) ** 25 - zeros**25)
    assert np.all(np.exp(wave.ceilings(starts, width, 0.0)) >= true.max(axis=1) * (1 - 1e-9))
    assert wave.log_zeros == pytest.approx(25 * math.log(zeros))


@pytest.mark.parametrize("chance", [0.2, 0.02, 1e-3])
@pytest.mark.parametrize("count", [10, 60, 400])
def test_sums_of_nothing_but_zeros_are_none(chance, count, monkeypatch):
    """Most draws are zero: the whole distribution of the sum, added up, and few integrals."""
    values = np.array([-12.0, 0.0, 10.0])
    chances = np.array([0.6 * chance, 1.0 - chance, 0.4 * chance])
    whole, one = np.array([1.0]), np.zeros(23)
    one[[0, 12, 22]] = chances
    for _ in range(count):
        whole = np.convolve(whole, one)
    sums = np.arange(len(whole)) - 12.0 * count
    truth = float((whole * np.maximum(sums, 0.0)).sum()) / count
    monkeypatch.setattr(saddle_line.Saddle, "sum_by_counts", lambda *_: None)
    ends = saddle_point_bounds(pmf(values, chances), count)
    assert ends.lower <= truth <= ends.upper <= truth * 1.01


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 20.0])
def test_what_is_ruled_out_is_not_the_largest(epsilon):
    grow = math.exp(epsilon)
    distributions = [flip_distribution(orbit, 0.1, grow) for orbit in k_hot.list_orbits(2)]
    distributions += [
        dilute(uniform_distribution(5, apart, 0.2, grow), 0.4**5) for apart in range(1, 6)
    ]
    every = larger(*(saddle_point_bounds(one, 3000) for one in distributions))
    assert largest(distributions, 3000, saddle_point_bounds) == every
    assert largest_upper(distributions, Draws(3000)) == pytest.approx(
        every.upper, rel=1e-3, abs=2 * NOTHING
    )
    assert largest_upper(distributions, Draws(3000)) <= every.upper


def test_the_upper_end_of_a_crowd_is_that_of_its_bracket():
    threshold = threshold_of(0.08)
    ends = k_hot.delta_in_crowd(10**6, 0, 2, threshold, 1.0)
    assert k_hot.upper(10**6, 0, 2, threshold, 1.0) == ends.upper


def test_large_epsilon_costs_no_more_time_than_a_small_one():
    start = time.process_time()
    for apart in range(1, 11):
        saddle_point_bounds(
            dilute(uniform_distribution(10, apart, 0.11, math.exp(20.0)), 0.22**10), 10**6
        )
    assert time.process_time() - start < 5.0


def test_a_value_whose_chance_is_zero_may_be_drawn_once():
    kept = few_atoms.find_count_windows(np.array([1.0 - 1e-5, 1e-5, 0.0]), 1000, 20)
    assert kept.windows == [(0, 9), (0, 1)]
    assert few_atoms.find_count_windows(np.array([1.0 - 1e-5, 1e-5, 0.0]), 1000, 19) is None


def test_counts_stand_in_the_order_of_their_values_however_often_they_occur():
    kept = few_atoms.find_count_windows(np.array([1e-6, 1.0 - 2e-3, 2e-3 - 1e-6]), 1000, 1 << 20)
    assert kept.others == [0, 2]
    assert kept.windows[0][1] < kept.windows[1][1]


RARE_MOVES = pmf(
    (-2.905e5, -2.64e-7, 0.0, 7e-12, 8.0),
    (7.5e-37, 2.25e-36, 1.0 - 6e-36, 2.25e-36, 7.5e-37),
)


def test_what_moves_once_in_a_universe_is_no_negative_number():
    """97 people and 3 bits at epsilon 10.5: rounding left -1e-21 of 6e-36."""
    for count in (2, 45, 97):
        ends = saddle_point_bounds(RARE_MOVES, count)
        assert 0.0 <= ends.lower <= 8.0 * 7.5e-37 <= ends.upper < 1e-30
