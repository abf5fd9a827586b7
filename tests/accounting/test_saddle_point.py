"""Expectations of a positive part against exact powers of whole-number distributions and closed
forms.
"""

import itertools
import math
import time
from fractions import Fraction

import numpy as np
import pytest

from helpers.named import flip_bits
from helpers.sampled import thinned
from mixtally.accounting.divergence import clear_uniform, flip_blank, vectors
from mixtally.accounting.numerics.bracket import Bracket
from mixtally.accounting.numerics.flip_ratios import Orbit, flip_distribution
from mixtally.accounting.numerics.saddle_point import Distribution, saddle_point_bounds
from mixtally.errors import AccountingError
from mixtally.primitives.fixed_point import SCALE, threshold_of
from oracle import exp_exactly, matrix_of, worst

WHOLE = [  # values, and probabilities that are exact as floats; the mean is negative
    ((-1, 0, 1), (0.5, 0.25, 0.25)),
    ((-1, 1), (0.75, 0.25)),
    ((-1, 1), (0.5625, 0.4375)),
    ((-3, 2), (0.5, 0.5)),
    ((-1, 5), (0.875, 0.125)),
    ((-7, -1, 3, 11), (0.375, 0.5625, 0.046875, 0.015625)),
    ((-2, 0, 40), (0.9375, 0.0546875, 0.0078125)),
    ((-1, 100), (1 - 2**-10, 2**-10)),
    ((-4, 0, 3), (2**-4, 1 - 2**-3, 2**-4)),
    ((-9, -5, -2, 0, 1, 4, 6), (0.25, 0.25, 0.125, 0.125, 0.125, 0.0625, 0.0625)),
    ((-1, 0, 1), (2**-8 + 2**-12, 1 - 2**-7 - 2**-12, 2**-8)),
]


def pmf(values, chances):
    return Distribution(np.array(values, dtype=float), np.array(chances, dtype=float))


def exactly(values, chances, count):
    """(1/count) E[(sum)_+] in integers: the generating function as one number, to a power."""
    chances = [Fraction(chance) for chance in chances]
    assert sum(chances) == 1
    scale = math.lcm(*(chance.denominator for chance in chances))
    size = (scale**count).bit_length() // 8 + 1
    least = min(values)
    base = sum(
        int(chance * scale) << 8 * size * (value - least)
        for value, chance in zip(values, chances, strict=True)
    )
    places = (max(values) - least) * count + 1
    power = (base**count).to_bytes(size * places, "little")
    total = sum(
        int.from_bytes(power[size * place : size * (place + 1)], "little") * (place + least * count)
        for place in range(max(0, -least * count), places)
    )
    return Fraction(total, scale**count * count)


def one_sided(ends, truth):
    return ends.lower <= truth <= ends.upper


def within(ends, truth, share, slack=Fraction(0)):
    """Whether both bounds are at most that share of the truth, and the slack, away."""
    reach = Fraction(share) * truth + slack
    return Fraction(ends.upper) - truth <= reach and truth - Fraction(ends.lower) <= reach


@pytest.mark.parametrize(
    ("values", "chances", "count"),
    thinned(((*one, count) for one in WHOLE for count in [2, 3, 5, 10, 41, 100, 200]), 3),
)
def test_the_ends_hold_the_exact_power(values, chances, count):
    truth = exactly(values, chances, count)
    ends = saddle_point_bounds(pmf(values, chances), count)
    assert one_sided(ends, truth)
    assert within(ends, truth, 0.001)


def test_the_exact_power_is_that_of_enumeration():
    """Two draws by hand: W = -1 or 1, E[(W + W')_+] / 2 = (1/4)^2."""
    assert exactly((-1, 1), (0.75, 0.25), 2) == Fraction(1, 16)
    assert exactly((-3, 2), (0.5, 0.5), 1) == 1


