"""Rows of packed bits: bit j of a row is bit j % 8, counted from the least, of its byte j // 8."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.uint8]
Counts = NDArray[np.int64]


def row_bytes(columns: int) -> int:
    """Bytes in a row of ``columns`` bits."""
    return -(-columns // 8)


def one_hot(positions: NDArray[np.integer], columns: int) -> Rows:
    """Rows with the one bit at each position set, shape (positions, row bytes)."""
    rows = np.zeros((len(positions), row_bytes(columns)), dtype=np.uint8)
    rows[np.arange(len(positions)), positions >> 3] = np.left_shift(1, positions & 7)
    return rows


def column_counts(rows: Rows, columns: int) -> Counts:
    """How many rows have each column's bit set, shape (columns,).

    Carry-save addition: three rows of the same weight become a sum row and a carry row of twice
    the weight, for all columns at once, until at most two rows of each weight are left.
    """
    totals = np.zeros(rows.shape[1] * 8, dtype=np.int64)
    weight, current = 1, rows
    while len(current):
        current, carries = _add_in_threes(current)
        totals += weight * np.unpackbits(current, axis=1, bitorder="little").sum(
            axis=0, dtype=np.int64
        )
        weight, current = 2 * weight, carries
    return totals[:columns]


def _add_in_threes(rows: Rows) -> tuple[Rows, Rows]:
    """At most two rows of the same weight, and the carries of twice that weight."""
    carries = []
    while (third := len(rows) // 3) > 0:
        a, b, c = rows[:third], rows[third : 2 * third], rows[2 * third : 3 * third]
        half = a ^ b
        carries.append((a & b) | (half & c))
        rows = np.concatenate([half ^ c, rows[3 * third :]])
    return rows, np.concatenate(carries) if carries else rows[:0]


def rows_with_padding(rows: Rows, columns: int) -> NDArray[np.bool_]:
    """Which rows have a bit set past ``columns``, shape (rows,)."""
    spare = 8 * rows.shape[1] - columns
    if spare == 0:
        return np.zeros(len(rows), dtype=bool)
    past: NDArray[np.bool_] = rows[:, -1] >> (8 - spare) != 0
    return past


def spans(total: int, size: int) -> Iterator[slice]:
    """0..total cut into consecutive slices of at most ``size``."""
    for start in range(0, total, size):
        yield slice(start, min(start + size, total))
