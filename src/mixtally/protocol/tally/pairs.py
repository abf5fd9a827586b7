"""Fold messages into counts of pairs: how often two bits of one message are set together."""

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import MessageError, ParameterError
from mixtally.model.layout import Form, Layout
from mixtally.primitives import bits

MOST_PAIRED = 2000
"""Bins of which pairs are counted: their table then takes 32 MB."""

_SPAN_BYTES = 1 << 19
"""Columns of a span fit the cache."""


def empty_pairs(layout: Layout) -> NDArray[np.int64]:
    """No messages yet; raises MessageError for messages that hold one bin, ParameterError for more
    than 2,000 bins.
    """
    if layout.form is Form.INDEX:
        raise MessageError(
            "pairs",
            expected="messages that hold several bits",
            got="one bin in each",
            do="send records whole: --protocol flip or flip-blank",
        )
    if layout.bins > MOST_PAIRED:
        raise ParameterError(
            "pairs",
            expected=f"at most {MOST_PAIRED:,} bins",
            got=f"{layout.bins:,}",
            do="leave --pairs out, or ask fewer bins",
        )
    return np.zeros((layout.bins, layout.bins), dtype=np.int64)


def count_pairs(layout: Layout, rows: bits.Rows) -> NDArray[np.int64]:
    """How many of ``rows`` have bits i and j set, shape (bins, bins); on the diagonal bit i alone.

    Counts of any split of the rows add up. Raises as ``no_pairs``, and MessageError for messages
    that are not of this layout.
    """
    total = empty_pairs(layout)
    for span in bits.spans(len(rows), max(64, 8 * _SPAN_BYTES // layout.bins)):
        columns = _pack_columns(layout, layout.to_packed_bits(layout.check_rows(rows[span])))
        for i, column in enumerate(columns):
            both = np.bitwise_count(columns[i:] & column).sum(axis=1, dtype=np.int64)
            total[i, i:] += both
            total[i + 1 :, i] += both[1:]
    return total


def _pack_columns(layout: Layout, rows: bits.Rows) -> NDArray[np.uint64]:
    """Every column's bits packed into 64-bit words, shape (bins, words): a pair is one "and".

    ``rows`` have one bit a bin.
    """
    table = np.unpackbits(rows, axis=1, count=layout.bins, bitorder="little")
    packed = np.zeros((layout.bins, -(-len(rows) // 64) * 8), dtype=np.uint8)
    packed[:, : -(-len(rows) // 8)] = np.packbits(table.T, axis=1)
    return packed.view(np.uint64)
