"""Binomial numbers against 40 to 50 digits, and the cut against a rigorous bound of the tail."""

import math
from fractions import Fraction
from itertools import product

import mpmath as mp
import numpy as np
import pytest

from helpers.sampled import among, rows
from mixtally.accounting.divergence.clear_uniform import _TAIL_ERROR
from mixtally.primitives import tails

SIZES = [1, 2, 5, 15, 16, 17, 100, 1000, 10**6, 10**8, 10**10]
CHANCES = [2.0**-40, 1e-9, 1e-6, 1e-3, 0.0123, 0.1, 0.3, 0.4999, 0.5]
LARGEST_CUT = mp.mpf(math.exp(-64.0))


@pytest.fixture(autouse=True)
def fifty_digits():
    with mp.workdps(50):
        yield


def true_pmf(n, q, k):
    n, q, k = mp.mpf(n), mp.mpf(q), mp.mpf(k)
    ways = mp.loggamma(n + 1) - mp.loggamma(k + 1) - mp.loggamma(n - k + 1)
    return mp.exp(ways + k * mp.log(q) + (n - k) * mp.log1p(-q))


def true_half_tail(n, first):
    if 2 * first < n - 4 * math.isqrt(n):
        return 1 - true_half_tail(n, n - first + 1)  # the sum below wants falling terms
    term, total, k = true_pmf(n, 0.5, first), mp.mpf(0), first
    while k <= n and term > total * mp.mpf(10) ** -25:
        total += term
        term *= mp.mpf(n - k) / (k + 1)
        k += 1
    return total


def worst_pmf_error(n, q):
    low, high = tails.window(n, q)
    got = tails.pmf(n, q, low, high)
    spread = {round(low + (high - low) * i / 24) for i in range(25)}
    true = {k: true_pmf(n, q, k) for k in spread}
    return float(max(abs(mp.mpf(got[k - low]) / p - 1) for k, p in true.items() if p > 1e-290))


def cut_above(n, q, last):
    """A rigorous upper bound of P(X > last): the ratio of two terms falls as they go out."""
    if last >= n:
        return mp.mpf(0)
    ratio = mp.mpf(n - last - 1) / (last + 2) * mp.mpf(q) / (1 - mp.mpf(q))
    assert ratio < 1
    return true_pmf(n, q, last + 1) / (1 - ratio)


@pytest.mark.parametrize("n", [n for n in SIZES if n <= 10**6])
@pytest.mark.parametrize("q", CHANCES)
def test_pmf_has_twelve_digits_up_to_a_million_trials(n, q):
    assert worst_pmf_error(n, q) < 1e-12


@pytest.mark.parametrize("n", [10**8, 10**10])
@pytest.mark.parametrize("q", [q for q in CHANCES if q <= 1e-3 or q == 0.5])
def test_pmf_has_twelve_digits_wherever_a_divergence_is_not_yet_zero(n, q):
    assert worst_pmf_error(n, q) < 1e-12


@pytest.mark.parametrize("n", [10**8, 10**10])
@pytest.mark.parametrize("q", [0.0123, 0.1, 0.3, 0.4999])
def test_pmf_has_twelve_digits_where_the_mean_is_huge_and_no_float(n, q):
    assert worst_pmf_error(n, q) < 1e-12


@pytest.mark.parametrize(("n", "q"), rows(product(SIZES, CHANCES), 4, kept=3))
def test_pmf_sums_to_one_over_the_window(n, q):
    assert abs(math.fsum(tails.pmf(n, q, *tails.window(n, q))) - 1.0) < 1e-12


@pytest.mark.parametrize("n", [1, 2, 7])
def test_pmf_of_a_few_trials_equals_the_fractions(n):
    got = tails.pmf(n, 0.375, 0, n)
    q = Fraction(3, 8)
    true = [math.comb(n, k) * q**k * (1 - q) ** (n - k) for k in range(n + 1)]
    assert got == pytest.approx([float(p) for p in true], rel=1e-14)


def test_pmf_of_a_part_is_a_part_of_the_pmf():
    whole = tails.pmf(30, 0.2, 0, 30)
    assert np.array_equal(tails.pmf(30, 0.2, 4, 9), whole[4:10])
    assert np.array_equal(tails.pmf(30, 0.2, 0, 3), whole[:4])
    assert np.array_equal(tails.pmf(30, 0.2, 28, 30), whole[28:])


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("q", CHANCES)
def test_what_the_window_cuts_is_below_the_stated_bound(n, q):
    low, high = tails.window(n, q)
    assert 0 <= low <= high <= n
    assert cut_above(n, q, high) < LARGEST_CUT
    # Below ``low`` of X is above ``n - low`` of the failures.
    assert cut_above(n, 1 - mp.mpf(q), n - low) < LARGEST_CUT


@pytest.mark.parametrize(("n", "q"), [(10**10, 1e-3), (10**6, 0.5), (1000, 0.3), (100, 2.0**-40)])
def test_the_window_leaves_room_for_one_more_record(n, q):
    assert cut_above(n, q, tails.window(n, q).last - 1) < LARGEST_CUT


def test_the_stated_bound_is_e_to_the_minus_64():
    assert mp.exp(-64) * (1 - mp.mpf("1e-15")) < tails.CUT_TAIL < mp.mpf("1.7e-28")


SIZES = (1, 2, 3, 10, 50, 100, 1000, 10**4, 10**5, 10**6, 10**7)


@pytest.mark.parametrize("n", among(SIZES, SIZES[:-2]))
def test_half_tails_and_points_keep_the_error_that_clear_uniform_accounts_for(n):
    sigmas = [0, 1, 3, 5, 8, 12, 20, 30]
    places = sorted({n // 2 + 1 + round(z * math.sqrt(n) / 2) for z in sigmas} | {n})
    for k in (k for k in places if k <= n):
        true_tail, point = true_half_tail(n, k), true_pmf(n, 0.5, k)
        if true_tail < 1e-280:
            continue
        trials, at = np.array([float(n)]), np.array([float(k)])
        tail_error = abs(mp.mpf(tails.upper_half_tail(trials, at)[0]) / true_tail - 1)
        here = abs(mp.mpf(tails.half_pmf(trials, at)[0]) / point - 1) if k < n else mp.mpf(0)
        assert tail_error + here < _TAIL_ERROR


def test_half_numbers_take_arrays_of_different_trials():
    trials, k = np.array([2.0, 3.0, 10.0]), np.array([1.0, 2.0, 4.0])
    assert tails.half_pmf(trials, k) == pytest.approx([1 / 2, 3 / 8, 210 / 1024], rel=1e-14)
    first = np.array([2.0, 2.0, 7.0])
    expected = [1 / 4, 1 / 2, 176 / 1024]
    assert tails.upper_half_tail(trials, first) == pytest.approx(expected, rel=1e-14)
    assert not len(tails.upper_half_tail(np.zeros(0), np.zeros(0)))


def test_more_tails_than_are_held_at_once_are_the_same():
    trials = np.arange(1000.0, 1500.0)
    first = np.floor(trials * 0.53) + 1.0
    whole = tails.upper_half_tail(trials, first)
    assert np.array_equal(tails.upper_half_tail(trials, first, 300), whole)


@pytest.mark.parametrize("k", [0, 1, 2, 15, 16, 17, 1000, 20_000, 10**9])
def test_logarithms_of_factorials(k):
    true = mp.loggamma(k + 1)
    assert abs(tails.log_factorials(np.array([k]))[0] - true) <= 1e-15 * max(1, abs(true))
