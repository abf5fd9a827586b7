"""What a collector does with the envelopes of a part: copies dropped, the last layer off, counted.

Tallies add up, so it does not matter in which order or by how many they are made.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import compress
from typing import NamedTuple, Protocol

import numpy as np

from mixtally.model.estimates import Tally
from mixtally.model.layout import Layout
from mixtally.primitives.bits import Rows
from mixtally.protocol.tally.fold import Fold
from mixtally.protocol.tally.sift import sift
from mixtally.server.engine.mixing import join_chunks
from mixtally.server.engine.pool import Pool
from mixtally.server.node.copies import first_occurrences, hash_each

COPY, UNOPENED = "a copy of another", "not sealed for this round"


class CountWork(NamedTuple):
    """A part that is to be counted.

    where
      size        bytes of an envelope
      layout      of the messages inside
      envelopes   gives those that came one by one, in the same order every time
      pairs       whether pairs of bits are counted as well
    """

    part: int
    size: int
    layout: Layout
    envelopes: Callable[[], Iterator[bytes]]
    pairs: bool


class CountedPart(NamedTuple):
    """What it has become.

    where
      came      envelopes
      dropped   reason -> how many of them are not in the tally; no entry where none is
    """

    received: int
    tally: Tally
    dropped: dict[str, int]


class PartCounter(Protocol):
    """Whoever folds parts of one round into tallies."""

    def count_part(self, work: CountWork) -> CountedPart:
        """Count one."""
        ...


class LocalPartCounter:
    """Folds with a pool of this machine."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def count_part(self, work: CountWork) -> CountedPart:
        """Count one part; copies are found before anything is opened."""
        first = first_occurrences(hash_each(work.envelopes()))
        held = SiftedTally(work.layout, len(first) * work.layout.message_bytes, pairs=work.pairs)
        held.dropped[COPY] = len(first) - int(first.sum())
        own = compress(work.envelopes(), first.tolist())
        expected = work.layout.message_bytes
        for opened in self._pool.open_chunks(work.part, join_chunks(own), work.size, expected):
            held.dropped[UNOPENED] += opened.unopened + opened.malformed
            held.add(opened.messages)
        return CountedPart(len(first), held.tally(), dict(+held.dropped))


class SiftedTally:
    """A tally of messages that come some at a time, the impossible ones left out.

    where
      dropped   reason -> how many
    """

    def __init__(self, layout: Layout, expected_bytes: int, *, pairs: bool = False) -> None:
        self._layout, self._fold = layout, Fold(layout, expected_bytes, pairs=pairs)
        self.dropped = Counter[str]()

    def add(self, messages: bytes) -> None:
        """Some, one after the other."""
        rows = np.frombuffer(messages, dtype=np.uint8).reshape(-1, self._layout.message_bytes)
        self.add_rows(rows)

    def add_rows(self, rows: Rows) -> None:
        """Some, shape (messages, bytes)."""
        sifted = sift(self._layout, rows)
        self._fold.add(sifted.rows)
        self.dropped.update(sifted.dropped)

    def tally(self) -> Tally:
        """That of all until now."""
        return self._fold.tally()
