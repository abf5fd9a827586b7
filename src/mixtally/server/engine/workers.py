"""Process pools, and parallel application of a function to many pieces of work.

If a worker is killed for lack of memory, the pool raises an error that says so.

``ParallelMap`` is used to count listed words, which takes a time proportional to the number of
messages times the number of words. It processes the first pieces in this process and measures the
time. If the remaining pieces would take more than a few seconds, it announces the expected time and
uses all cores. Results keep the order of the pieces.
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
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


@contextmanager
def worker_pool(
    processes: int, start: Callable[..., object] | None = None, *arguments: Any
) -> Iterator[ProcessPoolExecutor]:
    """Run a pool of processes during a block; each process first calls ``start(*arguments)``.

    Raises DataError if a process is killed.
    """
    # Not "fork": a role has threads, whose locks a forked child would inherit.
    pool = ProcessPoolExecutor(processes, get_context("spawn"), start, arguments)
    try:
        yield pool
    except BrokenProcessPool as error:
        raise DataError(
            "workers",
            expected="processes that finish their work",
            got="one that was killed",
            do="check whether memory ran out, then start again: nothing is lost",
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


LEAST_SECONDS_LEFT = 2.0
"""More processes are started only if the remaining work would take more seconds than this."""
_UNITS = (3600, "hours"), (60, "minutes")
Piece = TypeVar("Piece")
Found = TypeVar("Found")


class ParallelMap:
    """A ``map`` over up to ``processes`` cores that reports its progress.

    With fewer than two processes everything is done in this process. Processes can be started only
    by programs whose main module can be imported again, such as the command line. ``note`` is
    called with a sentence if the remaining pieces would take more than ``worth`` seconds.
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
        """Yield the result of ``work`` for each piece, in order; ``work`` must be picklable.

        Raises DataError if a process is killed.
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
    """Return the sentence that announces how long the remaining pieces take."""
    each = seconds / cores
    size, unit = next((pair for pair in _UNITS if each >= 2 * pair[0]), (1, "seconds"))
    used = "1 core" if cores == 1 else f"{cores} cores"
    return f"counting {step} takes about {each / size:,.0f} {unit} on {used}"
