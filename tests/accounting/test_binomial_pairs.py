"""Distributions of flipped bits and their divergences against fractions and fifty digits."""

import contextlib
import itertools
import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from helpers.exact_distributions import sums
from helpers.sampled import among
from mixtally.accounting.numerics import binomial_pairs as two_distributions
from mixtally.accounting.numerics.binomial_pairs import (
    Pair,
    add_own_bits,
    convolve_flipped_bits,
    divergence,
    exchange_divergence,
    flip_chances,
    flip_count_pmf,
    prepare_pair,
    product_divergence,
)
from mixtally.errors import AccountingError
from mixtally.primitives import tails
from mixtally.primitives.fixed_point import SCALE

THRESHOLDS = [1 << 24, SCALE // 10**6 + 1, SCALE // 50, SCALE // 5 + 7, (1 << 63) - 1]
CROWDS = [(0, 1), (1, 0), (0, 9), (3, 4), (7, 2), (5, 0)]


def exact_pair(ones, zeros, threshold):
    """The sum with the person's one, and with a zero."""
    q = Fraction(threshold, SCALE)
    return sums(ones + 1, zeros, q), sums(ones, zeros + 1, q)


def pair(ones, zeros, threshold):
    return add_own_bits(
        *convolve_flipped_bits(ones, zeros, flip_chances(threshold)), flip_chances(threshold)
    )


def close(numbers, truths, within=1e-12):
    return len(numbers) == len(truths) and all(
        abs(Fraction(float(number)) - truth) <= Fraction(within) * truth
        for number, truth in zip(numbers, truths, strict=True)
    )


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("crowd", CROWDS)
def test_flipped_bits_have_the_distribution_of_fractions(crowd, threshold):
    pmf, cut = convolve_flipped_bits(*crowd, flip_chances(threshold))
    assert close(pmf, sums(*crowd, Fraction(threshold, SCALE)))
    assert 0.0 < cut <= 4 * tails.CUT_TAIL


def test_no_flipped_bits_are_a_sum_of_zero():
    pmf, cut = convolve_flipped_bits(0, 0, flip_chances(1 << 60))
    assert pmf.tolist() == [1.0]
    assert cut == 0.0


@pytest.mark.parametrize(
    ("trials", "mean"), [(10**4, 5000), (10**6, 34), (10**6, 1400), (10**10, 3000), (10**10, 1e-3)]
)
def test_flips_have_twelve_digits(trials, mean):
    threshold = min(1 << 63, round(mean / trials * SCALE))
    pmf = flip_count_pmf(trials, threshold)
    first, last = tails.window(trials, threshold / SCALE)
    assert len(pmf) == last - first + 1
    with mp.workdps(50):
        q = mp.mpf(threshold) / SCALE
        for k in np.linspace(first, last, 12).astype(int).tolist():
            truth = mp.binomial(trials, k) * q**k * (1 - q) ** (trials - k)
            assert truth < 1e-290 or abs(mp.mpf(float(pmf[k - first])) / truth - 1) < 1e-12


def test_long_runs_are_those_of_loader():
    long = flip_count_pmf(10**6, 1 << 60)
    assert len(long) > 2048
    run = two_distributions._pmf_by_ratios(10**6, 1.0 / 15.0, *tails.window(10**6, 2.0**-4))
    assert run == pytest.approx(long, rel=1e-11)


def positive_sum(gains):
    return sum(gain for gain in gains if gain > 0)


def truth_of_one(ones, zeros, threshold, grow):
    one, zero = exact_pair(ones, zeros, threshold)
    return positive_sum(a - grow * b for a, b in zip(one, zero, strict=True))


def truth_of_exchange(first, second, threshold, grow):
    (p1, q1), (p2, q2) = (exact_pair(*crowd, threshold) for crowd in (first, second))
    return positive_sum(
        p1[s] * q2[t] - grow * q1[s] * p2[t]
        for s, t in itertools.product(range(len(p1)), range(len(p2)))
    )


def holds(ends, truth):
    near = Fraction(1, 10**8)
    return ends.lower <= truth <= ends.upper and (
        ends.upper - truth <= near * truth + Fraction(1, 10**20)
        and truth - ends.lower <= near * truth + Fraction(1, 10**20)
    )


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 3.0])
def test_divergences_are_those_of_fractions(threshold, epsilon):
    grow = math.exp(epsilon)
    for crowd in CROWDS:
        truth = truth_of_one(*crowd, threshold, Fraction(grow))
        assert holds(divergence(pair(*crowd, threshold), grow), truth)


def exchange_faults(threshold, epsilon, steps=prepare_pair):
    grow = math.exp(epsilon)
    for first, second in itertools.product(CROWDS, repeat=2):
        truth = truth_of_exchange(first, second, threshold, Fraction(grow))
        one, two = (steps(pair(*crowd, threshold)) for crowd in (first, second))
        if not holds(exchange_divergence(one, two, grow), truth):
            yield first, second
        if not holds(product_divergence(one.pair, two.pair.swap(), grow), truth):
            yield first, second


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("epsilon", among([0.01, 1.0, 3.0], [0.01, 3.0]))
def test_divergences_of_two_bins_are_those_of_fractions(threshold, epsilon):
    assert not list(exchange_faults(threshold, epsilon))


@pytest.mark.parametrize(
    "change",
    [
        lambda s: s._replace(ratio=s.ratio[::-1]),
        lambda s: s._replace(tail_p=s.tail_q, tail_q=s.tail_p),
        lambda s: s._replace(tail_p=np.append(s.tail_p[1:], 0.0)),
        lambda s: s._replace(pair=s.pair.swap()),
    ],
    ids=["backwards", "tails exchanged", "one step off", "pair swapped"],
)
def test_wrong_steps_are_noticed(change):
    with contextlib.suppress(AccountingError, IndexError):
        assert list(exchange_faults(SCALE // 5, 1.0, lambda given: change(prepare_pair(given))))


def test_an_end_of_a_window_that_underflows_tells_nothing():
    """Hardly any flips: far out in the window the chances are below the least double."""
    far = pair(0, 60, 1 << 24)
    assert far.p[-1] == far.q[-1] == 0.0
    grow, truth = math.e, truth_of_one(0, 60, 1 << 24, Fraction(math.e))
    for given in (far, far.swap()):
        ratio = prepare_pair(given).ratio
        assert np.isfinite(ratio).all()
        assert (np.diff(ratio) >= 0.0).all()
    ends = exchange_divergence(prepare_pair(far), prepare_pair(pair(60, 0, 1 << 24)), grow)
    assert ends.upper >= truth > 1 - 1e-9
    backwards = product_divergence(far.swap(), far, grow)
    assert backwards.upper >= truth_of_exchange((60, 0), (60, 0), 1 << 24, Fraction(grow)) > 0.99


@pytest.mark.parametrize("spoiled", [math.nan, math.inf])
def test_a_spoiled_distribution_never_becomes_a_promise(spoiled):
    pmf, honest = np.array([0.25, spoiled, 0.25]), np.full(3, 0.3)
    for given in (Pair(pmf, honest, 0.0), Pair(honest, pmf, 0.0)):
        with pytest.raises(AccountingError), np.errstate(invalid="ignore"):
            divergence(given, 2.0)
