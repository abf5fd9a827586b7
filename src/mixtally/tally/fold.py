"""Fold messages into a tally, a span at a time; tallies add up, so any split gives the same."""

import numpy as np

from mixtally.ground import bits
from mixtally.records.layout import Form, Layout
from mixtally.records.results import Tally

_SPAN_BYTES = 1 << 20
"""A span fits the cache with the planes of its carry-save addition."""


def empty(layout: Layout) -> Tally:
    """No messages yet."""
    return Tally(np.zeros(layout.bins, dtype=np.int64), 0)


def tally_messages(layout: Layout, rows: bits.Rows) -> Tally:
    """The counts of ``rows``; raises MessageError for messages that are not of this layout."""
    total = empty(layout)
    for span in bits.spans(len(rows), max(1, _SPAN_BYTES // layout.message_bytes)):
        total = add(total, _count(layout, layout.checked(rows[span])))
    return total


def add(a: Tally, b: Tally) -> Tally:
    """The tally of both."""
    return Tally(a.counts + b.counts, a.messages + b.messages)


def _count(layout: Layout, rows: bits.Rows) -> Tally:
    if layout.form is Form.BITS:
        return Tally(bits.column_counts(rows, layout.bins), len(rows))
    return Tally(np.bincount(layout.codes(rows), minlength=layout.bins), len(rows))
