"""Cells of a bit's crowds keep the fair coins of people they drop: no crowd is above their bound.

And fewer cells do.
"""

import math

import mpmath
import numpy as np
import pytest

from mixtally.accounting.divergence import one_hot, single_bit, two_outputs
from mixtally.accounting.numerics import two_binomials
from mixtally.accounting.numerics.binomial_pairs import flip_chances, tail_divergence
from mixtally.accounting.numerics.bracket import larger
from mixtally.primitives.fixed_point import SCALE, threshold_of
from mixtally.primitives.memo import Memo

CELLS = [  # others, the cell's ones, flip probability, deviations of a Gaussian's epsilon, repeats
    (900, (0, 400), 0.45, 0.0, 1),
    (900, (100, 450), 0.49, 2.0, 1),
    (2000, (300, 900), 0.4, 1.0, 1),
    (5000, (0, 2500), 0.35, 0.5, 1),
    (700, (0, 300), 0.47, 1.0, 3),
]

ONE = np.zeros(1, dtype=np.int64)


def bounds(others, cell, flip, deviations, repeats):
    """The bound of a cell, and the divergences of crowds in it."""
    threshold, (least, most) = threshold_of(flip), cell
    noise = math.sqrt(repeats * flip * (1.0 - flip) * others)
    epsilon = deviations * (1.0 - 2.0 * flip) * repeats / noise
    coins = two_outputs.count_certain_coins(repeats * (most - least), flip_chances(threshold))
    assert coins
    given = (threshold, epsilon, repeats, Memo(1 << 26))
    whole = of_cell(least, others - most, *given, coins)
    points = range(least, most + 1, max(1, (most - least) // 60))
    return whole, [of_cell(m, others - m, *given) for m in points]


def of_cell(ones, zeros, threshold, epsilon, repeats, memo, coins=0):
    """What a proof asks of a cell: both directions, the larger."""
    pair = two_outputs._directions(
        single_bit.flipped_bit_message(threshold, repeats), ones, zeros, memo, coins
    )
    return larger(*(tail_divergence(one, math.exp(epsilon)) for one in pair))


def holds(case):
    """Whether no crowd in the cell is above its bound."""
    whole, points = bounds(*case)
    return all(point.upper <= whole.upper * (1.0 + 1e-9) for point in points)


@pytest.mark.parametrize("case", CELLS, ids=str)
def test_no_crowd_in_a_cell_is_above_its_bound(case):
    assert holds(case)


@pytest.mark.parametrize("case", CELLS, ids=str)
def test_coins_bring_a_cell_closer_than_dropped_people(case):
    others, (least, most), flip, _, repeats = case
    whole, points = bounds(*case)
    given = (threshold_of(flip), 0.0, repeats, Memo(1 << 26))
    dropped = of_cell(least, others - most, *given).upper
    coins = two_outputs.count_certain_coins(repeats * (most - least), flip_chances(given[0]))
    kept = of_cell(least, others - most, *given, coins).upper
    assert kept < dropped
    assert max(point.upper for point in points) <= whole.upper


@pytest.mark.parametrize("flip", [0.26, 0.4, 0.499, 0.5])
@pytest.mark.parametrize("people", [0, 1, 60, 1000, 50_000])
def test_so_many_coins_are_there_but_for_a_chance_that_is_added(people, flip):
    threshold = threshold_of(flip)
    coins = two_outputs.count_certain_coins(people, flip_chances(threshold))
    assert coins == 0 or coins >= people / 2
    share = mpmath.mpf(2 * threshold) / SCALE
    with mpmath.workdps(40):
        fewer = mpmath.fsum(
            mpmath.binomial(people, k) * share**k * (1 - share) ** (people - k)
            for k in range(max(0, coins - 300), coins)
        )
    assert fewer <= math.exp(-64.0)


def test_crowds_that_are_nearly_alike_take_few_looks(watch):
    """100,000 people, q = .49: 401 looks when those who differ were dropped."""
    looks = watch(two_outputs, "_directions")
    ends = single_bit.delta(100_000, 0, threshold_of(0.49), 0.0, count_crowd=True)
    assert ends.lower <= ends.upper <= ends.lower * 1.0011
    assert len(looks) < 60


BOXES = [  # others, cell, flip probability, deviations of a Gaussian's epsilon
    (900, ((0, 200), (100, 450)), 0.45, 1.0),
    (700, ((50, 300), (300, 690)), 0.4, 0.0),
    (2000, ((0, 600), (0, 900)), 0.48, 2.0),
]


def box_holds(case):
    """Whether no dataset in a box is above its bound."""
    others, cell, flip, deviations = case
    epsilon = deviations * (1.0 - 2.0 * flip) / math.sqrt(flip * (1.0 - flip) * others)
    divergences = one_hot._two_bins(others, threshold_of(flip), [epsilon], Memo(1 << 26))
    (whole,) = divergences(cell, ONE).upper
    return all(
        divergences(((one, one), (two, two)), ONE).lower[0] <= whole
        for one in range(cell[0][0], cell[0][1] + 1, 23)
        for two in range(cell[1][0], cell[1][1] + 1, 23)
        if one + two <= others
    )


@pytest.mark.parametrize("case", BOXES, ids=str)
def test_no_dataset_in_a_box_is_above_its_bound(case):
    assert box_holds(case)


def test_coins_in_boxes_bring_bounds_closer(monkeypatch):
    others, cell, flip, _ = BOXES[0]
    given = others, threshold_of(flip), [0.0]
    (kept,) = one_hot._two_bins(*given, Memo(1 << 26))(cell, ONE).upper
    monkeypatch.setattr(one_hot, "count_certain_coins", lambda *_: 0)
    assert kept < one_hot._two_bins(*given, Memo(1 << 26))(cell, ONE).upper[0]


def test_coins_that_are_dear_are_left_out():
    """`delta --protocol flip-uniform --observer sums --fakes 2396000000 --flip 0.401`: 46 s."""
    given = (300, 200, 900, flip_chances(threshold_of(0.4)))
    kept = two_binomials.add_certain_coins(*given)
    assert len(kept.pmf) > len(two_binomials.sum_flipped_bits(300, 200, given[-1]).pmf)
    left = two_binomials.add_certain_coins(*given, most_products=1000)
    assert np.array_equal(left.pmf, two_binomials.sum_flipped_bits(300, 200, given[-1]).pmf)
