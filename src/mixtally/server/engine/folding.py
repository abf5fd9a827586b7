"""Counting of the messages of a part: copies are dropped, and the last layer is opened.

Tallies can be added, so the order of the work and the number of workers do not matter.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import compress
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from mixtally.model.estimates import Tally
from mixtally.model.layout import Layout
from mixtally.primitives.bits import Rows
from mixtally.primitives.chance import Chance
from mixtally.protocol.tally.fold import Fold
from mixtally.protocol.tally.sift import sift
from mixtally.server.engine.copies import Copies
from mixtally.server.engine.envelope_worker import Kind
from mixtally.server.engine.mixing import join_chunks
from mixtally.server.engine.pool import Pool
from mixtally.server.engine.sorting import MOST_HELD_BYTES

COPY, UNOPENED = "a copy of another", "not sealed for this round"
"""Reasons for which a message is dropped. Results contain these texts."""


class CountWork(NamedTuple):
    """A part to be counted."""

    part: int
    size: int
    """Length of an envelope in bytes."""
    layout: Layout
    """Layout of the messages inside."""
    envelopes: Callable[[], Iterator[bytes]]
    """Returns an iterator over the received envelopes, in the same order at every call."""
    pairs: bool
    """Whether pairs of bits are counted as well."""
    keep: Callable[[Rows], None] | None = None
    """Called with all counted messages, shape (messages, bytes), some at a time."""


class CountedPart(NamedTuple):
    """The tally of a part."""

    received: int
    """Number of received envelopes."""
    tally: Tally
    dropped: dict[str, int]
    """Number of envelopes that are not in the tally, by reason. Reasons with no envelope are
    omitted."""


class PartCounter(Protocol):
    """Counter of the parts of one round."""

    def count_part(self, work: CountWork) -> CountedPart:
        """Count a part."""
        ...


class LocalPartCounter:
    """Counter that uses a pool of processes on this machine.

    If the digests that detect copies need more than ``most_held`` bytes, they are written to
    ``folder``, encrypted with a key from ``chance``.
    """

    def __init__(
        self, pool: Pool, folder: Path, chance: Chance, most_held: int = MOST_HELD_BYTES
    ) -> None:
        self._pool, self._folder = pool, folder
        self._chance, self._most_held = chance, most_held

    def count_part(self, work: CountWork) -> CountedPart:
        """Count a part; copies are dropped before anything is opened."""
        first = Copies(work.envelopes(), self._folder, self._chance, self._most_held).first
        sifted = SiftedTally(
            work.layout,
            len(first) * work.layout.message_bytes,
            pairs=work.pairs,
            keep=work.keep,
        )
        sifted.dropped[COPY] = len(first) - int(first.sum())
        own = compress(work.envelopes(), first.data)
        expected = work.layout.message_bytes
        for opened in self._pool.open_chunks(work.part, join_chunks(own), work.size, expected):
            sifted.dropped[UNOPENED] += len(opened.kinds) - opened.kinds.count(Kind.GOOD)
            sifted.add(opened.messages)
        return CountedPart(len(first), sifted.tally(), dict(+sifted.dropped))


class SiftedTally:
    """Tally of messages that arrive in chunks, without invalid messages.

    The attribute ``dropped`` has the number of invalid messages by reason. ``keep`` is called with
    the valid messages of each chunk.
    """

    def __init__(
        self,
        layout: Layout,
        expected_bytes: int,
        *,
        pairs: bool = False,
        keep: Callable[[Rows], None] | None = None,
    ) -> None:
        self._layout, self._fold = layout, Fold(layout, expected_bytes, pairs=pairs)
        self._keep = keep
        self.dropped = Counter[str]()

    def add(self, messages: bytes) -> None:
        """Add concatenated messages."""
        rows = np.frombuffer(messages, dtype=np.uint8).reshape(-1, self._layout.message_bytes)
        self.add_rows(rows)

    def add_rows(self, rows: Rows) -> None:
        """Add messages in an array of shape (messages, bytes)."""
        sifted = sift(self._layout, rows)
        self._fold.add(sifted.rows)
        if self._keep is not None:
            self._keep(sifted.rows)
        self.dropped.update(sifted.dropped)

    def tally(self) -> Tally:
        """Return the tally of all messages added so far."""
        return self._fold.tally()
