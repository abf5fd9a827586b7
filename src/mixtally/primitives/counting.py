"""Column counts of packed rows by bit-sliced carry-save addition.

A *stretch* is the smallest number of rows that fills whole 64-bit words. A *plane* is a run of
consecutive stretches, and all planes are equally long. So the same word of any two planes has bits
of the same columns. Three planes of one weight become one plane of this weight and one of twice the
weight, the carry, by five operations on all columns at once. For each weight one plane is kept, its
*total*. A carry waits until a second carry of its weight arrives. Then both carries are added to
the total of that weight in one step, which costs half as much as adding them one by one. The
*level* of a plane is the logarithm of its weight to base 2. Only the totals and the waiting carries
are unpacked into integers, at the end. Source: Warren, Hacker's Delight, 2nd edition, section 5-2
(Harley and Seal).
"""

import math
from itertools import zip_longest

import numpy as np

from mixtally.primitives import compiled
from mixtally.primitives.bits import Counts, Rows, spans
from mixtally.primitives.chance import Words

# NumPy planes fit the cache and are large enough to outweigh the interpreter's overhead. For few
# rows planes are smaller, so that most of the rows fill whole planes.
_LEAST_PLANE_BYTES, _PLANE_BYTES, _FEW_PLANES = 1 << 14, 1 << 16, 64
# Sixteen groups of sixteen planes are added in one call. Planes at distances of a power of two
# would compete for the same cache lines, so the size is not a power of two.
_COMPILED_PLANE_BYTES, _COMPILED_LEVELS = 8000, 8
_SAVED_SECONDS_A_BYTE = 0.3e-9
# A uint8 counts up to 255 rows without overflow.
_MOST_ONES, _SLAB_BYTES, _WIDE_BYTES = 255, 1 << 16, 256


def column_counts(rows: Rows, columns: int) -> Counts:
    """Return the number of rows in which each column's bit is set, shape (columns,).

    Parameters
    ----------
    rows : Rows
        Packed bits of shape (rows, row bytes).
    columns : int
        The number of columns.
    """
    counter = ColumnCounter(rows.shape[1], rows.size)
    counter.add(rows)
    return counter.counts(columns)


