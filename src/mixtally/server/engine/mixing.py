"""What a mix does with the envelopes of a part: copies dropped, a layer taken off, all in order.

The order is that of a keyed hash of what leaves, so it depends neither on who does the work nor on
how often. Fakes are drawn, sealed and stored before: nothing is drawn here that leaves.
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
    """A part that is to be mixed.

    where
      size        bytes of an envelope that came
      expected      bytes of a message that leaves; others are dropped as malformed
      envelopes   gives those that came one by one, in the same order every time
      distinct    whether no envelope can have come twice
      fakes       messages that leave beside them, one after the other
    """

    part: int
    size: int
    expected: int
    envelopes: Callable[[], Iterator[bytes]]
    distinct: bool
    fakes: bytes


class MixedPart(NamedTuple):
    """What it has become.

    where
      received    envelopes that came
      copies      of one that came already
      unopened    not sealed for this round, hop and part
      malformed   opened, and of another length than all
      bad         SHA-256 of each envelope that was one of these two, one after the other
      padding     SHA-256 of each envelope that was padding, one after the other; each once. These
                  are in ``received``, and their copies in ``copies``
      messages    what leaves, in order, many messages at a time
    """

    received: int
    copies: int
    unopened: int
    malformed: int
    bad: bytes
    padding: bytes
    messages: Iterator[bytes]


class Mixer(Protocol):
    """Whoever mixes parts of one round."""

    def mix(self, work: MixWork) -> MixedPart:
        """Mix one; all it gives is there when this returns, but for reading it."""
        ...


class LocalMixer:
    """Mixes with a pool of this machine.

    where
      folder      for what memory does not hold
      chance      for the key under which it lies there
      step        called for every chunk
      most_held   bytes of messages that memory holds
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
        """Mix one part; copies are found before anything is opened."""
        kept = None if work.distinct else first_occurrences(hash_each(work.envelopes()))
        own = work.envelopes()
        if kept is not None:
            own = compress(own, kept.tolist())
        sorter = Sorter(self._folder, work.expected, self._chance, self._most_held)
        good = unopened = malformed = 0
        bad, padding = bytearray(), bytearray()
        for opened in self._pool.open_chunks(work.part, join_chunks(own), work.size, work.expected):
            self._step("chunk")
            sorter.add(opened.order, opened.messages)
            good += len(opened.order) // KEY_BYTES
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
            sorter.add(ordered.order, ordered.messages)


def join_chunks(envelopes: Iterator[bytes]) -> Iterator[bytes]:
    """Some envelopes at a time, joined."""
    while some := b"".join(islice(envelopes, CHUNK)):
        yield some
