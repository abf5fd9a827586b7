"""Mixing of the envelopes of a part: copies are dropped, a layer is opened, messages are sorted.

The sort key is a keyed hash of the outgoing message, so repeated or distributed work gives the same
order. Fakes (dummy messages) are drawn, sealed and stored before the mixing begins. No random
number drawn here affects the output.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import compress, islice
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from mixtally.primitives.chance import Chance
from mixtally.server.engine.copies import (
    POSITION_BYTES,
    Copies,
    Mask,
    Positions,
    pack_positions,
    unpack_positions,
)
from mixtally.server.engine.envelope_worker import Kind
from mixtally.server.engine.pool import CHUNK, Pool
from mixtally.server.engine.sorting import MOST_HELD_BYTES, Sorter
from mixtally.server.node.disk import Step, no_step

Kinds = NDArray[np.uint8]


class MixWork(NamedTuple):
    """A part to be mixed."""

    part: int
    size: int
    """Length of a received envelope in bytes."""
    expected: int
    """Length of an outgoing message in bytes; messages of other lengths are dropped as
    malformed."""
    envelopes: Callable[[], Iterator[bytes]]
    """Returns an iterator over the received envelopes, in the same order at every call."""
    distinct: bool
    """Whether the envelopes are known to be distinct, so that no copies are searched for."""
    fakes: bytes
    """Concatenated outgoing messages to be added."""


class MixedPart(NamedTuple):
    """The outcome of mixing a part."""

    kinds: Kinds
    """Kind of each received envelope, in the order in which they were read."""
    pairs: Callable[[], Iterator[tuple[Positions, Positions]]]
    """Yields pairs of arrays: the positions of some copies, and the positions of the originals."""
    added: int
    """Number of added messages."""
    messages: Callable[[Mask | None], Iterator[bytes]]
    """Returns an iterator over the outgoing messages in order, many at a time. It can be called
    once. The argument is a mask of the envelopes whose messages are sent; None for all."""

    def count_kind(self, kind: Kind) -> int:
        """Return the number of envelopes of a kind."""
        return int(np.count_nonzero(self.kinds == kind))


class Mixer(Protocol):
    """Mixer of the parts of one round."""

    def mix(self, work: MixWork) -> MixedPart:
        """Mix a part; the caller then reads the sorted messages through the returned object."""
        ...


class LocalMixer:
    """Mixer that uses a pool of processes on this machine.

    If messages need more than ``most_held`` bytes, they are written to ``folder``, encrypted with a
    key from ``chance``. ``step`` is called after each chunk.
    """

    def __init__(
        self,
        pool: Pool,
        folder: Path,
        chance: Chance,
        step: Step = no_step,
        most_held: int = MOST_HELD_BYTES,
    ) -> None:
        self._pool, self._folder, self._chance = pool, folder, chance
        self._step, self._most_held = step, most_held

    def mix(self, work: MixWork) -> MixedPart:
        """Mix a part; copies are dropped before anything is opened."""
        own, copies = work.envelopes(), None
        if not work.distinct:
            copies = Copies(work.envelopes(), self._folder, self._chance, self._most_held)
            own = compress(own, copies.first.data)
        sorter = Sorter(self._folder, POSITION_BYTES + work.expected, self._chance, self._most_held)
        opened_kinds = bytearray()
        for opened in self._pool.open_chunks(work.part, join_chunks(own), work.size, work.expected):
            self._step("chunk")
            good = np.flatnonzero(np.frombuffer(opened.kinds, dtype=np.uint8) == Kind.GOOD)
            numbers = pack_positions(len(opened_kinds) + good)
            sorter.add(opened.sort_keys, numbers, opened.messages)
            opened_kinds += opened.kinds
        kinds = np.frombuffer(opened_kinds, dtype=np.uint8)
        self._add_fakes(work, sorter, len(kinds))
        added = len(work.fakes) // work.expected
        if copies is None:
            return MixedPart(kinds, _no_pairs, added, partial(_iterate_sent, sorter, None))
        every = np.full(len(copies.first), Kind.COPY, dtype=np.uint8)
        every[copies.first] = kinds
        return MixedPart(every, copies.pairs, added, partial(_iterate_sent, sorter, copies.first))

    def _add_fakes(self, work: MixWork, sorter: Sorter, number: int) -> None:
        """Add fakes to the sorter. All have the same ``number``, which no envelope has."""
        step = CHUNK * work.expected
        for start in range(0, len(work.fakes), step):
            some = work.fakes[start : start + step]
            ordered = self._pool.worker.order(work.part, some, work.expected)
            numbers = np.full(len(some) // work.expected, number)
            sorter.add(ordered.sort_keys, pack_positions(numbers), ordered.messages)


def _no_pairs() -> Iterator[tuple[Positions, Positions]]:
    return iter(())


def _iterate_sent(sorter: Sorter, first: Mask | None, sent: Mask | None) -> Iterator[bytes]:
    """Yield the messages to be sent in sorted order, many at a time.

    In the sorter, each message follows the number of its envelope, which is removed here. Both
    masks have an element for each received envelope. ``first`` is True for an envelope that was
    opened, and ``sent`` for one whose message is to be sent. A mask of None is True everywhere.
    """
    if sent is not None:
        # The last number is that of fakes.
        sent = np.append(sent if first is None else sent[first], True)
    for rows in sorter.iterate_rows():
        if sent is not None:
            rows = rows[sent[unpack_positions(rows[:, :POSITION_BYTES])]]
        yield rows[:, POSITION_BYTES:].tobytes()


def join_chunks(envelopes: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the envelopes in chunks of several concatenated envelopes."""
    while some := b"".join(islice(envelopes, CHUNK)):
        yield some