class ColumnCounter:
    """A running count of the set bits in each column, over rows that arrive in several calls."""

    def __init__(self, row_bytes: int, expected_bytes: int) -> None:
        """Prepare for rows of ``row_bytes`` bytes each and about ``expected_bytes`` in total."""
        self._row_bytes, stretch = row_bytes, math.lcm(max(1, row_bytes), 8)
        self._compiled = compiled.load_kernels(_SAVED_SECONDS_A_BYTE * expected_bytes)
        expected = min(max(_LEAST_PLANE_BYTES, expected_bytes // _FEW_PLANES), _PLANE_BYTES)
        if self._compiled:
            expected = _COMPILED_PLANE_BYTES
        self._words = max(1, expected // stretch) * stretch // 8
        self._first = _COMPILED_LEVELS if self._compiled else 1
        self._low = np.zeros((self._first, self._words), dtype=np.uint64)
        self._totals = list(self._low)
        self._carries = np.empty((16 if self._compiled else 0, self._words), dtype=np.uint64)
        self._waiting: list[Words] = []
        self._waits: list[bool] = []
        self._spare = [np.empty(self._words, dtype=np.uint64) for _ in range(3)]
        self._buffer = np.empty(8 * self._words << self._first, dtype=np.uint8)
        self._filled = 0

    def add(self, rows: Rows) -> None:
        """Add ``rows`` to the counts; they are uint8 of shape (rows, row bytes)."""
        flat = np.ascontiguousarray(rows).reshape(-1)
        if self._filled:
            flat = self._buffer_rows(flat)
            if self._filled < self._buffer.size:
                return
            self._add_groups(self._buffer)
            self._filled = 0
        whole = flat.size - flat.size % self._buffer.size
        self._add_groups(flat[:whole])
        self._buffer_rows(flat[whole:])

    def counts(self, columns: int) -> Counts:
        """Return the counts of all rows added until now, shape (columns,)."""
        if self._filled >= 8 * self._words:
            self._buffer[self._filled :] = 0  # complete the group with zero rows, which add nothing
            self._add_groups(self._buffer)
            self._filled = 0
        total = _unpacked_counts(self._buffer[: self._filled].reshape(-1, self._row_bytes))
        for level, planes in enumerate(self._levels()):
            rows = planes.view(np.uint8).reshape(-1, self._row_bytes)
            total += _unpacked_counts(rows) << level
        return total[:columns]

    def _levels(self) -> list[Words]:
        """Return the planes of each weight: its total and, if a carry waits, this carry."""
        return [
            np.concatenate([total, waiting]) if waits else total
            for total, waiting, waits in zip_longest(self._totals, self._waiting, self._waits)
        ]

    def _buffer_rows(self, flat: Rows) -> Rows:
        """Copy as much of ``flat`` into the buffer as fits, and return the rest."""
        some = flat[: self._buffer.size - self._filled]
        self._buffer[self._filled : self._filled + some.size] = some
        self._filled += some.size
        return flat[some.size :]

    def _add_groups(self, flat: Rows) -> None:
        # The compiled kernels require aligned words, and a slice of a buffer may be unaligned.
        words = np.require(flat.view(np.uint64), requirements="A")
        for planes in words.reshape(-1, 1 << self._first, self._words):
            carry = self._carry_buffer(self._first)
            if self._compiled:
                groups = planes.reshape(16, 16, -1)
                self._compiled.add_groups(groups, self._low, self._carries, carry)
            else:
                _add_with_carry(self._totals[0], planes[0], planes[1], carry, self._spare[2])
            self._carry(carry)

    def _carry(self, carry: Words) -> None:
        """Add a carry to the level of its weight, and pass on the carries that result."""
        level = self._first
        while self._waits[level]:
            self._waits[level] = False
            above = self._carry_buffer(level + 1)
            _add_with_carry(self._totals[level], self._waiting[level], carry, above, self._spare[2])
            level, carry = level + 1, above
        self._waits[level] = True

    def _carry_buffer(self, level: int) -> Words:
        """Return the buffer for a carry to ``level``, or a spare one if a carry waits there."""
        while len(self._waiting) <= level:
            self._waiting.append(np.empty(self._words, dtype=np.uint64))
            self._waits.append(False)
        while len(self._totals) <= level:
            self._totals.append(np.zeros(self._words, dtype=np.uint64))
        return self._spare[level % 2] if self._waits[level] else self._waiting[level]


def _add_with_carry(total: Words, a: Words, b: Words, carry: Words, spare: Words) -> None:
    """Add ``a`` and ``b`` to ``total`` in place, and write the carry to ``carry``."""
    np.bitwise_xor(total, a, spare)
    np.bitwise_and(total, a, carry)
    np.bitwise_xor(spare, b, total)
    np.bitwise_and(spare, b, spare)
    np.bitwise_or(carry, spare, carry)


def _unpacked_counts(rows: Rows) -> Counts:
    """Return the column counts of few rows, padding included."""
    # NumPy adds long rows faster, so several short rows are viewed as one.
    joined_rows = max(1, _WIDE_BYTES // max(1, rows.shape[1]))
    whole = len(rows) - len(rows) % joined_rows
    wide = rows[:whole].reshape(-1, joined_rows * rows.shape[1])
    total = _count_slabs(rows[whole:])
    total += _count_slabs(wide).reshape(joined_rows, -1).sum(axis=0)
    return total


def _count_slabs(rows: Rows) -> Counts:
    total = np.zeros(8 * rows.shape[1], dtype=np.int64)
    for slab in spans(len(rows), min(_MOST_ONES, max(1, _SLAB_BYTES // max(1, rows.shape[1])))):
        ones = np.unpackbits(rows[slab], axis=1, bitorder="little")
        total += ones.sum(axis=0, dtype=np.uint8)  # at most 255 rows, so no overflow
    return total
