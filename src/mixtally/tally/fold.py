"""Fold messages into a tally, a span at a time; tallies add up, so any split gives the same."""

import numpy as np

from mixtally.ground import bits
from mixtally.records.layout import Form, Layout
from mixtally.records.results import Tally
from mixtally.tally.pairs import no_pairs, pair_counts

_SPAN_BYTES = 1 << 20
"""A span fits the cache with the planes of its carry-save addition."""


def empty(layout: Layout, *, pairs: bool = False) -> Tally:
    """No messages yet; raises as ``no_pairs`` where pairs are to be counted."""
    return Tally(np.zeros(layout.bins, dtype=np.int64), 0, no_pairs(layout) if pairs else None)


def tally_messages(layout: Layout, rows: bits.Rows, *, pairs: bool = False) -> Tally:
    """The counts of ``rows``, and of pairs of their bits where these are wanted.

    Raises MessageError for messages that are not of this layout, and as ``pair_counts``.
    """
    total = empty(layout)
    for span in bits.spans(len(rows), max(1, _SPAN_BYTES // layout.message_bytes)):
        total = add(total, _count(layout, layout.checked(rows[span])))
    return Tally(total.counts, total.messages, pair_counts(layout, rows)) if pairs else total


def add(a: Tally, b: Tally) -> Tally:
    """The tally of both; pairs are known where both know them."""
    pairs = None if a.pairs is None or b.pairs is None else a.pairs + b.pairs
    return Tally(a.counts + b.counts, a.messages + b.messages, pairs)


def _count(layout: Layout, rows: bits.Rows) -> Tally:
    if layout.form is Form.BITS:
        return Tally(bits.column_counts(rows, layout.bins), len(rows))
    if layout.form is Form.POSITIONS:
        _, named = layout.positions(rows)
        return Tally(np.bincount(named, minlength=layout.bins), len(rows))
    return Tally(np.bincount(layout.codes(rows), minlength=layout.bins), len(rows))
