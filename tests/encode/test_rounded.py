"""Numbers go to one of two points at random, right on average: one by one and many at once.

What is planted are devices that round otherwise; each is one that brute force must tell.
"""

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest

from mixtally.device.contract.grid import ContractGrid as Exact
from mixtally.errors import ParameterError, PlanError
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.grid import Grid
from mixtally.protocol.encode.numbers import Points, Scale, round_to_grid, scale_of_plan

W = 1 << 64
GRIDS = (
    Exact(0.0, 2.0, 3),
    Exact(0.1, 0.7, 7),
    Exact(-1.5, 2.25, 2),
    Exact(-1e-300, 1e300, 1000),
    Exact(-8e307, 8e307, 9),
    Exact(0.0, 35e-324, 5),
    Exact(0.0, 1.0, 1_000_000),
)


def place(grid, y):
    """The point below a number and how far it is to the next, 0 to 1."""
    low, high = Fraction(grid.low), Fraction(grid.high)
    t = (min(max(Fraction(y), low), high) - low) * (grid.points - 1) / (high - low)
    return math.floor(t), t - math.floor(t)


def numbers(grid, chance, count=40):
    points = [grid.low + i * (grid.high - grid.low) / (grid.points - 1) for i in (0, 1)]
    some = [chance.uniform(grid.low, grid.high) for _ in range(count)]
    return [*some, *points, grid.low, grid.high, 0.0, -0.0, 1.0, -1.7e308, 1.7e308]


@pytest.mark.parametrize("grid", GRIDS)
def test_the_chance_of_the_upper_point_is_the_fraction_of_the_way(grid):
    """The words below floor(2^64 f) go up, all others down: by the two at the border."""
    for y in numbers(grid, random.Random(1)):
        below, f = place(grid, y)
        up = math.floor(f * W)
        assert grid.round_randomly(y, up) == below
        assert up == 0 or grid.round_randomly(y, up - 1) == below + 1
        assert grid.round_randomly(y, W - 1) == below


@pytest.mark.parametrize("grid", GRIDS)
def test_many_at_once_are_rounded_as_one_by_one(grid):
    chance = random.Random(2)
    values = numbers(grid, chance, 300)
    borders = [math.floor(place(grid, y)[1] * W) for y in values]
    asked = Grid(low=grid.low, high=grid.high, points=grid.points)
    for shift in (None, -1, 0, 1):
        words = [
            chance.getrandbits(64) if shift is None else min(max(one + shift, 0), W - 1)
            for one in borders
        ]
        found = round_to_grid(asked, np.array(values), np.array(words, dtype=np.uint64))
        assert found.tolist() == [
            grid.round_randomly(y, word) for y, word in zip(values, words, strict=True)
        ]


def nearest(grid, y, word):
    below, f = place(grid, y)
    return below + (f >= Fraction(1, 2))


def exchanged(grid, y, word):
    below, f = place(grid, y)
    return below + (word >= math.floor(f * W))


def cells(grid, y, word):
    """Steps of (high - low) / B, as if points were bins."""
    below, f = place(grid._replace(points=grid.points + 1), y)
    return min(below + (word < math.floor(f * W)), grid.points - 1)


def average(grid, y, device=Exact.round_randomly, pieces=720):
    """The mean of what is sent for y, over words at the middle of equal pieces of all of them."""
    points = [device(grid, y, (2 * i + 1) * W // (2 * pieces)) for i in range(pieces)]
    span = Fraction(grid.high) - Fraction(grid.low)
    return Fraction(grid.low) + Fraction(sum(points), pieces) * span / (grid.points - 1)


@pytest.mark.parametrize("grid", [Exact(0.0, 2.0, 3), Exact(-1.5, 0.75, 4)])
def test_what_is_sent_is_the_number_on_average(grid):
    """And for what is outside, the end; by a device that does otherwise it is not."""
    span = Fraction(grid.high) - Fraction(grid.low)
    for k in range(-1, 10):
        y = grid.low + float(span) * k / 8
        assert abs(average(grid, y) - min(max(Fraction(y), Fraction(grid.low)), grid.high)) < (
            span / 700
        )
    for planted in (nearest, exchanged, cells):
        y = grid.low + float(span) * 0.15
        assert abs(average(grid, y, planted) - Fraction(y)) > span / 50


def test_the_variance_is_that_of_two_points():
    """(y - g_i)(g_(i+1) - y), by all words of a device with 2^64 / 16 of them alike."""
    grid = Exact(0.0, 4.0, 5)
    for sixteenths in range(65):
        y = sixteenths / 16
        sent = [grid.round_randomly(y, i * (W // 16)) for i in range(16)]
        assert np.mean(sent) == y
        assert np.var(sent) == (y % 1) * (1 - y % 1)


def test_people_take_words_of_their_own():
    """False alarm below 10^-9: 10,000 people half way go up 5,000 times, seven deviations of 50."""
    grid, half = Grid(low=0.0, high=1.0, points=2), np.full(10_000, 0.5)
    chance = SeededChance(1)
    assert abs(round_to_grid(grid, half, chance.words(10_000)).sum() - 5000) < 350
    same = np.full(10_000, chance.words(1)[0])  # the twin: one word for everybody
    assert round_to_grid(grid, half, same).sum() in (0, 10_000)


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (1.0, 1.0),
        (2.0, 1.0),
        (math.nan, 1.0),
        (0.0, math.inf),
        (-math.inf, 0.0),
        (-1e308, 1e308),
    ],
)
def test_ends_that_are_no_range_are_refused(low, high):
    with pytest.raises(ParameterError, match="two finite numbers, LOW,HIGH with LOW < HIGH"):
        Points(low, high)
    if not math.isnan(low) and not math.isinf(low) and not math.isinf(high):
        with pytest.raises(PlanError):
            Grid(low=low, high=high, points=3)


@pytest.mark.parametrize("points", [1, 0, -3, 1_000_001])
def test_a_grid_of_one_point_is_refused(points):
    with pytest.raises(ParameterError, match="points of a number"):
        Points(0.0, 1.0, points)
    with pytest.raises(PlanError):
        Grid(low=0.0, high=1.0, points=points)


def test_points_are_called_by_their_values():
    grid = Grid(low=0, high=1, points=4)
    assert grid.make_question("share").labels == ("0", "0.3333", "0.6667", "1")
    near = Grid(low=1.0, high=1.0 + 1e-9, points=3)
    assert len(set(near.make_question("q").labels)) == 3


def test_a_plan_says_how_numbers_are_read():
    class Asked:
        grid, edges = Grid(low=0.0, high=9.0, points=4), None

    assert scale_of_plan(Asked) == Points(0.0, 9.0, 4)
    Asked.grid, Asked.edges = None, (0.0, 1.0, 2.0)
    assert scale_of_plan(Asked) == Scale(0.0, 2.0, 2)
    Asked.edges = None
    assert scale_of_plan(Asked) is None


def test_every_pair_of_points_is_reached():
    grid = Exact(0.0, 1.0, 4)
    sent = {
        grid.round_randomly(y / 12, word)
        for y, word in itertools.product(range(13), range(0, W, W // 8))
    }
    assert sent == {0, 1, 2, 3}
