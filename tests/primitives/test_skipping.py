"""Skipping: gaps with exactly the geometric distribution, from integers alone."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from helpers.scripted_chance import Scripted
from mixtally.errors import AccountingError
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.primitives import rare_flips

SMALL = [1 << 24, 1 << 40, 12345678901234567, int(0.009 * 2**64), int(0.3 * 2**64), 1 << 63]


@pytest.mark.parametrize("t", SMALL)
def test_tables_hold_the_distribution_of_the_digits(t):
    """Boundary j of the lowest digit is (1 - x^j) / (1 - x^1024), x = 1 - q, to 2^-250."""
    x = 1 - Fraction(t, 2**64)
    tables = rare_flips.build_gap_tables(t)
    whole = 1 - x**1024 if len(tables) > 1 else 1
    for j in (1, 2, 3, 17, 100):
        exact = (1 - x**j) / whole
        found = Fraction(tables[0].boundaries[j - 1], 2**256)
        assert abs(found - exact) < Fraction(1, 2**250)


@pytest.mark.parametrize("t", SMALL)
def test_digits_multiply_to_the_geometric_distribution(t):
    x = 1 - Fraction(t, 2**64)
    *lower, top = rare_flips.build_gap_tables(t)
    for gap in (0, 1, 5, 1023, 1024, 5000):
        rest, chance = gap, Fraction(1)
        for table in lower:
            chance *= _chance(table, rest % 1024)
            rest //= 1024
        while rest >= 1024:  # past the top table it starts again
            chance *= 1 - Fraction(top.boundaries[-1], 2**256)
            rest -= 1024
        chance *= _chance(top, rest)
        expected = float(x) ** gap * (t / 2**64)
        if expected > 1e-60:
            assert float(chance) == pytest.approx(expected, rel=1e-9)


def _chance(table, digit):
    bounds = [0, *table.boundaries, 2**256]
    return Fraction(bounds[digit + 1] - bounds[digit], 2**256)


@pytest.mark.parametrize("offset", [-200, -70, 70, 200])
def test_a_word_on_a_boundary_is_settled_by_more_digits(offset):
    table = rare_flips.build_gap_tables(12345678901234567)[0]
    value = table.boundaries[41] + offset
    words = [value >> shift & (2**64 - 1) for shift in (192, 128, 64, 0)]
    drawn = table.draw(Scripted(*words), 1)[0]
    assert drawn == (42 if offset > 0 else 41)


def test_a_draw_that_256_digits_do_not_settle_stops_the_work():
    table = rare_flips.build_gap_tables(12345678901234567)[0]
    value = table.boundaries[41]
    words = [value >> shift & (2**64 - 1) for shift in (192, 128, 64, 0)]
    with pytest.raises(AccountingError, match="did not decide a draw"):
        table.draw(Scripted(*words), 1)


def gap_p_value(gaps, q):
    """Chi-square p-value of gaps against the geometric distribution, in 40 equally likely
    classes.
    """
    edges = np.unique(np.floor(np.log1p(-np.arange(1, 40) / 40) / np.log1p(-q))).astype(int)
    shares = -np.diff(np.concatenate([[1.0], (1 - q) ** (edges + 1), [0.0]]))
    counts = np.bincount(np.searchsorted(edges, gaps), minlength=len(shares))
    return stats.chisquare(counts, shares * len(gaps)).pvalue


@pytest.mark.parametrize("q", [0.009, 1e-3, 1e-5, 1e-8])
def test_gaps_are_geometric(q):
    """False alarm 1e-6 a case."""
    t = int(q * 2**64)
    gaps = rare_flips.draw_gaps(SeededChance(3), rare_flips.build_gap_tables(t), 100_000)
    assert gap_p_value(gaps, q) > 1e-6


def test_gaps_that_are_off_by_one_are_found():
    t = int(0.009 * 2**64)
    assert (
        gap_p_value(
            rare_flips.draw_gaps(SeededChance(3), rare_flips.build_gap_tables(t), 100_000) + 1,
            0.009,
        )
        < 1e-6
    )


def test_positions_are_ascending_distinct_and_below_the_length():
    for length in (0, 1, 7, 10_000, 1_000_000):
        places = rare_flips.draw_coin_positions(SeededChance(length), int(0.005 * 2**64), length)
        assert np.all(np.diff(places) > 0)
        assert not len(places) or 0 <= places[0] <= places[-1] < length