@pytest.mark.parametrize("seed", range(40))
def test_the_ends_hold_exact_powers_of_many_distributions(seed):
    """Whole-number distributions of every kind, without chance: digits of powers of three."""
    digits = 3 ** (50 + seed)
    values = [-1 - digits % 5, *((digits >> 7 * k) % 23 - 11 for k in range(1, 6))]
    weights = [40, *((digits >> 5 * k) % 6 for k in range(4, 9))]
    weights[0] += 128 - sum(weights)
    count = 2 + digits % 60
    chances = [weight / 128 for weight in weights]
    truth = exactly(values, chances, count)
    ends = saddle_point_bounds(pmf(values, chances), count)
    if truth <= 1:
        assert one_sided(ends, truth)
        assert within(ends, truth, 0.001, Fraction(1, 10**15))


@pytest.mark.parametrize("fakes", [10, 10**4, 10**6, 10**9 - 1])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("cover", [20.0, 60.0])
def test_flipped_blanks_are_the_closed_form(fakes, epsilon, cover):
    threshold = threshold_of(min(0.4, cover / fakes))
    closed = flip_blank.delta(fakes, threshold, epsilon)
    grow = math.exp(epsilon)
    ends = saddle_point_bounds(
        flip_distribution(Orbit(1, 1, 0), threshold / SCALE, grow), fakes + 1
    )
    assert ends.lower <= closed.upper
    assert closed.lower <= ends.upper
    assert ends.upper <= closed.upper * 1.001 + 1e-18
    assert ends.lower >= closed.lower * 0.999 - 1e-18


@pytest.mark.parametrize("fakes", [10, 10**4, 10**6, 10**9 - 1])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("cover", [5.0, 60.0])
def test_fakes_in_the_clear_are_the_closed_form(fakes, epsilon, cover):
    """Nearly two Poisson counts: W = d, -e^eps d or nothing."""
    bins = max(2, round(fakes / cover))
    closed = clear_uniform.delta(fakes, bins, epsilon)
    grow = math.exp(epsilon)
    values = (bins, -grow * bins, 0.0)
    ends = saddle_point_bounds(pmf(values, (1 / bins, 1 / bins, 1 - 2 / bins)), fakes + 1)
    rounding = 1.0 + 1e-9 + 1e-16 * fakes  # of 1 / bins, before it came to ``saddle_point_bounds``
    assert ends.lower <= closed.upper * rounding
    assert closed.lower <= ends.upper * rounding
    assert ends.upper <= closed.upper * 1.001 + 1e-18
    assert ends.lower >= closed.lower * 0.999 - 1e-18


@pytest.mark.parametrize(("cover", "epsilon"), [(7.7, 0.1), (10.0, 2.0), (20.0, 4.0)])
def test_rounding_times_the_crowd_is_added(cover, epsilon):
    """At ten thousand million records the upper bound is below the truth by up to 2e-7 of it."""
    fakes = 10**10 - 1
    threshold = threshold_of(cover / fakes)
    closed = flip_blank.delta(fakes, threshold, epsilon)
    ends = saddle_point_bounds(
        flip_distribution(Orbit(1, 1, 0), threshold / SCALE, math.exp(epsilon)), fakes + 1
    )
    assert closed.lower <= ends.upper


@pytest.mark.parametrize("count", [2, 3, 5, 20])
@pytest.mark.parametrize("tail", [2**-36, 2**-40, 2**-43, 2**-46, 2**-52])
def test_terms_that_cancel_do_not_lower_the_bound(tail, count):
    """A rare value among few draws: the terms of the integral are up to 10^14 times the result."""
    value, chances = 200, (Fraction(1) - Fraction(tail), Fraction(tail))
    truth = sum(
        (value * often - (count - often))
        * math.comb(count, often)
        * chances[1] ** often
        * chances[0] ** (count - often)
        for often in range(1, count + 1)
    )
    ends = saddle_point_bounds(pmf((-1, value), (1.0 - tail, tail)), count)
    assert one_sided(ends, truth / count)
    assert ends.upper <= 1.15 * truth / count


