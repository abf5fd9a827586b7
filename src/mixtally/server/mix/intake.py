"""Storage of received bundles, which are on disk before they are acknowledged.

Waiting bundles are committed together. A disk can sync some hundred times a second, and one sync
serves all bundles that arrived during the sync before. This module has no private key, so bundles
stay encrypted. Rows keep the order of arrival, so each round has separate files that are deleted
with it. ``intake-0.db`` belongs to the mix, and ``intake-K.db`` to the intake process K.
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
"""Maximum size of the bodies that wait for a commit."""
MOST_WAITING = 20_000
"""Maximum number of bodies that wait for a commit."""
_ROW_BYTES = 1 << 20
"""Approximate size of a row, in which several bodies are joined."""


class WaitingBody(NamedTuple):
    """A request body that is acknowledged once it is on disk."""

    round_id: str
    body: bytes
    loop: AbstractEventLoop
    done: "Future[None]"


class Intake:
    """Receiver of bundles for open rounds, whose folders are in ``folder``.

    ``stop`` is called with any error of the disk except a full disk. Only the process with this
    ``number`` writes the files of that number.
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
        """Accept bundles for a round."""
        with self._turn:
            if round_id not in self._open:
                disk.make_folder(self._folder / round_id)
                self._open[round_id] = _open_bodies(self._folder / round_id / self._file)
                self._taking.add(round_id)
                self._step("after intake opened")

    def close(self, round_id: str) -> None:
        """Accept no more bundles for a round; all accepted ones are then on disk."""
        with self._turn:
            self._taking.discard(round_id)
            # The writer must neither hold nor still receive a body of this round when the file is
            # closed.
            self._turn.wait_for(lambda: not self._busy and not self._has_waiting(round_id))
            held = self._open.pop(round_id, None)
            if held is not None:
                held.close()

    def put(self, round_id: str, body: bytes, loop: AbstractEventLoop) -> "Future[None]":
        """Queue a body of whole bundles, and return a future that completes after the commit.

        Raises ProblemError if the round is not open, or too much is waiting.
        """
        done: Future[None] = loop.create_future()
        with self._turn:
            if round_id not in self._taking:
                raise ProblemError(Problem.ROUND_CLOSED)
            if self._failed:
                raise ProblemError(Problem.NO_ROOM, retry_seconds=60)
            if len(self._waiting) >= MOST_WAITING or self._bytes > MOST_WAITING_BYTES:
                raise ProblemError(Problem.BUSY, retry_seconds=2)
            self._waiting.append(WaitingBody(round_id, body, loop, done))
            self._bytes += len(body)
            self._turn.notify_all()
        return done

    def end(self) -> None:
        """Commit what is waiting, and close all files."""
        with self._turn:
            self._ended = True
            self._turn.notify_all()
        self._writer.join()
        for round_id in list(self._open):
            self.close(round_id)

    def _has_waiting(self, round_id: str) -> bool:
        return any(one.round_id == round_id for one in self._waiting)

    def _write(self) -> None:
        """Commit waiting bodies again and again, until ``end`` is called."""
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

    def _commit_all(
        self, bodies: list[WaitingBody], connections: dict[str, sqlite3.Connection]
    ) -> None:
        by_round: dict[str, list[WaitingBody]] = defaultdict(list)
        for one in bodies:
            by_round[one.round_id].append(one)
        for round_id, group in by_round.items():
            error: BaseException | None = ProblemError(Problem.NO_ROOM, retry_seconds=60)
            try:
                if not self._failed:
                    with translate_sqlite_errors(self._folder / round_id):
                        self._commit(connections[round_id], [one.body for one in group])
                    error = None
            # Deliberately everything: each waiting client must receive an answer, and no error may
            # look like success.
            except Exception as raised:
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
    """Yield the bodies stored for a round; their order is never disclosed."""
    for path in sorted(folder.glob("intake-*.db")):
        # The process that made the file may have been killed before it created the table.
        held = _open_bodies(path)
        try:
            with translate_sqlite_errors(path):
                for (body,) in held.execute("SELECT body FROM bodies ORDER BY number"):
                    yield body
        finally:
            held.close()


def _open_bodies(path: Path) -> sqlite3.Connection:
    # Rows are long, so fewer and larger pages save time.
    held = open_connection(path, page_bytes=16384)
    with translate_sqlite_errors(path):
        held.execute("CREATE TABLE IF NOT EXISTS bodies (number INTEGER PRIMARY KEY, body BLOB)")
    return held


def _join_to_rows(bodies: Iterable[bytes]) -> Iterator[tuple[bytes]]:
    """Yield bodies joined to rows of about 1 MiB; a row for each bundle would be slow."""
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
