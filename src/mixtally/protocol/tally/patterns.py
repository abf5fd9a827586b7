"""How often bits were set together: for all pairs at once, or every pattern of a few bits."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import ParameterError
from mixtally.model.layout import Layout
from mixtally.primitives import bits

MOST_PAIR_BINS = 4096
"""Counts of all pairs of so many bins take 128 MB."""
_SPAN_CELLS = 1 << 22


def count_all_pairs(layout: Layout, rows: bits.Rows) -> NDArray[np.int64]:
    """How many messages set both bits of each pair, shape (bins, bins); the diagonal is the tally.

    Raises MessageError for messages that are not of this layout, ParameterError for more than 4,096
    bins. Counts add up over spans of messages.
    """
    if layout.bins > MOST_PAIR_BINS:
        raise ParameterError(
            "bins",
            expected=f"at most {MOST_PAIR_BINS:,} to count all pairs",
            got=f"{layout.bins:,}",
            do="choose the frequent bins first and count patterns of these",
        )
    total = np.zeros((layout.bins, layout.bins), dtype=np.int64)
    # Sums of products of 0 and 1 are exact in single precision up to 2^24 of them.
    for span in bits.spans(len(rows), max(1, _SPAN_CELLS // layout.bins)):
        ones = _unpack_rows(layout, rows[span]).astype(np.float32)
        total += (ones.T @ ones).astype(np.int64)
    return total


def count_patterns(
    layout: Layout, rows: bits.Rows, sets: Sequence[tuple[int, ...]]
) -> NDArray[np.int64]:
    """How many messages show each pattern of each set's bits, shape (sets, 2^m) for sets of m bins.

    Bit k of a pattern's number is the k-th bin of the set. Raises MessageError for messages that
    are not of this layout.
    """
    size = len(sets[0]) if sets else 0
    total = np.zeros((len(sets), 1 << size), dtype=np.int64)
    for span in bits.spans(len(rows), max(1, _SPAN_CELLS // layout.bins)):
        ones = np.packbits(_unpack_rows(layout, rows[span]), axis=0).T
        columns = np.ascontiguousarray(ones)
        for place, bins in enumerate(sets):
            total[place] += _count_at_least(columns[list(bins)], len(rows[span]))
    return _count_exactly(total, size)


def _count_at_least(columns: bits.Rows, messages: int) -> NDArray[np.int64]:
    """How many messages set at least the bits of each pattern; ``columns`` pack a bit a row."""
    size = len(columns)
    counts = np.empty(1 << size, dtype=np.int64)
    counts[0], shown = messages, [columns[0]] * (1 << size)
    for pattern in range(1, 1 << size):
        top = pattern.bit_length() - 1
        rest = pattern ^ (1 << top)
        shown[pattern] = shown[rest] & columns[top] if rest else columns[top]
        counts[pattern] = np.bitwise_count(shown[pattern]).sum(dtype=np.int64)
    return counts


def _count_exactly(at_least: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """From messages that set at least a pattern's bits to those that set no others of the set."""
    exact, patterns = at_least.copy(), np.arange(1 << size)
    for bit in range(size):
        without = patterns[patterns >> bit & 1 == 0]
        exact[:, without] -= exact[:, without | 1 << bit]
    return exact


def _unpack_rows(layout: Layout, rows: bits.Rows) -> NDArray[np.uint8]:
    whole = layout.to_packed_bits(layout.check_rows(rows))
    return np.unpackbits(whole, axis=1, count=layout.bins, bitorder="little")
