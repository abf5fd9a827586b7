"""Mixing of the envelopes of a part: copies are dropped, a layer is opened, messages are sorted.

The sort key is a keyed hash of the outgoing message, so repeated or distributed work gives the same
order. Fakes are drawn, sealed and stored before. No random number drawn here affects the output.
"""

from collections.abc import Callable, Iterator
from itertools import compress, islice
from pathlib import Path
from typing import NamedTuple, Protocol

from mixtally.primitives.chance import Chance
from mixtally.server.engine.pool import CHUNK, Pool
from mixtally.server.engine.sorting import KEY_BYTES, MOST_HELD_BYTES, Sorter
from mixtally.server.node.copies import HASH_BYTES, first_occurrences, hash_each
from mixtally.server.node.disk import Step, no_step


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
    """Whether no envelope can occur twice."""
    fakes: bytes
    """Concatenated messages to be added."""


class MixedPart(NamedTuple):
    """The outcome of mixing a part."""

    received: int
    """Number of received envelopes."""
    copies: int
    """Number of envelopes equal to an earlier one."""
    unopened: int
    """Number of envelopes not sealed for this round, hop and part."""
    malformed: int
    """Number of envelopes with content of a wrong length."""
    bad: bytes
    """Concatenated SHA-256 of the unopened and malformed envelopes."""
    padding: bytes
    """Concatenated SHA-256 of the different padding envelopes. ``received`` includes these, and
    ``copies`` includes their copies."""
    messages: Iterator[bytes]
    """The outgoing messages in order, many at a time."""


class Mixer(Protocol):
    """Mixer of the parts of one round."""

    def mix(self, work: MixWork) -> MixedPart:
        """Mix a part; all work except reading the messages is done when the method returns."""
        ...


class LocalMixer:
    """Mixer that uses a pool of processes on this machine.

    Messages above ``most_held`` bytes are written to ``folder``, encrypted with a key from
    ``chance``. ``step`` is called after each chunk.
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
        kept = None if work.distinct else first_occurrences(hash_each(work.envelopes()))
        own = work.envelopes()
        if kept is not None:
            own = compress(own, kept.tolist())
        sorter = Sorter(self._folder, work.expected, self._chance, self._most_held)
        good = unopened = malformed = 0
        bad, padding = bytearray(), bytearray()
        for opened in self._pool.open_chunks(work.part, join_chunks(own), work.size, work.expected):
            self._step("chunk")
            sorter.add(opened.sort_keys, opened.messages)
            good += len(opened.sort_keys) // KEY_BYTES
            unopened += opened.unopened
            malformed += opened.malformed
            bad += opened.bad
            padding += opened.padding
        self._add_fakes(work, sorter)
        different = good + unopened + malformed + len(padding) // HASH_BYTES
        received = different if kept is None else len(kept)
        copies = received - different
        return MixedPart(
            received,
            copies,
            unopened,
            malformed,
            bytes(bad),
            bytes(padding),
            sorter.iterate_sorted(),
        )

    def _add_fakes(self, work: MixWork, sorter: Sorter) -> None:
        step = CHUNK * work.expected
        for start in range(0, len(work.fakes), step):
            some = work.fakes[start : start + step]
            ordered = self._pool.worker.order(work.part, some, work.expected)
            sorter.add(ordered.sort_keys, ordered.messages)


def join_chunks(envelopes: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the concatenation of several envelopes at a time."""
    while some := b"".join(islice(envelopes, CHUNK)):
        yield some