def test_heavy_atoms_matter_although_they_are_rare():
    """L = 40, N = 1e7: the largest weight is r^40 = 8.6e8, more than the whole sum's mean."""
    ends = vectors.homogeneous_delta(10**7, 40, threshold_of(0.374), 2.0)
    assert 1.02e-6 < ends.lower <= ends.upper < 1.04e-6


def test_one_record_is_its_own_positive_part():
    chances = (0.5, 0.25, 0.25)
    ends = saddle_point_bounds(pmf((-5, -1, 0.5), chances), 1)
    assert ends.lower <= 0.125 <= ends.upper
    assert ends.upper == pytest.approx(0.125, rel=1e-3)


def test_aliases_are_taken_off_the_lower_end():
    """Two records of three bits: the lower bound is above the truth by 6e-11."""
    threshold = int(0.02 * SCALE) >> 44 << 44
    of = matrix_of(flip_bits(bins=3, threshold=threshold, crowd=2))
    (truth,) = worst(of, [exp_exactly(4.0)], crowds=[(0,)], pairs=[(0, 7), (7, 0)])
    assert vectors.homogeneous_delta(2, 3, threshold, 4.0).lower <= truth


@pytest.mark.parametrize(
    ("values", "chances"),
    [
        ((-1, 1), (0.5, 0.4)),
        ((-1, 1), (0.5, 0.5 + 1e-8)),
        ((-1, 1), (0.5, math.nan)),
        ((-1, math.nan), (0.5, 0.5)),
        ((math.nan, 1), (0.5, 0.5)),
        ((-1, math.inf), (0.5, 0.5)),
        ((-math.inf, 1), (0.5, 0.5)),
        ((-1, 1), (1.5, -0.5)),
        ((-1, 1, 1), (0.6, 0.6, -0.2)),
        ((-1, 1), (math.inf, -math.inf)),
        ((), ()),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value encountered")
def test_what_is_no_distribution_is_refused(values, chances):
    with pytest.raises(AccountingError):
        saddle_point_bounds(pmf(values, chances), 10)


@pytest.mark.parametrize(
    ("values", "chances"),
    [((-1, 0), (0.5, 0.5)), ((-3, -1), (0.5, 0.5)), ((-1, 7), (1.0, 0.0)), ((0,), (1.0,))],
)
def test_without_a_positive_value_it_is_nothing(values, chances):
    for count in (1, 7, 10**9):
        assert saddle_point_bounds(pmf(values, chances), count) == Bracket(0.0, 0.0)


@pytest.mark.parametrize("split", [2, 5])
def test_the_order_of_values_and_equal_values_do_not_matter(split):
    values, chances = WHOLE[5]
    plain = saddle_point_bounds(pmf(values, chances), 30)
    parts = [chance / split for chance in chances for _ in range(split)]
    again = saddle_point_bounds(pmf(np.repeat(values, split)[::-1], parts[::-1]), 30)
    assert again == pytest.approx(plain, rel=1e-12)


def test_a_multiple_of_the_values_is_the_multiple_of_the_answer():
    values, chances = (-3.0, 2.0), (0.5, 0.5)
    plain = saddle_point_bounds(pmf(values, chances), 40)
    tiny = saddle_point_bounds(pmf([v * 2.0**-100 for v in values], chances), 40)
    assert tiny.upper == pytest.approx(plain.upper * 2.0**-100, rel=1e-9, abs=0.0)


def test_it_falls_as_the_crowd_grows():
    """Dividing by the number of records, the mean being negative."""
    found = [saddle_point_bounds(pmf(*WHOLE[3]), count) for count in (2, 8, 32, 128, 512, 2048)]
    for fewer, more in itertools.pairwise(found):
        assert more.upper < fewer.lower


def test_a_large_crowd_costs_no_more_time_than_a_small_one():
    start = time.process_time()
    saddle_point_bounds(flip_distribution(Orbit(1, 1, 0), 1e-8, math.e), 10**10)
    assert time.process_time() - start < 5.0
