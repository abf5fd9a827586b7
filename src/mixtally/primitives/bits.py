"""Rows of packed bits.

Messages, noise and answers are all stored in this form. Bit j of a row is bit j % 8 of byte j // 8,
where bit 0 of a byte is its least significant one.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.uint8]
Counts = NDArray[np.int64]


def row_bytes(columns: int) -> int:
    """Return the number of bytes in a row of ``columns`` bits."""
    return -(-columns // 8)


def one_hot_rows(positions: NDArray[np.integer], columns: int) -> Rows:
    """Return one row for each position, with only the bit at this position set.

    Raise IndexError for a position outside its row, because it would set a bit of another row.

    Parameters
    ----------
    positions : ndarray of integer
        The positions, in [0, columns).
    columns : int
        The number of bits in a row.
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
    """Return whether each row has a bit set after its last column, shape (rows,).

    Parameters
    ----------
    rows : Rows
        Packed bits of shape (rows, row bytes).
    columns : int
        The number of columns. All later bits are padding.
    """
    spare = 8 * rows.shape[1] - columns
    if spare == 0:
        return np.zeros(len(rows), dtype=bool)
    # Padding is shorter than a byte, so only the last byte of a row can contain any.
    past: NDArray[np.bool_] = rows[:, -1] >> (8 - spare) != 0
    return past


def spans(total: int, size: int) -> Iterator[slice]:
    """Yield consecutive slices that together cover the indices 0 to ``total`` - 1.

    Parameters
    ----------
    total : int
        The number of items.
    size : int
        The maximum number of items in a slice, at least 1.
    """
    for start in range(0, total, size):
        yield slice(start, min(start + size, total))
