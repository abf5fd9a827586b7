"""Sums of a random number of draws: their transform by enumeration, and what stands for 1 / N.

The weight is held against 1 / N in fractions, the bound against every number of draws, and each is
seen to fail where a mistake is planted.
"""

import math
from fractions import Fraction
from functools import cache

import mpmath
import numpy as np
import pytest

from accounting.test_saddle_point import pmf
from accounting.test_saddle_point_parts import by_counts
from helpers.sampled import among
from mixtally.accounting.divergence import k_hot
from mixtally.accounting.divergence.flip_blank import delta_among_blanks
from mixtally.accounting.numerics import draws as module
from mixtally.accounting.numerics import frequencies, saddle_line, saddle_point
from mixtally.accounting.numerics.draws import Draws
from mixtally.accounting.numerics.flip_ratios import Orbit, flip_distribution
from mixtally.accounting.numerics.largest import largest_upper
from mixtally.accounting.numerics.saddle_line import Saddle
from mixtally.accounting.numerics.saddle_point import saddle_point_bounds
from mixtally.primitives import tails
from mixtally.primitives.fixed_point import SCALE, threshold_of

SMALL = [Draws(2, 9, 0.3), Draws(4, 40, 0.05), Draws(61, 25, 0.9), Draws(3, 1, 0.5)]
LARGE = [
    Draws(2, 10**4, 3e-4), Draws(101, 10**9, 1e-6), Draws(10**6, 10**7, 0.1), Draws(7, 10**10, 1e-3)
]  # fmt: skip


def weight(draws, number):
    """What stands for 1 / ``number``, as a fraction."""
    product = math.prod(1 - Fraction(number, root) for root in draws._roots)
    return (1 - product) / number


def weights_hold(draws):
    """Whether the weight is at least 1 / N where it must be, and below it where it may."""
    low, high = tails.window(draws.trials, draws.share)
    least = draws.certain + low
    above = range(least, min(draws.certain + high, least + 3000) + 1)
    below = range(max(1, least - 200), least)
    return all(weight(draws, n) >= Fraction(1, n) for n in above) and all(
        0 < weight(draws, n) < Fraction(1, n) for n in below
    )


@pytest.mark.parametrize("draws", SMALL + LARGE, ids=str)
def test_the_weight_is_no_less_than_one_over_the_number(draws):
    assert weights_hold(draws)


@pytest.mark.parametrize("log_m", [-3.0, -0.1, 0.0, 0.4, 5.0])
@pytest.mark.parametrize("draws", SMALL, ids=str)
def test_the_transform_is_that_of_every_number(draws, log_m):
    """E[weight(N) M^N], its plan and how often one of the copies is a rare one."""
    share, m = Fraction(draws.share), Fraction(math.exp(log_m))
    chances = [
        math.comb(draws.trials, b) * share**b * (1 - share) ** (draws.trials - b)
        for b in range(draws.trials + 1)
    ]
    numbers = [draws.certain + b for b in range(draws.trials + 1)]
    plan = [c * weight(draws, n) * m**n for c, n in zip(chances, numbers, strict=True)]
    whole = sum(plan)
    counted = sum(n * term for n, term in zip(numbers, plan, strict=True)) / whole
    assert math.exp(draws.nats(math.log(m)) - math.log(whole)) == pytest.approx(1.0, abs=1e-9)
    assert draws.relative_frequency(math.log(m)) == pytest.approx(float(counted), rel=1e-9)
    assert 1.0 <= draws.cancellation(log_m) < 1e5
    total = sum(c * m**n for c, n in zip(chances, numbers, strict=True))
    mean = sum(n * c * m**n for n, c in zip(numbers, chances, strict=True)) / total
    square = sum(n**2 * c * m**n for n, c in zip(numbers, chances, strict=True)) / total
    found = draws.spread(math.log(m))
    assert found == pytest.approx((float(mean), float(square - mean**2)), rel=1e-9)


@pytest.mark.parametrize("log_m", [-2000.0, -800.0, -1e-9, 800.0, 2000.0])
@pytest.mark.parametrize("draws", SMALL + LARGE, ids=str)
def test_the_transform_is_a_number_however_far_it_is_looked_for(draws, log_m):
    assert math.isfinite(draws.nats(log_m))
    assert draws.rise(log_m, log_m + 1.0) > 0.0
    assert math.isfinite(draws.cancellation(log_m))


@pytest.mark.parametrize("draws", among(SMALL + LARGE[:2], SMALL[::2] + LARGE[:1]), ids=str)
def test_the_power_holds_fifty_digits_and_its_bounds_hold(draws):
    """At frequencies of a number of three values, and in blocks of them."""
    values, chances, log_m = np.array([-4.0, 0.25, 31.0]), np.array([0.25, 0.5, 0.25]), -0.003
    wave = frequencies.Wave(values, chances, draws.power(log_m))
    row = next(iter(wave.rows(0.01, 64, 0.0)))
    with mpmath.workdps(50):
        for at in (0, 1, 7, 30, 63):
            turned = mpmath.fdot(
                chances, [mpmath.expj(mpmath.mpf(float(row.omega[0, at])) * v) for v in values]
            )
            found = mpmath.mpc(row.real[0, at], row.imaginary[0, at])
            true = transform(draws, mpmath.exp(log_m) * turned) / transform(
                draws, mpmath.exp(log_m)
            )
            assert abs(found - true) < 1e-9
    starts = np.linspace(0.0, 8.0, 300)
    for width in (1e-3, 0.1, 2.0):
        inside = starts[:, None] + np.linspace(0.0, width, 30)
        nats, _ = wave.power.of(np.exp(1j * inside[..., None] * values) @ chances - 1.0)
        assert np.all(wave.ceilings(starts, width, 0.0) >= nats.max(axis=1) - 1e-9)


