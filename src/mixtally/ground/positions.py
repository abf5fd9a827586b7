"""Ascending bin numbers packed into rows of one length: a count, then so many bits a number.

Bits are counted from the least of each byte on, as in ``bits``.
"""

import numpy as np
from numpy.typing import NDArray

from mixtally.ground.bits import Rows, row_bytes

Integers = NDArray[np.int64]


def pack_positions(
    rows: Integers, numbers: Integers, count: int, cap: int, width: int, count_bytes: int
) -> Rows:
    """``count`` rows, row rows[i] holding numbers[i], at most ``cap`` each.

    where
      rows          ascending, shape (numbers,)
      width         bits a number
      count_bytes   bytes in front that say how many numbers a row holds
    """
    out = np.zeros((count, count_bytes + row_bytes(cap * width)), dtype=np.uint8)
    many = np.bincount(rows, minlength=count)
    out[:, :count_bytes] = many.astype("<u8").view(np.uint8).reshape(-1, 8)[:, :count_bytes]
    slot = np.arange(len(rows)) - np.repeat(np.cumsum(many) - many, many)
    start = slot * width
    place, shifted = start >> 3, numbers.astype(np.uint64) << (start & 7).astype(np.uint64)
    flat = out.reshape(-1)
    base = rows * out.shape[1] + count_bytes + place
    for byte in range(row_bytes(width + 7)):
        part = (shifted >> np.uint64(8 * byte)).astype(np.uint8)
        held = np.flatnonzero(part)  # beyond a row's end nothing is left to write
        np.bitwise_or.at(flat, base[held] + byte, part[held])
    return out


def unpack_positions(
    rows: Rows, cap: int, width: int, count_bytes: int
) -> tuple[Integers, Integers]:
    """How many numbers each row holds, at most ``cap``, and the numbers, row after row."""
    wide = np.zeros((len(rows), 8), dtype=np.uint8)
    wide[:, :count_bytes] = rows[:, :count_bytes]
    many = np.minimum(wide.view("<u8").reshape(-1).astype(np.int64), cap)
    row = np.repeat(np.arange(len(rows)), many)
    start = (np.arange(len(row)) - np.repeat(np.cumsum(many) - many, many)) * width
    base = row * rows.shape[1] + count_bytes + (start >> 3)
    flat, last = np.ascontiguousarray(rows).reshape(-1), rows.size - 1
    value = np.zeros(len(row), dtype=np.uint64)
    for byte in range(row_bytes(width + 7)):  # past the end: bits that the mask drops
        value |= flat[np.minimum(base + byte, last)].astype(np.uint64) << np.uint64(8 * byte)
    value >>= (start & 7).astype(np.uint64)
    return many, (value & np.uint64((1 << width) - 1)).astype(np.int64)
