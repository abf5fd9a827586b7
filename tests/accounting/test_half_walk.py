"""Chances of clear-uniform that follow from their neighbors, against 50 digits."""

import math

import mpmath as mp
import numpy as np
import pytest

from mixtally.accounting.divergence import clear_uniform
from mixtally.errors import AccountingError
from mixtally.primitives import tails

LENGTHS = [(200, 300), (1000, 700), (40_000, 4000), (375_000, 14_000), (2 * 10**6, 30_000)]
"""The first number of tosses and how many numbers follow."""


@pytest.fixture(autouse=True)
def fifty_digits():
    with mp.workdps(50):
        yield


def true_point(m, k):
    return mp.binomial(m, k) / mp.mpf(2) ** m


def true_tail(m, k):
    """P(Bin(m, 1/2) > k) for k >= m / 2, by falling plan."""
    term = true_point(m, k + 1)
    total, j = mp.mpf(0), k + 1
    while term > total * mp.mpf(10) ** -40:
        total += term
        term *= mp.mpf(m - j) / (j + 1)
        j += 1
    return total


def run(first, count, epsilon):
    trials = np.arange(first, first + count, dtype=np.float64)
    return trials, np.floor((trials + 1.0) * (1.0 / (1.0 + math.exp(-epsilon))))


def walk_holds(first, count, epsilon):
    """Whether points and tails are as near the truth as they say, and that is near enough."""
    trials, k = run(first, count, epsilon)
    walk = tails.half_walk(trials, k)
    assert walk is not None
    for i in {0, 1, 2, count // 3, count // 2, count - 3, count - 2, count - 1}:
        m, at = int(trials[i]), int(k[i])
        point, tail = true_point(m, at), true_tail(m, at)
        if point < 1e-60:
            continue
        if abs(mp.mpf(walk.points[i]) / point - 1) > walk.share:
            return False
        if abs(mp.mpf(walk.tails[i]) - tail) > walk.errors[i]:
            return False
        if math.expm1(epsilon) * walk.errors[i] > 1e-10 * point or walk.share > 1e-11:
            return False
    return True


@pytest.mark.seconds
@pytest.mark.parametrize("epsilon", [0.0, 1e-9, 0.01, 0.1, 0.5, 1.0, 2.0])
@pytest.mark.parametrize(("first", "count"), LENGTHS)
def test_points_and_tails_are_as_near_as_they_say(first, count, epsilon):
    assert walk_holds(first, count, epsilon)


def test_what_is_no_walk_is_left_alone():
    trials, k = run(1000, 100, 0.5)
    assert tails.half_walk(trials, k) is not None
    for wrong in (k * 0.5, k + 3.0 * (trials > 1050.0), k - (trials > 1050.0), trials, k[::-1]):
        assert tails.half_walk(trials, np.floor(wrong)) is None
    assert tails.half_walk(trials[:2], k[:2]) is None


def by_totals(fakes, bins, epsilon):
    """delta from the distribution of the total of two bins, term by term."""
    records, grow = fakes + 1, mp.exp(mp.mpf(epsilon))
    low, high = tails.window(records, 2.0 / bins)
    q = mp.mpf(2) / bins
    weight = (
        mp.binomial(records, max(low, 1)) * q ** max(low, 1) * (1 - q) ** (records - max(low, 1))
    )
    total = mp.mpf(0)
    for t in range(max(low, 1), high + 1):
        reach = int(mp.floor(grow * t / (1 + grow))) + 1
        if reach <= t:
            f, s = true_point(t - 1, reach - 1), true_tail(t - 1, reach - 1)
            total += weight * mp.mpf(t) / 2 * (f - (grow - 1) * s)
        weight *= mp.mpf(records - t) / (t + 1) * q / (1 - q)
    return total * bins / records


MANY = [(1500, 3, 0.2), (4000, 10, 0.1), (9000, 100, 1.0), (20_000, 100, 0.05), (500, 12, 2.0)]


def price_holds(fakes, bins, epsilon):
    low, high = tails.window(fakes + 1, 2.0 / bins)
    assert high - max(low, 1) >= clear_uniform._LONG
    try:
        ends, truth = clear_uniform.delta(fakes, bins, epsilon), by_totals(fakes, bins, epsilon)
    except AccountingError:
        return False
    middle = mp.mpf(ends.lower) / 2 + mp.mpf(ends.upper) / 2
    return ends.lower <= truth <= ends.upper and abs(middle / truth - 1) < 1e-10


@pytest.mark.seconds
@pytest.mark.parametrize(("fakes", "bins", "epsilon"), MANY)
def test_many_totals_have_ten_digits(fakes, bins, epsilon):
    assert price_holds(fakes, bins, epsilon)


@pytest.mark.parametrize("epsilon", [0.0, 0.01, 0.3, 1.0, 2.0, 2.1])
@pytest.mark.parametrize(("fakes", "bins"), [(700, 3), (30_000, 50), (10**6, 20)])
def test_many_totals_agree_with_one_by_one(monkeypatch, fakes, bins, epsilon):
    fast = clear_uniform.delta(fakes, bins, epsilon)
    monkeypatch.setattr(clear_uniform, "_LONG", 10**9)
    slow = clear_uniform.delta(fakes, bins, epsilon)
    assert fast.lower <= slow.upper
    assert slow.lower <= fast.upper
    assert fast.upper == pytest.approx(slow.upper, rel=1e-8)


@pytest.mark.parametrize("spoiled", [math.nan, 0.0, 1.0])
def test_two_ways_to_one_chance_must_agree(monkeypatch, spoiled):
    monkeypatch.setattr(tails, "pmf", lambda *_: np.array([spoiled]))
    with pytest.raises(AccountingError):
        clear_uniform.delta(30_000, 50, 1.0)


def test_spoiled_points_of_many_totals_never_become_a_promise(monkeypatch):
    monkeypatch.setattr(tails, "half_pmf", lambda n, _: np.full_like(n, math.nan))
    with pytest.raises(AccountingError), np.errstate(invalid="ignore"):
        clear_uniform.delta(30_000, 50, 1.0)
