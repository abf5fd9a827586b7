"""Tallies: how many messages set each bin, counted span by span.

The collector, the shards of ``server.engine`` and the simulation call this module. Tallies add up,
so every split of the messages gives the same counts.
"""

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
from mixtally.primitives.wide import Numbers
from mixtally.protocol.tally.pairs import count_pairs, empty_pairs

_SPAN_BYTES = 1 << 20
"""Bytes of messages that are validated and counted at a time, so that a span stays in the cache."""
_SAVED_SECONDS_A_BYTE = 10e-9
"""Seconds that compiled kernels save for each byte of messages of the form ``positions``. Kernels
are compiled only if the saving for all expected bytes exceeds the time of compilation."""
_FRESH = 1 << 20
"""How many bin numbers are buffered before they are sorted and merged into the counts."""


def empty_tally(layout: Layout, *, pairs: bool = False) -> Tally:
    """Return the tally of no messages, to which tallies of messages can be added.

    Parameters
    ----------
    layout : Layout
        The format of the messages.
    pairs : bool
        Whether the tally has counts of pairs of bits. If so, errors are raised as by
        ``empty_pairs``.
    """
    return Fold(layout, 0, pairs=pairs).tally()


class Fold:
    """A tally to which messages are added in several batches.

    Adding to one ``Fold`` is faster than adding up the tallies of the batches.
    """

    def __init__(self, layout: Layout, expected_bytes: int, *, pairs: bool = False) -> None:
        """Prepare for messages of about ``expected_bytes`` bytes in total.

        With ``pairs``, raise the errors of ``empty_pairs``.
        """
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
        """Count ``rows`` in addition to the messages so far.

        Raises MessageError for a message of another layout. After this error, the fold must not be
        used.
        """
        for span in bits.spans(len(rows), max(1, _SPAN_BYTES // self._layout.message_bytes)):
            self._counter.add(rows[span])
        if self._pairs is not None:
            self._pairs += count_pairs(self._layout, rows)
        self._messages += len(rows)

    def tally(self) -> Tally:
        """Return the tally of all messages so far."""
        pairs = None if self._pairs is None else self._pairs.copy()
        counts, codes = self._counter.counts()
        return Tally(counts, self._messages, pairs, codes)


def tally_messages(layout: Layout, rows: bits.Rows, *, pairs: bool = False) -> Tally:
    """Count messages, and the pairs of their bits if these are requested.

    Parameters
    ----------
    layout : Layout
        The format of the messages.
    rows : Rows
        The messages, shape (messages, bytes).
    pairs : bool
        Whether pairs of bits are counted.

    Raises
    ------
    MessageError
        If a message does not have the layout, or has one bin and pairs are requested.
    ParameterError
        If pairs are requested for more than 2,000 bins.
    """
    fold = Fold(layout, rows.size, pairs=pairs)
    fold.add(rows)
    return fold.tally()


def add_tallies(a: Tally, b: Tally) -> Tally:
    """Return the tally of the messages of both tallies.

    The result has pair counts only if both tallies have them.

    Parameters
    ----------
    a : Tally
        A tally of the same bins as ``b``.
    b : Tally
        The other tally.
    """
    messages = a.messages + b.messages
    if a.codes is not None and b.codes is not None:
        codes, counts = _merge_counts([a.codes, b.codes], [a.counts, b.counts])
        return Tally(counts, messages, None, codes)
    pairs = None if a.pairs is None or b.pairs is None else a.pairs + b.pairs
    return Tally(a.counts + b.counts, messages, pairs)


def _merge_counts(codes: Sequence[Numbers], counts: Sequence[Counts]) -> tuple[Numbers, Counts]:
    """Merge sparse counts: return the distinct bins, ascending, and the sum of the counts of each.

    Each array of ``codes`` is sorted already, which makes a stable sort fast.
    """
    every = np.concatenate(codes)
    order = np.argsort(every, kind="stable")
    every, many = every[order], np.concatenate(counts)[order]
    (begins,) = np.nonzero(np.append(True, every[1:] != every[:-1])[: len(every)])
    return every[begins], np.add.reduceat(many, begins) if len(every) else many


class _Counter(Protocol):
    """A counter for messages of one form, which validates messages as they are added."""

    def add(self, rows: bits.Rows) -> None: ...

    def counts(self) -> tuple[Counts, Numbers | None]: ...


class _BitCounter:
    """Counts of messages that are packed bits."""

    def __init__(self, layout: Layout, expected_bytes: int) -> None:
        self._layout = layout
        self._columns = ColumnCounter(layout.message_bytes, expected_bytes)

    def add(self, rows: bits.Rows) -> None:
        self._columns.add(self._layout.check_rows(rows))

    def counts(self) -> tuple[Counts, None]:
        return self._columns.counts(self._layout.bins), None


class _SparseCounter:
    """Counts of messages that name one bin, where most bins stay empty."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._codes: Numbers = np.zeros(0, dtype=layout.code_type)
        self._counts: Counts = np.zeros(0, dtype=np.int64)
        self._fresh: list[Numbers] = []

    def add(self, rows: bits.Rows) -> None:
        self._fresh.append(self._layout.read_bins(rows))
        # Merging only when the buffer is longer than the counts keeps its total cost linear.
        if sum(map(len, self._fresh)) > max(_FRESH, len(self._codes)):
            self._merge_fresh()

    def counts(self) -> tuple[Counts, Numbers]:
        self._merge_fresh()
        return self._counts, self._codes

    def _merge_fresh(self) -> None:
        if self._fresh:
            codes, counts = np.unique(np.concatenate(self._fresh), return_counts=True)
            self._codes, self._counts = _merge_counts([self._codes, codes], [self._counts, counts])
            self._fresh = []


class _NumberCounter:
    """Counts of messages that contain the numbers of their bins."""

    def __init__(self, layout: Layout, expected_bytes: int) -> None:
        self._layout = layout
        self._total = np.zeros(layout.bins, dtype=np.int64)
        positions = layout.form is Form.POSITIONS
        self._fast = (
            compiled.load_kernels(_SAVED_SECONDS_A_BYTE * expected_bytes) if positions else None
        )

    def add(self, rows: bits.Rows) -> None:
        if self._fast is None or not self._count_compiled(self._fast, rows):
            # This path also reports which message is invalid, after a compiled kernel has refused
            # the rows.
            named = self._layout.read_bins(rows)
            self._total += np.bincount(named, minlength=self._layout.bins)

    def counts(self) -> tuple[Counts, None]:
        return self._total.copy(), None

    def _count_compiled(self, fast: ModuleType, rows: bits.Rows) -> bool:
        """Count ``rows`` with compiled kernels, and return whether all rows are valid.

        If a row is invalid, none is counted.
        """
        layout, counts = self._layout, np.zeros_like(self._total)
        if rows.shape[1:] != (layout.message_bytes,):
            return False
        form = (layout.cap, layout.position_bits, layout.count_bytes, layout.bins)
        if good := bool(fast.count_positions(np.ascontiguousarray(rows), *form, counts)):
            self._total += counts
        return good
