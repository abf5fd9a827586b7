"""Counts from memoized answers: unbiased, with the errors stated, and what averaging tells."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from mixtally.errors import ParameterError
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.mechanism.memoized import make_memoized
from mixtally.primitives.bits import one_hot_rows
from mixtally.primitives.counting import column_counts
from mixtally.protocol.estimate.memoized import (
    debias_reports,
    estimate_memoized,
    least_ones,
    recovery,
)
from mixtally.protocol.randomize.memoized import draw_permanent_response, draw_reports

PRINTED = {1: 0.375, 5: 0.277, 20: 0.117, 100: 0.004}


def mechanism_of(bins=8, f=0.5, p=0.5, q=0.75):
    return make_memoized(bins, f, p, q)


def played(mechanism, codes, reports, runs, seed):
    """How many people showed a 1, shape (runs, reports, bins)."""
    chance, records = SeededChance(seed), one_hot_rows(codes, mechanism.bins)
    ones = np.empty((runs, reports, mechanism.bins), dtype=np.int64)
    for run in range(runs):
        memoized = draw_permanent_response(mechanism, records, chance)
        for turn in range(reports):
            ones[run, turn] = column_counts(
                draw_reports(mechanism, memoized, chance), mechanism.bins
            )
    return ones


def enumerated(f, p, q, reports, true):
    """Mean and variance of the mean of the reports of one bit, summed over every outcome."""
    f, p, q = Fraction(f), Fraction(p), Fraction(q)
    first = second = Fraction(0)
    for held, *shown in itertools.product((0, 1), repeat=reports + 1):
        chance = 1 - f / 2 if held == true else f / 2
        for bit in shown:
            one = q if held else p
            chance *= one if bit else 1 - one
        mean = Fraction(sum(shown), reports)
        first, second = first + chance * mean, second + chance * mean**2
    return first, second - first**2


@pytest.mark.parametrize("reports", [1, 2, 5])
@pytest.mark.parametrize("numbers", [(0.5, 0.5, 0.75), (0.25, 0.0, 0.5), (0.75, 0.25, 1.0)])
def test_mean_and_variance_are_those_of_every_outcome(numbers, reports):
    mechanism = mechanism_of(2, *numbers)
    zero, one = (enumerated(*numbers, reports, true) for true in (0, 1))
    assert mechanism.offset == pytest.approx(float(zero[0]), rel=1e-14)
    assert mechanism.gain == pytest.approx(float(one[0] - zero[0]), rel=1e-14)
    assert mechanism.variance(reports, 0.0, 1.0) * mechanism.gain**2 == pytest.approx(
        float(zero[1])
    )
    assert mechanism.variance(reports, 1.0, 0.0) * mechanism.gain**2 == pytest.approx(float(one[1]))


def test_planner_and_estimator_state_the_same_error():
    found = estimate_memoized(mechanism_of(), np.zeros((7, 8), dtype=np.int64), 100)
    assert found.all_reports == mechanism_of().standard_error(100, 7)


def test_the_errors_are_those_of_who_holds_a_bit_and_who_does_not():
    """By enumeration, where the reports of a holder vary three times as much as others'."""
    f, p, q, people = 0.25, 0.05, 0.5, 400
    mechanism = mechanism_of(3, f, p, q)
    (low, none), (high, all_) = (enumerated(f, p, q, 2, true) for true in (0, 1))
    held = np.array([0.0, 100.0, 400.0])
    shown = np.round(held * float(high) + (people - held) * float(low)).astype(np.int64)
    found = estimate_memoized(mechanism, np.array([shown, shown]), people)
    inside = np.clip(found.counts, 0.0, people)
    wanted = (inside * float(all_) + (people - inside) * float(none)) / mechanism.gain**2
    assert found.standard_errors**2 == pytest.approx(wanted, rel=1e-9)
    assert wanted[2] > 2.0 * wanted[0]


def study(seed=1, bins=500, people=2000, reports=3, runs=100):
    """True counts, ones and mechanism of many small collections."""
    mechanism, codes = mechanism_of(bins), np.arange(people) ** 2 % 197
    ones = played(mechanism, codes, reports, runs, seed)
    return mechanism, np.bincount(codes, minlength=bins), ones, people


def measured(mechanism, truth, ones, people):
    """Mean error, and mean square error over its theory, averaged and from the first reports."""
    found = [estimate_memoized(mechanism, run, people) for run in ones]
    reports = ones.shape[1]
    errors = np.array([one.counts for one in found]) - truth
    first = np.array([one.by_report[0] for one in found]) - truth
    theory = mechanism.variance(reports, truth.astype(float), people - truth)
    theory_first = mechanism.variance(1, truth.astype(float), people - truth)
    ratio = float((errors**2 / theory).mean())
    return float(errors.mean()), ratio, float((first**2 / theory_first).mean())


def test_unbiased_with_the_error_of_theory():
    """100 collections of 500 bins: n * MSE within 3 % of theory, 4.7 deviations.

    False alarm 3e-6 for each of the two, 6e-7 for the mean.
    """
    mechanism, truth, ones, people = study()
    bias, ratio, first = measured(mechanism, truth, ones, people)
    spread = math.sqrt(mechanism.variance(3, 0.0, float(people)) / ones[:, 0].size)
    assert abs(bias) < 5 * spread
    assert 0.97 < ratio < 1.03
    assert 0.97 < first < 1.03


