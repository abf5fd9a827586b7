"""Process pools, and one function applied to many pieces by them.

A worker that is killed for want of memory is reported in words.

Counting listed words takes a time that grows with the messages times the words. The first pieces
are counted in this process and timed. Where the others would take more than seconds, a sentence
says how long, and processes that use every core count them. Results keep the order of the pieces.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any, TypeVar

from mixtally.errors import DataError
from mixtally.primitives.progress import Progress, ignore_progress


def count_cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0))


@contextmanager
def worker_pool(
    processes: int, start: Callable[..., object] | None = None, *given: Any
) -> Iterator[ProcessPoolExecutor]:
    """A pool of processes that each begin with ``start(*given)``, as long as the context lasts.

    Raises DataError where one of them is killed.
    """
    pool = ProcessPoolExecutor(processes, get_context("spawn"), start, given)
    try:
        yield pool
    except BrokenProcessPool as error:
        raise DataError(
            "workers",
            expected="processes that live until their work is done",
            got="one that was killed",
            do="look whether memory ran out, then start again: nothing is lost",
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


LEAST_SECONDS_LEFT = 2.0
"""Seconds of work that are left from which on further processes save more than their start takes.
"""
_UNITS = (3600, "hours"), (60, "minutes")
Piece = TypeVar("Piece")
Found = TypeVar("Found")


class ParallelMap:
    """A ``map`` that uses ``processes`` cores, and says how far it is.

    Only a program whose main module may be imported again can start processes, as the command line
    can. With fewer than two processes everything is done here. ``note`` is called with a sentence
    once the first pieces tell that the others take more than ``worth`` seconds.
    """

    def __init__(
        self,
        processes: int,
        step: str,
        progress: Progress = ignore_progress,
        *,
        note: Callable[[str], None] = ignore_progress,
        worth: float = LEAST_SECONDS_LEFT,
    ) -> None:
        self._processes, self._step, self._progress = processes, step, progress
        self._note, self._worth = note, worth

    def __call__(self, work: Callable[[Piece], Found], pieces: Sequence[Piece]) -> Iterator[Found]:
        """Yield what ``work``, which can be pickled, makes of every piece, in their order.

        Raises DataError where a process is killed.
        """
        for done, found in enumerate(self._iterate_results(work, pieces), 1):
            self._progress(self._step, done, len(pieces))
            yield found

    def _iterate_results(
        self, work: Callable[[Piece], Found], pieces: Sequence[Piece]
    ) -> Iterator[Found]:
        start, noted = time.perf_counter(), False
        for done, piece in enumerate(pieces, 1):
            yield work(piece)
            rest = pieces[done:]
            seconds = (time.perf_counter() - start) / done * len(rest)
            if seconds <= self._worth:
                continue
            cores = max(1, min(self._processes, len(rest)))
            if not noted:
                self._note(_estimate(self._step, seconds, cores))
                noted = True
            if cores > 1:
                with worker_pool(cores) as pool:
                    yield from pool.map(work, rest)
                return


def _estimate(step: str, seconds: float, cores: int) -> str:
    """Return the sentence that says how long the pieces that are left take."""
    each = seconds / cores
    size, unit = next((pair for pair in _UNITS if each >= 2 * pair[0]), (1, "seconds"))
    used = "1 core" if cores == 1 else f"{cores} cores"
    return f"counting {step} takes about {each / size:,.0f} {unit} on {used}"
