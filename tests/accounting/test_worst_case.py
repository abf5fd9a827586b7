"""The worst dataset: proofs on made-up divergences.

Lines and boxes are proved for three rates at once, as if these were epsilons, and for each alone.
"""

import math

import numpy as np
import pytest

from helpers.sampled import among
from mixtally.accounting.numerics import worst_dataset as worst_case
from mixtally.accounting.numerics import worst_datasets_1d as line
from mixtally.accounting.numerics.bracket import BoundArrays
from mixtally.accounting.numerics.gap import Gap
from mixtally.accounting.numerics.worst_dataset import find_worst
from mixtally.accounting.numerics.worst_datasets_1d import find_worst_1d
from mixtally.errors import AccountingError

RATES = (1e-5, 1e-3, 0.05)
"""How much a made-up bound rises for each record that a cell drops."""
CLOSE = Gap(1e-3)


def made_up(heights, rates):
    """The divergences of cells of a table: their largest entry, more for each record dropped."""
    rates = np.array(rates)

    def price(cell, places):
        part = heights[tuple(slice(low, high + 1) for low, high in cell)]
        dropped = sum(high - low for low, high in cell)
        bound = float(part.max()) * np.exp(rates[places] * dropped)
        return (
            BoundArrays(bound, bound)
            if part.size == 1
            else BoundArrays(0.0 * bound, np.minimum(1.0, bound))
        )

    return price


def box(heights):
    return tuple((0, size - 1) for size in heights.shape)


def proved(heights):
    """Whether the ends are around the largest entry and as close as they are said to be."""
    largest, look = heights.max(), along if heights.ndim == 1 else within
    found = [look(heights, RATES), *(look(heights, (rate,)) for rate in RATES)]
    return all(
        np.all((ends.lower <= largest) & (largest <= ends.upper))
        and np.all(ends.upper <= ends.lower * (1.0 + CLOSE.share) + 1e-17)
        for ends in found
    )


def within(heights, rates, **given):
    """The ends of a table, for each rate."""
    return find_worst(made_up(heights, rates), (1.0,) * len(rates), box(heights), CLOSE, **given)


def along(heights, rates):
    """The ends of a table of one row, for each rate."""
    price, every = made_up(heights, rates), np.arange(len(rates))
    return find_worst_1d(
        lambda least, last: price(((least, last),), every), len(heights) - 1, CLOSE
    )


@pytest.mark.parametrize("spike", among([0, 1, 2, 17, 150, 255, 299], [0, 17, 299]))
@pytest.mark.parametrize("height", [1.0005, 1.01, 3.0])
@pytest.mark.parametrize("fall", [0.0, 1e-3, 0.3])
def test_a_spike_on_a_line_is_found_wherever_it_is(spike, height, fall):
    heights = 1e-6 * np.exp(-fall * np.arange(300))
    heights[spike] = height * 1e-6
    assert proved(heights)


def test_every_kind_of_line_is_proved():
    for size in (1, 2, 3, 50, 400):
        # As good as random: fractions of multiples of the golden ratio.
        heights = np.modf(np.arange(1, size + 1) * (math.sqrt(5.0) + 1.0) / 2.0)[0]
        for scale in (1e-18, 1e-9, 0.3):
            assert proved(scale * heights)
            assert proved(scale * np.sort(heights))
    assert along(np.zeros(9), (0.0,)) == (0.0, 0.0)


def test_a_rate_that_needs_no_cells_is_proved_beside_one_that_does():
    heights = 1e-6 * np.exp(-0.01 * np.arange(300))
    ends, alone = along(heights, (0.0, 0.05)), along(heights, (0.0,))
    assert ends.upper[0] == alone.upper[0] == 1e-6
    assert 1e-6 < ends.upper[1] <= 1.001e-6


@pytest.mark.parametrize("spike", [(5, 17), (14, 2), (19, 29)])
def test_a_spike_at_one_epsilon_alone_is_found(spike):
    """Where the cells that hold it are proved at the other."""
    flat = 1e-6 * np.exp(-0.02 * np.add.outer(np.arange(20), np.arange(30)))
    spiked = flat.copy()
    spiked[spike] = 1.5e-6
    tables, every = (flat, spiked), np.arange(2)

    def price(of):
        prices = [made_up(of(table), (1e-3,)) for table in tables]

        def both(cell, places):
            found = [prices[place](cell, np.zeros(1, int)) for place in places]
            return BoundArrays(*(np.concatenate(side) for side in zip(*found, strict=True)))

        return both

    boxes = find_worst(price(lambda table: table), (1.0, 1.0), box(flat), CLOSE)
    line_of = price(np.ravel)
    lines = find_worst_1d(lambda a, b: line_of(((a, b),), every), flat.size - 1, CLOSE)
    for ends in (boxes, lines):
        assert ends.lower == pytest.approx([1e-6, 1.5e-6])
        assert np.all(ends.upper <= ends.lower * 1.001001)


@pytest.mark.parametrize("spike", [(0, 0), (3, 11), (14, 2), (19, 29)])
def test_a_spike_in_a_box_is_found_wherever_it_is(spike):
    heights = 1e-6 * np.exp(-0.1 * np.add.outer(np.arange(20), np.arange(30)))
    heights[spike] = 2e-6
    assert proved(heights)


def test_a_box_without_some_points_is_proved_on_the_others():
    heights = 1e-3 * np.exp(0.1 * np.add.outer(np.arange(20), np.arange(20)))
    ends = within(heights, (0.05, 1e-3), feasible=lambda c: c[0][0] + c[1][0] <= 19)
    largest = 1e-3 * math.exp(1.9)
    assert ends.lower == pytest.approx(largest, rel=1e-12)
    assert np.all((largest <= ends.upper) & (ends.upper <= 1.001001 * largest))


def test_a_point_of_uncertain_price_keeps_its_upper_end():
    def price(low, high):
        return BoundArrays(np.array([0.1]), np.array([0.3 if low <= 5 <= high else 0.1]))

    found = find_worst_1d(price, 9, CLOSE)
    assert (found.lower, found.upper) == (0.1, pytest.approx(0.3, rel=2e-3))
    assert found.upper >= 0.3
    unsure = BoundArrays(np.zeros(1), np.full(1, 1e-3))
    assert find_worst_1d(lambda *_: unsure, 9, CLOSE) == (0.0, 1e-3)
    assert find_worst(lambda *_: unsure, [1.0], ((0, 9),), CLOSE) == (0.0, 1e-3)


def test_cells_that_are_left_as_they_are_count_with_their_bounds():
    flat = 1e-6 * np.ones((50, 50))
    ends = within(flat, (0.05, 1e-9), most_halved=40)
    assert ends.lower == pytest.approx([1e-6, 1e-6])
    assert ends.upper[0] > 1.01e-6
    assert ends.upper[1] <= 1.001e-6


def test_a_proof_without_end_stops(monkeypatch):
    monkeypatch.setattr(line, "_MOST_CELLS", 50)
    monkeypatch.setattr(worst_case, "_MOST_CELLS", 50)
    for shape in (300, (20, 20)):
        with pytest.raises(AccountingError, match="50 cells"):
            proved(1e-6 * np.ones(shape))
