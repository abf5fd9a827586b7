"""Yes/no answers as text, and records of several bits.

The readers of ``lab.data`` and the commands that encode one answer call these functions.
"""

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import DataError, pluralize
from mixtally.primitives.bits import Rows, row_bytes

YES = frozenset({"1", "1.0", "yes", "y", "true", "t"})
NO = frozenset({"0", "0.0", "no", "n", "false", "f"})


def parse_bit(text: str, subject: str) -> int:
    """Return 1 for a text in ``YES`` and 0 for one in ``NO``; raise DataError for any other text.

    Parameters
    ----------
    text : str
        The text, in upper or lower case, with or without spaces around it.
    subject : str
        The place of the text for the error message, such as a file and a line.
    """
    word = text.strip().lower()
    if word in YES:
        return 1
    if word in NO:
        return 0
    raise DataError(
        subject,
        expected="0 or 1, no or yes, false or true",
        got=repr(text),
        do="recode the column",
    )


def parse_vector(text: str, length: int | None, subject: str) -> bytes:
    """Return the bits of a string like ``01101`` as bytes with the values 0 and 1.

    Parameters
    ----------
    text : str
        One digit for each bit.
    length : int or None
        The expected number of bits; None accepts any number.
    subject : str
        The place of the text for the error message, such as a file and a line.

    Raises
    ------
    DataError
        If the text has another length, or a character other than 0 and 1.
    """
    if not text.strip("01") == "" or not text:
        raise DataError(
            subject,
            expected="a string of zeros and ones",
            got=repr(text),
            do="write one digit a bit",
        )
    if length is not None and len(text) != length:
        raise DataError(
            subject,
            expected=pluralize(length, "bit"),
            got=f"{len(text)}, {text!r}",
            do="write every bit of every record, zeros in front included",
        )
    return bytes(text, "ascii").translate(_DIGITS)


_DIGITS = bytes(max(0, code - ord("0")) for code in range(256))
"""The translation table from the characters "0" and "1" to the values 0 and 1."""


def pack_vectors(vectors: bytes | bytearray, length: int) -> Rows:
    """Pack concatenated vectors into rows of bits, shape (vectors, row bytes).

    Parameters
    ----------
    vectors : bytes or bytearray
        The vectors, one byte of value 0 or 1 for each bit.
    length : int
        The number of bits of a vector.
    """
    table = np.frombuffer(vectors, dtype=np.uint8).reshape(-1, length)
    return np.packbits(table, axis=1, bitorder="little")


def rows_of(
    people: NDArray[np.int64], positions: NDArray[np.int64], users: int, columns: int
) -> Rows:
    """Return packed rows with the given bits set and all others zero, shape (users, row bytes).

    Parameters
    ----------
    people : ndarray of int64
        The row of each set bit, shape (pairs,).
    positions : ndarray of int64
        The column of each set bit, shape (pairs,).
    users : int
        The number of rows.
    columns : int
        The number of bits in a row.
    """
    rows = np.zeros((users, row_bytes(columns)), dtype=np.uint8)
    masks = np.left_shift(1, positions & 7).astype(np.uint8)
    np.bitwise_or.at(rows, (people, positions >> 3), masks)
    return rows


def numbers_of(
    people: NDArray[np.int64], positions: NDArray[np.int64], users: int, columns: int
) -> NDArray[np.int64]:
    """Return for each person the numbers of the bits that are set, in ascending order.

    The shape is (users, width), where the width is the largest number of set bits of any person,
    but at least 1. Unused places contain -1.

    Parameters
    ----------
    people : ndarray of int64
        The person of each set bit, shape (pairs,).
    positions : ndarray of int64
        The number of each set bit, shape (pairs,).
    users : int
        The number of people.
    columns : int
        The number of bits of a record.
    """
    # Sorting and dropping equal neighbors is ten times as fast here as ``np.unique``.
    every = np.sort(people * columns + positions)
    every = every[np.diff(every, prepend=-1) > 0]
    who, what = np.divmod(every, columns)
    sizes = np.bincount(who, minlength=users)
    place = np.arange(len(who)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    rows = np.full((users, 1 + int(place.max(initial=0))), -1, dtype=np.int64)
    rows[who, place] = what
    return rows


def count_set_bits(rows: Rows) -> NDArray[np.int64]:
    """Return the number of bits set in each row, shape (rows,)."""
    sizes: NDArray[np.int64] = np.bitwise_count(rows).sum(axis=1, dtype=np.int64)
    return sizes
