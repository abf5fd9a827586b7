"""Pair counts: in how many messages two bits are set together.

``tally.fold`` calls this module for collections that estimate pairs, tables and correlations.
"""

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import MessageError, ParameterError
from mixtally.model.layout import Form, Layout
from mixtally.primitives import bits

MOST_PAIRED = 2000
"""The largest number of bins whose pairs are counted; their table then takes 32 MB."""

_SPAN_BYTES = 1 << 19
"""Bytes of columns that are combined at a time, so that a span stays in the cache."""


def empty_pairs(layout: Layout, most: int = MOST_PAIRED) -> NDArray[np.int64]:
    """Return the pair counts of no messages: zeros of shape (bins, bins).

    Raises
    ------
    MessageError
        If a message of this layout names only one bin.
    ParameterError
        If there are more than ``most`` bins.
    """
    if layout.form is Form.INDEX:
        raise MessageError(
            "pairs",
            expected="messages that hold several bits",
            got="one bin in each",
            do="send records whole: --protocol flip or flip-blank",
        )
    if layout.bins > most:
        raise ParameterError(
            "pairs",
            expected=f"at most {most:,} bins",
            got=f"{layout.bins:,}",
            do="leave --pairs out, or ask fewer bins",
        )
    return np.zeros((layout.bins, layout.bins), dtype=np.int64)


def count_pairs(layout: Layout, rows: bits.Rows, most: int = MOST_PAIRED) -> NDArray[np.int64]:
    """Count the messages that set both bits i and j, shape (bins, bins).

    The diagonal counts the messages that set bit i. The counts of separate batches can be added up.

    Parameters
    ----------
    layout : Layout
        The format of the messages.
    rows : Rows
        The messages, shape (messages, bytes).
    most : int
        The largest number of bins.

    Raises
    ------
    MessageError
        If a message does not have the layout, or if messages of the layout name only one bin.
    ParameterError
        If there are more than ``most`` bins.
    """
    total = empty_pairs(layout, most)
    for span in bits.spans(len(rows), max(64, 8 * _SPAN_BYTES // layout.bins)):
        columns = _pack_columns(layout, layout.to_packed_bits(layout.check_rows(rows[span])))
        for i, column in enumerate(columns):
            both = np.bitwise_count(columns[i:] & column).sum(axis=1, dtype=np.int64)
            total[i, i:] += both
            total[i + 1 :, i] += both[1:]
    return total


def _pack_columns(layout: Layout, rows: bits.Rows) -> NDArray[np.uint64]:
    """Pack every column of bits into 64-bit words, shape (bins, words).

    The bitwise "and" of two columns then marks the messages that set both bits. ``rows`` must have
    one bit for each bin.
    """
    table = np.unpackbits(rows, axis=1, count=layout.bins, bitorder="little")
    packed = np.zeros((layout.bins, -(-len(rows) // 64) * 8), dtype=np.uint8)
    packed[:, : -(-len(rows) // 8)] = np.packbits(table.T, axis=1)
    return packed.view(np.uint64)
