"""Every place of a batch is flipped: the last coin, small batches, both sides of every border."""

import numpy as np
import pytest
from scipy import stats

from helpers import sampled
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.primitives import flips, rare_flips
from mixtally.primitives.fixed_point import threshold_of

WAYS = [flips._flip_few, flips._flip_many]
SPAN_BYTES = 1 << 16
"""Words settled together by slicing: 8,192 of 8 bytes. The keystream makes twice as many."""


def flipped(way, shape, columns, q, runs, places=None):
    """BitFlips of all-zero batches, shape (runs, coins); only of the bytes ``places``, if given."""
    chance, rows = SeededChance(6), np.zeros(shape, dtype=np.uint8)
    found = []
    for _ in range(runs):
        after = way(rows, columns, threshold_of(q), chance)
        if places is None:
            found.append(np.unpackbits(after, axis=1, count=columns, bitorder="little").ravel())
        else:
            found.append(np.unpackbits(after.ravel()[places]))
    return np.array(found)


def p_value(coins, q):
    """The least p-value of the flips at one place, in all, and of neighbors alike, Bonferroni."""
    runs, count = coins.shape
    ones = np.append(coins.sum(axis=0), coins.sum())
    trials = np.append(np.full(count, runs), runs * count)
    pairs = runs * (count // 2)
    if pairs:
        alike = coins[:, 1::2] == coins[:, : 2 * (count // 2) : 2]
        ones, trials = np.append(ones, alike.sum()), np.append(trials, pairs)
    chances = np.where(np.arange(len(ones)) <= count, q, q * q + (1 - q) ** 2)
    pmf = stats.binom(trials, chances)
    return float(2 * np.minimum(pmf.cdf(ones), pmf.sf(ones - 1)).min() * len(ones))


def leaving(way, byte, bit):
    """``way``, but one coin of every batch never falls."""

    def broken(rows, columns, threshold, chance):
        after = way(rows, columns, threshold, chance)
        places, kept = after.reshape(-1), rows.reshape(-1)
        places[byte] ^= (places[byte] ^ kept[byte]) & np.uint8(1 << bit)
        return after

    return broken


SMALL = [(rows, columns) for rows in (1, 2, 3) for columns in (1, 2, 7, 8, 13, 64, 70)]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("rows", "columns"), sampled.rows(SMALL, 4))
def test_every_place_of_a_small_batch_is_flipped(way, rows, columns):
    """False alarm below 10^-6 a case."""
    coins = flipped(way, (rows, -(-columns // 8)), columns, 0.3, 120)
    assert p_value(coins, 0.3) > 1e-6


@pytest.mark.seconds
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("rows", "columns"), [(1, 3), (1, 8), (2, 9), (3, 2)])
def test_every_place_of_a_small_batch_is_flipped_at_small_q(way, rows, columns):
    """Where a device sends one record and flips are skipped to. False alarm below 10^-6 a case."""
    coins = flipped(way, (rows, -(-columns // 8)), columns, 0.0099, 3000)
    assert p_value(coins, 0.0099) > 1e-6


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("rows", "columns"), sampled.rows(SMALL, 4))
def test_a_last_coin_that_never_falls_is_found(way, rows, columns):
    coins = flipped(
        leaving(way, -1, (columns - 1) % 8), (rows, -(-columns // 8)), columns, 0.3, 120
    )
    assert p_value(coins, 0.3) < 1e-6


@pytest.mark.seconds
@pytest.mark.parametrize("way", WAYS)
def test_a_last_coin_that_never_falls_at_small_q_is_found(way):
    coins = flipped(leaving(way, -1, 2), (1, 1), 3, 0.0099, 3000)
    assert p_value(coins, 0.0099) < 1e-6


def near_borders(total):
    """Bytes of the words on both sides of every border, and of both bounds."""
    borders = [0, *range(SPAN_BYTES, total, SPAN_BYTES), total]
    near = {b + side for b in borders for side in range(-8, 8)}
    return np.array(sorted(near & set(range(total))))


SHAPES = {"many short rows": (2 * SPAN_BYTES + 3, 1), "a long row": (1, 2 * SPAN_BYTES + 3)}


@pytest.mark.parametrize("name", SHAPES)
def test_both_sides_of_every_border_are_flipped(name):
    """False alarm below 10^-6 a case. Only slicing has borders at fixed places."""
    shape = SHAPES[name]
    places = near_borders(shape[0] * shape[1])
    coins = flipped(flips._flip_many, shape, 8 * shape[1], 0.3, 100, places)
    assert coins.shape == (100, 8 * 35)
    assert p_value(coins, 0.3) > 1e-6


@pytest.mark.parametrize("byte", [0, SPAN_BYTES - 1, SPAN_BYTES, 2 * SPAN_BYTES - 1, -3, -1])
def test_a_coin_beside_a_border_that_never_falls_is_found(byte):
    shape = SHAPES["a long row"]
    places = near_borders(shape[1])
    broken = leaving(flips._flip_many, byte, 7)
    assert p_value(flipped(broken, shape, 8 * shape[1], 0.3, 100, places), 0.3) < 1e-6


@pytest.mark.parametrize("most", [1, 2, 5])
@pytest.mark.parametrize(("rows", "columns"), [(3, 70), (1, 13)])
def test_skipping_goes_on_where_a_round_of_gaps_ended(plant, most, rows, columns):
    """One round is nearly always enough; here it never is. False alarm below 10^-6 a case."""
    plant(rare_flips, "draw_gaps", lambda honest, *given: honest(*given[:2], min(given[2], most)))
    coins = flipped(flips._flip_few, (rows, -(-columns // 8)), columns, 0.3, 120)
    assert p_value(coins, 0.3) > 1e-6


def gaps_near_borders(runs=150):
    """Gaps on both sides of every border of the keystream, and the first and last."""
    places = [0, 1, *(b + side for b in (8192, 16384) for side in (-2, -1, 0, 1)), -1]
    tables, chance = rare_flips.build_gap_tables(threshold_of(0.3)), SeededChance(9)
    return np.array([rare_flips.draw_gaps(chance, tables, 16_390)[places] for _ in range(runs)])


def smallest_p_value(gaps, q):
    """Of the numbers of gaps of 0, of 1, of 2 and of more at each place, Bonferroni."""
    shares = [q, q * (1 - q), q * (1 - q) ** 2, (1 - q) ** 3]
    found = [
        stats.chisquare(np.bincount(np.minimum(one, 3), minlength=4), np.multiply(shares, len(one)))
        for one in gaps.T
    ]
    return min(float(one.pvalue) for one in found) * len(found)


def test_gaps_beside_borders_have_the_distribution_of_all():
    """False alarm below 10^-6."""
    assert smallest_p_value(gaps_near_borders(), 0.3) > 1e-6


def test_a_border_after_which_every_gap_is_none_is_found():
    gaps = gaps_near_borders()
    gaps[:, 4] = 0
    assert smallest_p_value(gaps, 0.3) < 1e-6
