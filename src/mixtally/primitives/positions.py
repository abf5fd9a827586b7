"""Ascending bin numbers packed into rows of one length: a count, then so many bits a number.

Bits are counted from the least of each byte on, as in ``bits``.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mixtally.primitives.bits import Rows, row_bytes

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


class Slots(NamedTuple):
    """What rows hold, slot by slot.

    where
      many      how many numbers each row holds, at most the cap, shape (rows,)
      numbers   what every slot reads as, shape (cap, rows), unsigned
      held      which slots hold a number, shape (cap, rows)
    """

    many: Integers
    numbers: NDArray[np.unsignedinteger]
    occupied: NDArray[np.bool_]


def read_slots(rows: Rows, cap: int, width: int, count_bytes: int) -> Slots:
    """Every slot of ``rows``, one slot of all rows after the other: each begins at one place."""
    padded = np.zeros((len(rows) + 1, rows.shape[1] + 8), dtype=np.uint8)
    padded[:-1, : rows.shape[1]] = rows
    wide = np.zeros((len(rows), 8), dtype=np.uint8)
    wide[:, :count_bytes] = rows[:, :count_bytes]
    many = np.minimum(wide.view("<u8").reshape(-1).astype(np.int64), cap)
    word = np.dtype("<u4" if width + 7 <= 32 else "<u8")
    numbers = np.empty((cap, len(rows)), dtype=word)
    for slot, start in enumerate(range(0, cap * width, width)):
        place = count_bytes + start // 8
        words = np.ndarray(len(rows), word, padded, place, strides=padded.strides[:1])
        np.right_shift(words, word.type(start % 8), out=numbers[slot])
    numbers &= word.type((1 << width) - 1)
    return Slots(many, numbers, np.arange(cap)[:, None] < many)


def unpack_positions(
    rows: Rows, cap: int, width: int, count_bytes: int
) -> tuple[Integers, Integers]:
    """How many numbers each row holds, at most ``cap``, and the numbers, row after row."""
    found = read_slots(rows, cap, width, count_bytes)
    numbers, held = (np.ascontiguousarray(table.T) for table in found[1:])
    return found.many, numbers[held].astype(np.int64)
