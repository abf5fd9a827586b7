"""The loop of a role: it ticks when woken, ends by itself, and stops the process at a failure."""

import errno
import threading

import pytest

from mixtally.errors import DataError
from mixtally.server.node.loop import Loop

SECONDS = 10


class Ticks:
    """Counts ticks; fails at one of them."""

    def __init__(self, *, fails=None):
        self.times, self.fails, self.came = [], fails, threading.Semaphore(0)

    def __call__(self, now):
        self.times.append(now)
        self.came.release()
        if self.fails is not None:
            raise self.fails


def test_it_ticks_with_the_time_and_when_it_is_woken():
    ticks, stopped = Ticks(), []
    loop = Loop(ticks, lambda: 77, stopped.append)
    loop.start()
    for _ in range(3):
        assert ticks.came.acquire(timeout=SECONDS)
        loop.wake()
    loop.end()
    assert set(ticks.times) == {77}
    assert len(ticks.times) >= 3
    assert stopped == []


def test_a_failure_ends_it_and_the_process():
    stopped, told = [], threading.Event()

    def stop(error):
        stopped.append(error)
        told.set()

    failure = OSError("The disk")
    loop = Loop(Ticks(fails=failure), lambda: 7, stop)
    loop.start()
    assert told.wait(SECONDS)
    loop.end()
    assert stopped == [failure]


NO_ROOM = OSError(errno.ENOSPC, "no space")
TOLD = DataError("a file", expected="to write it", got="no room", do="Make room")
TOLD.__cause__ = NO_ROOM


@pytest.mark.parametrize("full", [NO_ROOM, TOLD])
def test_a_full_disk_is_waited_for(full):
    ticks, stopped = Ticks(fails=full), []
    loop = Loop(ticks, lambda: 7, stopped.append)
    loop.start()
    for _ in range(2):
        assert ticks.came.acquire(timeout=SECONDS)
        loop.wake()
    loop.end()
    assert stopped == []
