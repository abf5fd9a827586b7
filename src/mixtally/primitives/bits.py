"""Rows of packed bits: bit j of a row is bit j % 8, counted from the least, of its byte j // 8."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.uint8]
Counts = NDArray[np.int64]


def row_bytes(columns: int) -> int:
    """Bytes in a row of ``columns`` bits."""
    return -(-columns // 8)


def one_hot_rows(positions: NDArray[np.integer], columns: int) -> Rows:
    """Rows with the one bit at each position set, shape (positions, row bytes).

    Raises IndexError for a position outside its row: it would be set in another one.
    """
    width = row_bytes(columns)
    if len(positions) and not 0 <= positions.min() <= positions.max() < 8 * width:
        raise IndexError(f"one bit of {columns:,}: no such position in a row of {width:,} bytes")
    flat = np.zeros(len(positions) * width, dtype=np.uint8)
    places = np.arange(0, len(flat), width)
    places += (positions >> 3).astype(np.int64, copy=False)
    flat[places] = np.left_shift(np.uint8(1), (positions & 7).astype(np.uint8))
    return flat.reshape(len(positions), width)


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
