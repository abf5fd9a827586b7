"""Counts of several bits together: for all pairs, or for every pattern of a few bits.

The search for frequent item sets in ``lab.simulation.baskets`` calls this module.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import ParameterError
from mixtally.model.layout import Layout
from mixtally.primitives import bits
from mixtally.protocol.tally.pairs import count_pairs

MOST_PAIR_BINS = 4096
"""The largest number of bins whose pairs are counted; their table then takes 128 MB."""
# Bits that are unpacked at a time, to limit memory.
_SPAN_CELLS = 1 << 22


def count_all_pairs(layout: Layout, rows: bits.Rows) -> NDArray[np.int64]:
    """Count the messages that set both bits of each pair, shape (bins, bins).

    The diagonal is the tally. The counts of separate batches can be added up.

    Parameters
    ----------
    layout : Layout
        The format of the messages.
    rows : Rows
        The messages, shape (messages, bytes).

    Raises
    ------
    MessageError
        If a message does not have the layout.
    ParameterError
        If there are more than 4,096 bins.
    """
    if layout.bins > MOST_PAIR_BINS:
        raise ParameterError(
            "bins",
            expected=f"at most {MOST_PAIR_BINS:,} to count all pairs",
            got=f"{layout.bins:,}",
            do="choose the frequent bins first and count patterns of these",
        )
    return count_pairs(layout, rows, MOST_PAIR_BINS)


def count_patterns(
    layout: Layout, rows: bits.Rows, sets: Sequence[tuple[int, ...]]
) -> NDArray[np.int64]:
    """Count the messages that show each pattern of the bits of each set.

    Parameters
    ----------
    layout : Layout
        The format of the messages.
    rows : Rows
        The messages, shape (messages, bytes).
    sets : sequence of tuple of int
        Sets of m bins each.

    Returns
    -------
    array of int
        Shape (sets, 2^m). Bit k of the number of a pattern is the k-th bin of the set.

    Raises
    ------
    MessageError
        If a message does not have the layout.
    """
    size = len(sets[0]) if sets else 0
    total = np.zeros((len(sets), 1 << size), dtype=np.int64)
    for span in bits.spans(len(rows), max(1, _SPAN_CELLS // layout.bins)):
        packed = layout.to_packed_bits(layout.check_rows(rows[span]))
        ones = np.unpackbits(packed, axis=1, count=layout.bins, bitorder="little")
        columns = np.ascontiguousarray(np.packbits(ones, axis=0).T)
        for place, bins in enumerate(sets):
            total[place] += _count_at_least(columns[list(bins)], len(rows[span]))
    return _count_exactly(total, size)


def _count_at_least(columns: bits.Rows, messages: int) -> NDArray[np.int64]:
    """Count the messages that set at least the bits of each pattern, shape (2^m,).

    ``columns`` has the packed bits of all messages for each of m bins.
    """
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
    """Return the number of messages with exactly the bits of each pattern.

    ``at_least`` has the number of messages that set at least these bits. Patterns have ``size``
    bits.
    """
    exact, patterns = at_least.copy(), np.arange(1 << size)
    for bit in range(size):
        without = patterns[patterns >> bit & 1 == 0]
        exact[:, without] -= exact[:, without | 1 << bit]
    return exact
