"""Flip every bit of packed rows with the same probability, by the fastest exact algorithm."""

import numpy as np

from mixtally.primitives.bit_slicing import coin_rows
from mixtally.primitives.bits import Rows
from mixtally.primitives.chance import Chance
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.memo import Memo
from mixtally.primitives.rare_flips import draw_coin_positions

SKIP_BELOW = SCALE // 100
"""Measured: below one in a hundred a gap costs less than the digits of the bits it skips."""


def flip(
    rows: Rows, columns: int, threshold: int, chance: Chance, memo: Memo | None = None
) -> Rows:
    """``rows`` with every bit of the first ``columns`` flipped with probability threshold / 2^64.

    Rows are uint8 of shape (rows, ceil(columns / 8)); padding stays zero. Both algorithms have the
    same distribution: independent flips of exactly that probability. Whoever calls this often hands
    in a ``memo``, in which the tables for rare flips stay.
    """
    if threshold < SKIP_BELOW:
        return _flip_few(rows, columns, threshold, chance, memo)
    return _flip_many(rows, columns, threshold, chance)


def _flip_few(
    rows: Rows, columns: int, threshold: int, chance: Chance, memo: Memo | None = None
) -> Rows:
    ones = draw_coin_positions(chance, threshold, len(rows) * columns, memo)
    if spare := 8 * rows.shape[1] - columns:
        ones += ones // columns * spare  # padding is stepped over: it has no coins
    flipped = rows.copy()
    flat, places = flipped.reshape(-1), ones >> 3
    masks = np.left_shift(np.uint8(1), ones.astype(np.uint8) & 7)
    while len(places):
        flat[places] ^= masks  # of ones that share a byte the last is flipped
        (others,) = (places[1:] == places[:-1]).nonzero()
        places, masks = places[others], masks[others]
    return flipped


def _flip_many(rows: Rows, columns: int, threshold: int, chance: Chance) -> Rows:
    noise = coin_rows(chance, threshold, rows)
    if columns % 8:
        noise[:, -1] &= (1 << columns % 8) - 1
    noise ^= rows
    return noise
