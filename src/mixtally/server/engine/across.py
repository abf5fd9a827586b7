"""One function on many pieces: here while that is quick, else by a process a core.

Counting listed words takes a time that grows with the messages times the words. The first pieces
are counted here and timed. Where the others would take more than seconds, processes that use every
core count them. Results come in the order of the pieces, so that nobody can tell who counted.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from mixtally.primitives.progress import Progress, quiet
from mixtally.server.engine.workers import workers

WORTH = 2.0
"""Seconds of work that are left from which on further processes save more than their start takes.
"""
Piece = TypeVar("Piece")
Found = TypeVar("Found")


class Across:
    """A ``map`` that uses ``processes`` cores, and says how far it is.

    Only a program whose main module may be imported again can start processes, as the command line
    can. With fewer than two processes everything is done here.
    """

    def __init__(
        self, processes: int, step: str, progress: Progress = quiet, *, worth: float = WORTH
    ) -> None:
        self._processes, self._step, self._progress = processes, step, progress
        self._worth = worth

    def __call__(self, work: Callable[[Piece], Found], pieces: Sequence[Piece]) -> Iterator[Found]:
        """Yield what ``work``, which can be pickled, makes of every piece, in their order.

        Raises DataError where a process is killed.
        """
        for done, found in enumerate(self._found(work, pieces), 1):
            self._progress(self._step, done, len(pieces))
            yield found

    def _found(self, work: Callable[[Piece], Found], pieces: Sequence[Piece]) -> Iterator[Found]:
        start = time.perf_counter()
        for done, piece in enumerate(pieces, 1):
            yield work(piece)
            rest = pieces[done:]
            spent = time.perf_counter() - start
            if self._processes > 1 < len(rest) and spent / done * len(rest) > self._worth:
                break
        else:
            return
        with workers(min(self._processes, len(rest))) as pool:
            yield from pool.map(work, rest)