def test_debiasing_that_forgets_what_was_kept_is_found():
    mechanism, truth, ones, people = study(runs=10)
    forgets = mechanism_of(500, 2.0**-40)
    counts = debias_reports(forgets, ones.mean(axis=(0, 1)), people)
    spread = math.sqrt(mechanism.variance(3, 0.0, float(people)) / (ones.size / 3))
    assert abs((counts - truth).mean()) > 5 * spread


def test_an_error_that_averages_away_wholly_is_found():
    """Theory with independent reports: what is kept would average too."""
    mechanism, truth, ones, people = study(reports=20, runs=10)
    counts = np.array([estimate_memoized(mechanism, run, people).counts for run in ones])
    wrong = mechanism.variance(1, truth.astype(float), people - truth) / 20
    assert ((counts - truth) ** 2 / wrong).mean() > 1.03


def coverage(runs=2500, widen=1.0):
    """Share of intervals that hold the truth; no count is near an end, so none is clipped there."""
    mechanism, codes = mechanism_of(8), np.arange(8000) % 8
    memoized = played(mechanism, codes, 3, runs, 7)
    truth, held = np.full(8, 1000), 0
    for run in memoized:
        each = estimate_memoized(mechanism, run, 8000).individual
        middle, half = (each.lower + each.upper) / 2, (each.upper - each.lower) / 2 * widen
        held += int((np.abs(truth - middle) <= half).sum())
    return held / (8 * runs)


@pytest.mark.slow
def test_intervals_hold_the_truth_as_often_as_they_say():
    """20,000 intervals: 94 % to 96 % is 6.5 deviations, false alarm below 1e-9."""
    assert 0.94 < coverage() < 0.96


def test_intervals_hold_the_truth_in_a_small_study():
    """1,200 intervals at 95 %: within 3.5 points, 5.5 deviations, false alarm 4e-8."""
    assert 0.915 < coverage(150) < 0.985


def test_intervals_that_are_too_short_are_found():
    assert coverage(150, widen=0.75) < 0.915


def test_more_reports_lower_the_error_to_a_floor():
    found = [
        estimate_memoized(mechanism_of(), np.zeros((t, 8), dtype=np.int64), 9) for t in (1, 9, 999)
    ]
    errors = [one.all_reports for one in found]
    assert errors[0] > errors[1] > errors[2] > found[2].floor > 0.95 * errors[2]


@pytest.mark.parametrize("reports", PRINTED)
def test_averaging_recovers_the_kept_bit(reports):
    assert recovery(mechanism_of(), reports).memoized == pytest.approx(PRINTED[reports], abs=5e-4)


@pytest.mark.parametrize("reports", [1, 2, 3, 8])
@pytest.mark.parametrize("shown", [(0.5, 0.75), (0.0, 0.5), (0.5, 1.0), (0.0, 1.0), (0.1, 0.2)])
def test_no_other_guess_recovers_more(shown, reports):
    """Against the best of all guesses from the number of ones, by enumeration."""
    mechanism = mechanism_of(2, 0.5, *shown)

    def law(chance, k):
        return math.comb(reports, k) * chance**k * (1 - chance) ** (reports - k)

    best = sum(min(law(shown[0], k), law(shown[1], k)) for k in range(reports + 1)) / 2
    assert recovery(mechanism, reports).memoized == pytest.approx(best, abs=1e-14)
    assert 0 < least_ones(mechanism, reports) <= reports + 1


def guessed(reports, truth, seed=3):
    """Mean share of wrong guesses about the kept and the true bits of many people."""
    mechanism, chance = mechanism_of(8), SeededChance(seed)
    records = one_hot_rows(np.arange(20_000) % 8, 8)
    memoized = draw_permanent_response(mechanism, records, chance)
    ones = sum(
        np.unpackbits(draw_reports(mechanism, memoized, chance), axis=1).astype(int)
        for _ in range(reports)
    )
    guess = ones >= least_ones(mechanism, reports)
    held = np.unpackbits(records if truth else memoized, axis=1).astype(bool)
    return (float((~guess[held]).mean()) + float(guess[~held].mean())) / 2


@pytest.mark.parametrize("reports", PRINTED)
def test_the_kept_bit_is_recovered_and_the_true_one_never(reports):
    """Measured on 160,000 bits, 20,000 of them true ones: within 0.01, 5.6 deviations or more at
    the smaller half; false alarm below 3e-8 a case."""
    exact = recovery(mechanism_of(), reports)
    assert guessed(reports, truth=False) == pytest.approx(PRINTED[reports], abs=0.01)
    assert guessed(reports, truth=True) == pytest.approx(exact.true, abs=0.01)
    assert exact.true > 0.25


def test_the_true_bit_tends_to_half_of_f():
    assert recovery(mechanism_of(), 3000).true == pytest.approx(0.25, abs=1e-9)


@pytest.mark.parametrize("level", [0.0, 1.0, -1.0, math.nan])
def test_impossible_levels_are_refused(level):
    with pytest.raises(ParameterError, match="confidence level"):
        estimate_memoized(mechanism_of(), np.zeros((1, 8), dtype=np.int64), 9, level=level)


def test_answers_kept_as_coins_are_refused():
    with pytest.raises(ParameterError, match="reveal nothing"):
        estimate_memoized(mechanism_of(8, 1.0), np.zeros((1, 8), dtype=np.int64), 9)
