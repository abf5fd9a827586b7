"""The loop of a role: it ticks when woken, ends by itself, and stops the process at a failure."""

import errno
import sqlite3
import threading

import pytest

from mixtally.errors import DataError
from mixtally.server.node import loop as module
from mixtally.server.node.loop import Loop

SECONDS = 60


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


def test_a_pass_that_hangs_is_noticed_from_outside(monkeypatch):
    monkeypatch.setattr(module, "_WATCH_SECONDS", 0.01)
    hangs, old = threading.Event(), threading.Event()
    ages = []

    def watch(seconds):
        ages.append(seconds)
        if seconds > 0.2:
            old.set()

    loop = Loop(lambda _: hangs.wait(SECONDS), lambda: 7, print, watch)
    loop.start()
    assert old.wait(SECONDS)
    assert loop.age() > 0.2
    hangs.set()
    loop.end()
    assert loop.age() < ages[-1] + SECONDS


NO_ROOM = OSError(errno.ENOSPC, "no space")
TOLD = DataError("a file", expected="to write it", got="no room", do="Make room")
TOLD.__cause__ = NO_ROOM
LOCKED = DataError("a file", expected="no lock", got="one", do="Wait")
LOCKED.__cause__ = sqlite3.OperationalError("database is locked")
LOCKED.__cause__.sqlite_errorcode = sqlite3.SQLITE_BUSY_SNAPSHOT


@pytest.mark.parametrize("full", [NO_ROOM, TOLD, LOCKED])
def test_a_full_disk_and_a_lock_are_waited_for(full):
    ticks, stopped = Ticks(fails=full), []
    loop = Loop(ticks, lambda: 7, stopped.append)
    loop.start()
    for _ in range(2):
        assert ticks.came.acquire(timeout=SECONDS)
        loop.wake()
    loop.end()
    assert stopped == []