def transform(draws, m):
    """E[weight(N) m^N] to fifty digits, over the numbers that are likely."""
    low, high = tails.window(draws.trials, draws.share)
    share, total = mpmath.mpf(draws.share), mpmath.mpf(0)
    term = mpmath.binomial(draws.trials, low) * share**low * (1 - share) ** (draws.trials - low)
    for b in range(low, high + 1):
        part = weight(draws, draws.certain + b)
        total += term * mpmath.mpf(part.numerator) / part.denominator * m ** (draws.certain + b)
        term *= mpmath.mpf(draws.trials - b) / (b + 1) * share / (1 - share)
    return total


CROWDS = [  # fakes, people, flip probability, epsilon
    (1, 10, 0.34, 1.0), (1, 30, 0.3, 1.0), (2, 100, 0.12, 3.0), (10, 100, 0.2, 1.0),
    (10, 1000, 0.17, 1.0), (100, 1000, 0.29, 0.1), (1000, 1000, 0.0066, 3.0),
    (1000, 10**5, 0.02, 1.0), (100, 10**7, 8.2e-4, 3.0),
]  # fmt: skip


def every_number(fakes, users, q, epsilon):
    """E[delta_blank(fakes + B)] over every number of free blanks that matters, from below."""
    threshold = threshold_of(q)
    share = threshold / (SCALE - threshold)
    low, high = tails.window(users - 1, share)
    chances = tails.pmf(users - 1, share, low, high)
    return math.fsum(
        float(chance) * delta_among_blanks(fakes + 1 + low + i, threshold, epsilon, rise=0.0).lower
        for i, chance in enumerate(chances)
        if chance > 1e-22
    )


def one_integral(fakes, users, q, epsilon, sure=0, trials=lambda others: others):
    """The bound that takes one integral for all numbers; of more ``sure`` ones, or other trials."""
    threshold = threshold_of(q)
    pair = flip_distribution(Orbit(1, 1, 0), threshold / SCALE, math.exp(epsilon))
    crowd = Draws(fakes + 1 + sure, trials(users - 1), threshold / (SCALE - threshold))
    return largest_upper([pair], crowd)


@pytest.mark.parametrize("case", CROWDS, ids=str)
def test_one_integral_bounds_all_numbers_of_blanks_closely(case):
    true = every_number(*case)
    assert true <= one_integral(*case) <= 1.015 * true


@pytest.mark.parametrize(
    "more",
    [{"sure": 1}, {"trials": lambda others: round(others * 1.02) + 1}],
    ids=["sure", "trials"],
)
def test_a_draw_too_many_is_noticed(more):
    assert any(one_integral(*case, **more) < every_number(*case) for case in CROWDS)


@pytest.mark.parametrize("bins", [None, 4])
def test_sets_among_fakes_and_a_crowd_are_bounded_over_every_number(bins):
    fakes, users, most, threshold, epsilon = 30, 400, 3, threshold_of(0.35), 0.5
    share, q = (threshold / (SCALE - threshold)) ** most, threshold / SCALE
    pairs = [flip_distribution(o, q, math.exp(epsilon)) for o in k_hot.list_orbits(most, bins)]
    low, high = tails.window(users - 1, share)
    chances = tails.pmf(users - 1, share, low, high)
    true = max(
        math.fsum(
            float(chance) * saddle_point_bounds(pair, fakes + 1 + low + i).lower
            for i, chance in enumerate(chances)
            if chance > 1e-9
        )
        for pair in pairs
    )
    assert true <= k_hot.upper(users, fakes, most, threshold, epsilon, bins) <= 1.01 * true


RARE = (-1, 0, 400), (0.5, 0.5 - 2**-12, 2**-12), Draws(20, 60, 0.5)
"""Values, chances, draws: the heavy one is rare and dropped where 10^-6 is taken for nothing."""


@cache
def rare_truth():
    values, chances, crowd = RARE
    return sum(
        math.comb(crowd.trials, b)
        * 0.5**crowd.trials
        * by_counts(values, chances, crowd.certain + b)
        for b in range(crowd.trials + 1)
    )


def rare_holds():
    values, chances, crowd = RARE
    return rare_truth() <= largest_upper([pmf(values, chances)], crowd)


@pytest.fixture
def dropping(monkeypatch):
    """More values are dropped than otherwise, and no Gaussian is too wide."""
    monkeypatch.setattr(saddle_point, "_MOST_SMOOTHED", math.inf)
    monkeypatch.setattr(saddle_line, "_RARE", 1.0)


def test_dropped_values_are_covered_in_a_crowd(dropping):
    values, chances, crowd = RARE
    assert len(Saddle(*saddle_point.merge_values(pmf(values, chances))[:2], crowd).live) < 3
    assert rare_holds()


def test_a_fixed_number_is_not_weighed():
    fixed = Draws(25)
    assert fixed.most == fixed.divisor == 25
    assert fixed.nats(-0.1) == 25 * -0.1
    assert fixed.power(0.0) == module.Power(25)
