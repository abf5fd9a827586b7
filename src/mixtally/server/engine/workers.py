"""A process pool whose end by force is refused in words: a worker killed for want of memory."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any

from mixtally.errors import DataError


def cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0))


@contextmanager
def workers(
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
            wanted="processes that live until their work is done",
            got="one that was killed",
            do="look whether memory ran out, then start again: nothing is lost",
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)
