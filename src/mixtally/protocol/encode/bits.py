"""Bits as people write them, and records that set some of many bits."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import DataError
from mixtally.primitives.bits import Rows, row_bytes

YES = frozenset({"1", "1.0", "yes", "y", "true", "t"})
NO = frozenset({"0", "0.0", "no", "n", "false", "f"})


def parse_bit(text: str, subject: str) -> int:
    """0 or 1 for any of the ways in ``NO`` and ``YES``, in either case; DataError otherwise."""
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
    """The bits of a string like 01101 as bytes of 0 and 1.

    Raises DataError for another length than ``length`` (None: any) and for other characters.
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
            expected=f"{length} bits",
            got=f"{len(text)}, {text!r}",
            do="write every bit of every record, zeros in front included",
        )
    return bytes(text, "ascii").translate(_DIGITS)


_DIGITS = bytes(max(0, code - ord("0")) for code in range(256))


def pack_vectors(vectors: bytes | bytearray, length: int) -> Rows:
    """Concatenated vectors of ``length`` bytes of 0 and 1 as packed rows."""
    table = np.frombuffer(vectors, dtype=np.uint8).reshape(-1, length)
    return np.packbits(table, axis=1, bitorder="little")


def rows_of(
    people: NDArray[np.int64], positions: NDArray[np.int64], users: int, columns: int
) -> Rows:
    """Packed rows of ``users`` people, person people[i] having the bit positions[i] set."""
    rows = np.zeros((users, row_bytes(columns)), dtype=np.uint8)
    masks = np.left_shift(1, positions & 7).astype(np.uint8)
    np.bitwise_or.at(rows, (people, positions >> 3), masks)
    return rows


def numbers_of(
    people: NDArray[np.int64], positions: NDArray[np.int64], users: int, columns: int
) -> NDArray[np.int64]:
    """The same as ascending numbers of the bits that are set, -1 for none, in as many columns as
    the largest record has, at least one.
    """
    every = np.sort(people * columns + positions)  # of so many, np.unique takes ten times as long
    every = every[np.diff(every, prepend=-1) > 0]
    who, what = np.divmod(every, columns)
    sizes = np.bincount(who, minlength=users)
    place = np.arange(len(who)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    rows = np.full((users, 1 + int(place.max(initial=0))), -1, dtype=np.int64)
    rows[who, place] = what
    return rows


def count_set_bits(rows: Rows) -> NDArray[np.int64]:
    """How many bits each row has set, shape (rows,)."""
    sizes: NDArray[np.int64] = np.bitwise_count(rows).sum(axis=1, dtype=np.int64)
    return sizes


def make_record(positions: Iterable[int], columns: int) -> Rows:
    """One person's record with these bits set, shape (1, row bytes)."""
    chosen = np.fromiter(positions, dtype=np.int64)
    return rows_of(np.zeros(len(chosen), dtype=np.int64), chosen, 1, columns)
