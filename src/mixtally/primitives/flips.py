"""Independent random flips of every bit of packed rows, by the faster of two exact algorithms."""

import numpy as np

from mixtally.primitives.bit_slicing import coin_rows
from mixtally.primitives.bits import Rows
from mixtally.primitives.chance import Chance
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.memo import Memo
from mixtally.primitives.rare_flips import draw_coin_positions

SKIP_BELOW = SCALE // 100
"""Threshold below which gaps between flips are drawn. As measured, a gap is then faster to draw
than the digits of the bits in it."""


def flip(
    rows: Rows, columns: int, threshold: int, chance: Chance, memo: Memo | None = None
) -> Rows:
    """Return a copy of ``rows`` in which each bit is flipped independently.

    Parameters
    ----------
    rows : array of uint8, shape (rows, ceil(columns / 8))
        Packed rows. The padding stays zero.
    columns : int
        The number of bits in a row.
    threshold : int
        The exact flip probability times 2^64.
    chance : Chance
        The source of random words.
    memo : Memo, optional
        A cache of the tables for rare flips, for repeated calls.
    """
    if threshold < SKIP_BELOW:
        return _flip_few(rows, columns, threshold, chance, memo)
    return _flip_many(rows, columns, threshold, chance)


def _flip_few(
    rows: Rows, columns: int, threshold: int, chance: Chance, memo: Memo | None = None
) -> Rows:
    ones = draw_coin_positions(chance, threshold, len(rows) * columns, memo)
    if spare := 8 * rows.shape[1] - columns:
        ones += ones // columns * spare  # skip the padding, which is never flipped
    flipped = rows.copy()
    flat, places = flipped.reshape(-1), ones >> 3
    masks = np.left_shift(np.uint8(1), ones.astype(np.uint8) & 7)
    while len(places):
        # If several flips share a byte, NumPy applies only the last. The others follow.
        flat[places] ^= masks
        (others,) = (places[1:] == places[:-1]).nonzero()
        places, masks = places[others], masks[others]
    return flipped


def _flip_many(rows: Rows, columns: int, threshold: int, chance: Chance) -> Rows:
    noise = coin_rows(chance, threshold, rows)
    if columns % 8:
        noise[:, -1] &= (1 << columns % 8) - 1
    noise ^= rows
    return noise
