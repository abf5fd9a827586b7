"""Fold messages into a tally, a span at a time; tallies add up, so any split gives the same."""

from collections.abc import Sequence
from types import ModuleType
from typing import Protocol

import numpy as np

from mixtally.model.estimates import Tally
from mixtally.model.layout import Form, Layout
from mixtally.model.question import MOST_BINS
from mixtally.primitives import bits, compiled
from mixtally.primitives.bits import Counts
from mixtally.primitives.counting import ColumnCounter
from mixtally.protocol.tally.pairs import count_pairs, empty_pairs

_SPAN_BYTES = 1 << 20
"""A span fits the cache: what was checked is counted before it is forgotten."""
_SAVED_SECONDS_A_BYTE = 10e-9
"""By compiled kernels, of positions."""
_FRESH = 1 << 20
"""Numbers that are held before they are merged."""


def empty_tally(layout: Layout, *, pairs: bool = False) -> Tally:
    """No messages yet; raises as ``no_pairs`` where pairs are to be counted."""
    return Fold(layout, 0, pairs=pairs).tally()


class Fold:
    """A tally of messages that come a part at a time; faster than tallies that are added up."""

    def __init__(self, layout: Layout, expected_bytes: int, *, pairs: bool = False) -> None:
        """Of about so many bytes of messages; raises as ``no_pairs`` where pairs are expected."""
        self._layout, self._messages = layout, 0
        self._pairs = empty_pairs(layout) if pairs else None
        self._counter: _Counter
        if layout.form is Form.BITS:
            self._counter = _BitCounter(layout, expected_bytes)
        elif layout.bins > MOST_BINS:
            self._counter = _SparseCounter(layout)
        else:
            self._counter = _NumberCounter(layout, expected_bytes)

    def add(self, rows: bits.Rows) -> None:
        """Count ``rows`` too.

        Raises MessageError for messages that are not of the layout, and is then void.
        """
        for span in bits.spans(len(rows), max(1, _SPAN_BYTES // self._layout.message_bytes)):
            self._counter.add(rows[span])
        if self._pairs is not None:
            self._pairs += count_pairs(self._layout, rows)
        self._messages += len(rows)

    def tally(self) -> Tally:
        """That of all messages until now."""
        pairs = None if self._pairs is None else self._pairs.copy()
        counts, codes = self._counter.counts()
        return Tally(counts, self._messages, pairs, codes)


def tally_messages(layout: Layout, rows: bits.Rows, *, pairs: bool = False) -> Tally:
    """The counts of ``rows``, and of pairs of their bits where these are expected.

    Raises MessageError for messages that are not of this layout, and as ``pair_counts``.
    """
    fold = Fold(layout, rows.size, pairs=pairs)
    fold.add(rows)
    return fold.tally()


def add_tallies(a: Tally, b: Tally) -> Tally:
    """The tally of both; pairs are known where both know them."""
    messages = a.messages + b.messages
    if a.codes is not None and b.codes is not None:
        codes, counts = _merge_counts([a.codes, b.codes], [a.counts, b.counts])
        return Tally(counts, messages, None, codes)
    pairs = None if a.pairs is None or b.pairs is None else a.pairs + b.pairs
    return Tally(a.counts + b.counts, messages, pairs)


def _merge_counts(codes: Sequence[Counts], counts: Sequence[Counts]) -> tuple[Counts, Counts]:
    """Return the bins of all, ascending, and the sums of their counts.

    Each of ``codes`` is in order, which a stable sort makes use of.
    """
    every = np.concatenate(codes)
    order = np.argsort(every, kind="stable")
    every, many = every[order], np.concatenate(counts)[order]
    (begins,) = np.nonzero(np.append(True, every[1:] != every[:-1])[: len(every)])
    return every[begins], np.add.reduceat(many, begins) if len(every) else many


class _Counter(Protocol):
    """Counts messages of one form that come a span at a time, and are checked as they come."""

    def add(self, rows: bits.Rows) -> None: ...

    def counts(self) -> tuple[Counts, Counts | None]: ...


class _BitCounter:
    """Counts of messages whose bits are packed."""

    def __init__(self, layout: Layout, expected_bytes: int) -> None:
        self._layout = layout
        self._columns = ColumnCounter(layout.message_bytes, expected_bytes)

    def add(self, rows: bits.Rows) -> None:
        self._columns.add(self._layout.check_rows(rows))

    def counts(self) -> tuple[Counts, None]:
        return self._columns.counts(self._layout.bins), None


class _SparseCounter:
    """Counts of messages that name one bin of far more than there are messages."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._codes, self._counts = np.zeros((2, 0), dtype=np.int64)
        self._fresh: list[Counts] = []

    def add(self, rows: bits.Rows) -> None:
        self._fresh.append(self._layout.read_bins(rows))
        if sum(map(len, self._fresh)) > max(_FRESH, len(self._codes)):
            self._merge_fresh()

    def counts(self) -> tuple[Counts, Counts]:
        self._merge_fresh()
        return self._counts, self._codes

    def _merge_fresh(self) -> None:
        if self._fresh:
            codes, counts = np.unique(np.concatenate(self._fresh), return_counts=True)
            self._codes, self._counts = _merge_counts([self._codes, codes], [self._counts, counts])
            self._fresh = []


class _NumberCounter:
    """Counts of messages in which the numbers of their bins are written."""

    def __init__(self, layout: Layout, expected_bytes: int) -> None:
        self._layout = layout
        self._total = np.zeros(layout.bins, dtype=np.int64)
        positions = layout.form is Form.POSITIONS
        self._fast = (
            compiled.load_kernels(_SAVED_SECONDS_A_BYTE * expected_bytes) if positions else None
        )

    def add(self, rows: bits.Rows) -> None:
        if self._fast is None or not self._count_compiled(self._fast, rows):
            named = self._layout.read_bins(rows)
            self._total += np.bincount(named, minlength=self._layout.bins)

    def counts(self) -> tuple[Counts, None]:
        return self._total.copy(), None

    def _count_compiled(self, fast: ModuleType, rows: bits.Rows) -> bool:
        """Whether all of ``rows`` were good, and are counted."""
        layout, counts = self._layout, np.zeros_like(self._total)
        if rows.shape[1:] != (layout.message_bytes,):
            return False
        form = (layout.cap, layout.position_bits, layout.count_bytes, layout.bins)
        if good := bool(fast.count_positions(np.ascontiguousarray(rows), *form, counts)):
            self._total += counts
        return good
