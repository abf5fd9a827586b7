"""Bundles as they come: on the disk before they are acknowledged, and never looked at.

Whatever waits is committed together: a disk syncs some hundred times a second, and one sync is
enough for all who came during the one before. No private key is at hand here. Rows stand as they
came, so a round has files of its own, which are unlinked with it: ``intake-0.db`` of the mix, and
``intake-K.db`` of every process of intake that works beside it.
"""

import sqlite3
import threading
from asyncio import AbstractEventLoop, Future
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from mixtally.device.wire.problem import Problem
from mixtally.server.node import disk
from mixtally.server.node.database import open_connection, translate_sqlite_errors
from mixtally.server.node.disk import Step, no_step
from mixtally.server.node.refusal import ProblemError

MOST_WAITING_BYTES = 1 << 26
MOST_WAITING = 20_000
_ROW_BYTES = 1 << 20


class WaitingBody(NamedTuple):
    """A body that will be answered once it is on the disk."""

    round_id: str
    body: bytes
    loop: AbstractEventLoop
    done: "Future[None]"


class Intake:
    """Takes bodies of bundles for the rounds that are open.

    where
      folder   under which every round has its own
      stop     called when the disk fails in another way than being full
      number   of the process: nobody else writes its files
    """

    def __init__(
        self,
        folder: Path,
        stop: Callable[[BaseException], None],
        step: Step = no_step,
        number: int = 0,
    ) -> None:
        self._folder, self._stop, self._step = folder, stop, step
        self._file = f"intake-{number}.db"
        self._turn = threading.Condition()
        self._waiting: list[WaitingBody] = []
        self._bytes = 0
        self._busy = self._ended = self._failed = False
        self._taking: set[str] = set()
        self._open: dict[str, sqlite3.Connection] = {}
        self._writer = threading.Thread(target=self._write, name="intake", daemon=True)
        self._writer.start()

    def open(self, round_id: str) -> None:
        """Take bundles of a round from now on."""
        with self._turn:
            if round_id not in self._open:
                disk.make_folder(self._folder / round_id)
                self._open[round_id] = _open_bodies(self._folder / round_id / self._file)
                self._taking.add(round_id)
                self._step("after intake opened")

    def close(self, round_id: str) -> None:
        """Take no more; what was taken is on the disk when this returns."""
        with self._turn:
            self._taking.discard(round_id)
            self._turn.wait_for(lambda: not self._busy and not self._has_waiting(round_id))
            held = self._open.pop(round_id, None)
            if held is not None:
                held.close()

    def put(self, round_id: str, body: bytes, loop: AbstractEventLoop) -> "Future[None]":
        """Have a body of whole bundles committed; what is returned is done when it is.

        Raises ProblemError for a round that is not open and where too much waits.
        """
        done: Future[None] = loop.create_future()
        with self._turn:
            if round_id not in self._taking:
                raise ProblemError(Problem.ROUND_CLOSED)
            if self._failed:
                raise ProblemError(Problem.NO_ROOM, after=60)
            if len(self._waiting) >= MOST_WAITING or self._bytes > MOST_WAITING_BYTES:
                raise ProblemError(Problem.BUSY, after=2)
            self._waiting.append(WaitingBody(round_id, body, loop, done))
            self._bytes += len(body)
            self._turn.notify_all()
        return done

    def end(self) -> None:
        """Commit what waits, and give all files back."""
        with self._turn:
            self._ended = True
            self._turn.notify_all()
        self._writer.join()
        for round_id in list(self._open):
            self.close(round_id)

    def _has_waiting(self, round_id: str) -> bool:
        return any(one.round_id == round_id for one in self._waiting)

    def _write(self) -> None:
        """Commit whatever waits, until the end."""
        while True:
            with self._turn:
                self._busy = False
                self._turn.notify_all()
                self._turn.wait_for(lambda: self._waiting or self._ended)
                taken, self._waiting, self._bytes = self._waiting, [], 0
                self._busy = bool(taken)
                held = dict(self._open)
            if not taken:
                return
            self._commit_all(taken, held)

    def _commit_all(self, taken: list[WaitingBody], held: dict[str, sqlite3.Connection]) -> None:
        by_round: dict[str, list[WaitingBody]] = defaultdict(list)
        for one in taken:
            by_round[one.round_id].append(one)
        for round_id, group in by_round.items():
            error: BaseException | None = ProblemError(Problem.NO_ROOM, after=60)
            try:
                if not self._failed:
                    with translate_sqlite_errors(self._folder / round_id):
                        self._commit(held[round_id], [one.body for one in group])
                    error = None
            except Exception as raised:  # whatever it is, nobody is told that all is well
                if not disk.is_full(raised):
                    self._failed = True
                    self._stop(raised)
            for loop, some in _group_by_loop(group).items():
                loop.call_soon_threadsafe(_answer_waiting, some, error)

    def _commit(self, database: sqlite3.Connection, bodies: list[bytes]) -> None:
        database.execute("BEGIN IMMEDIATE")
        try:
            database.executemany("INSERT INTO bodies (body) VALUES (?)", _join_to_rows(bodies))
            self._step("before intake")
            database.execute("COMMIT")
        except BaseException:
            if database.in_transaction:
                database.execute("ROLLBACK")
            raise
        self._step("after intake")


def read_bodies(folder: Path) -> Iterator[bytes]:
    """Bundles of a round's files, some at a time, in no order that is told to anybody."""
    for path in sorted(folder.glob("intake-*.db")):
        held = _open_bodies(path)  # who made it may have been killed before there was a table in it
        try:
            with translate_sqlite_errors(path):
                for (body,) in held.execute("SELECT body FROM bodies ORDER BY number"):
                    yield body
        finally:
            held.close()


def _open_bodies(path: Path) -> sqlite3.Connection:
    held = open_connection(path, page_bytes=16384)  # rows are long, and pages are what costs
    with translate_sqlite_errors(path):
        held.execute("CREATE TABLE IF NOT EXISTS bodies (number INTEGER PRIMARY KEY, body BLOB)")
    return held


def _join_to_rows(bodies: Iterable[bytes]) -> Iterator[tuple[bytes]]:
    """Bodies joined to rows of a mebibyte or a little more: bundles need none of their own."""
    held, size = [], 0
    for body in bodies:
        held.append(body)
        size += len(body)
        if size >= _ROW_BYTES:
            yield (b"".join(held),)
            held, size = [], 0
    if held:
        yield (b"".join(held),)


def _group_by_loop(group: Sequence[WaitingBody]) -> dict[AbstractEventLoop, list["Future[None]"]]:
    held: dict[AbstractEventLoop, list[Future[None]]] = defaultdict(list)
    for one in group:
        held[one.loop].append(one.done)
    return held


def _answer_waiting(some: list["Future[None]"], error: BaseException | None) -> None:
    for done in some:
        if done.cancelled():
            continue
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)
