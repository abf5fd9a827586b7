"""Ascending bin numbers packed into rows of equal length.

A row begins with the count of its numbers. Each number has ``width`` bits, which are called a
*slot* of the row.

The bits of each byte are counted from the least significant one, as in ``bits``.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mixtally.primitives.bits import Rows, row_bytes
from mixtally.primitives.draw import Integers


def pack_positions(
    rows: Integers, numbers: Integers, count: int, cap: int, width: int, count_bytes: int
) -> Rows:
    """Return packed rows, where row ``rows[i]`` contains the number ``numbers[i]``.

    Parameters
    ----------
    rows : array of int, shape (numbers,)
        The index of the row that contains each number, ascending.
    numbers : array of int, shape (numbers,)
        The numbers, ascending within a row.
    count, cap : int
        The number of rows, and the largest possible number of numbers in a row.
    width : int
        The number of bits of a number.
    count_bytes : int
        The number of bytes at the front of a row that store how many numbers follow.
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
        # Zero bytes are skipped, because a zero byte may be beyond the end of its row.
        nonzero = np.flatnonzero(part)
        np.bitwise_or.at(flat, base[nonzero] + byte, part[nonzero])
    return out


class Slots(NamedTuple):
    """The content of packed rows, one slot at a time.

    Attributes
    ----------
    numbers_in_row : array of int, shape (rows,)
        The number of occupied slots of each row, at most the cap.
    numbers : array of unsigned int, shape (cap, rows)
        The number read from every slot, occupied or not.
    occupied : array of bool, shape (cap, rows)
        Which slots contain a number of the row.
    """

    numbers_in_row: Integers
    numbers: NDArray[np.unsignedinteger]
    occupied: NDArray[np.bool_]


def read_slots(rows: Rows, cap: int, width: int, count_bytes: int) -> Slots:
    """Read every slot of ``rows``, one slot of all rows at a time.

    Parameters
    ----------
    rows : array of uint8, shape (rows, row bytes)
        Packed rows, as ``pack_positions`` returns them.
    cap : int
        The number of slots in a row.
    width : int
        The number of bits of a slot.
    count_bytes : int
        The number of bytes at the front of a row that store how many slots are occupied.
    """
    # The padding allows reads of 8 bytes that begin in the last byte of the last row.
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
    """Return the length of each list of numbers in packed rows, and all numbers row by row.

    Parameters
    ----------
    rows : Rows
        The packed rows, shape (rows, row bytes).
    cap : int
        The maximum length of a list; longer lengths are read as this number.
    width : int
        The number of bits of each number.
    count_bytes : int
        The number of bytes that store the length.
    """
    found = read_slots(rows, cap, width, count_bytes)
    numbers, filled = (np.ascontiguousarray(table.T) for table in found[1:])
    return found.numbers_in_row, numbers[filled].astype(np.int64)
