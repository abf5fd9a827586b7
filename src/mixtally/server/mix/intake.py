"""Storage of received bundles, which are on disk before they are acknowledged.

Waiting bundles are committed together. A disk can sync some hundred times a second, and one sync
stores all bundles that arrived while the previous sync was running. This module has no private key,
so bundles stay encrypted. The rows of a database are in the order in which bundles arrived, and
this order must not outlast the round. So each round has files of its own, which are deleted with
the round. ``intake-0.db`` belongs to the mix, and ``intake-K.db`` to the intake process K. A round
with limited admission has one database ``intake-all.db`` for all processes, in which each ticket
is spent at most once (see ``admission``).
"""

import sqlite3
import threading
from asyncio import AbstractEventLoop, Future
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from mixtally.device.wire.problem import Problem
from mixtally.server.mix.admission import (
    Admission,
    OpenAdmission,
    Spending,
    prepare_tickets,
    spend_ticket,
)
from mixtally.server.mix.quota import Quota
from mixtally.server.node import disk
from mixtally.server.node.database import find_lock_holder, open_connection, translate_sqlite_errors
from mixtally.server.node.disk import Step, no_step
from mixtally.server.node.events import Condition, Log
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
    ticket: bytes


class _OpenRound(NamedTuple):
    """A round that accepts bundles, and the database of this process for it."""

    path: Path
    database: sqlite3.Connection
    admission: Admission
    bundle_bytes: int
    quota: Quota | None
    """The share of the round's quota of bundles; None if tickets limit the bundles."""

    def count_bundles(self, *bodies: WaitingBody) -> int:
        """Return the number of bundles in bodies."""
        return sum(len(one.body) for one in bodies) // self.bundle_bytes


class Intake:
    """Receiver of bundles for open rounds, whose folders are in ``folder``.

    ``stop`` is called with any error of the disk except a full disk. ``number`` is the number of
    this process: only this process writes the files with this number. If another program locks one
    of these files, this is reported to ``log``.
    """

    def __init__(
        self,
        folder: Path,
        stop: Callable[[BaseException], None],
        step: Step = no_step,
        number: int = 0,
        log: Log | None = None,
    ) -> None:
        self._folder, self._stop, self._step = folder, stop, step
        self._log = log or Log()
        self._number = number
        self._turn = threading.Condition()
        self._waiting: list[WaitingBody] = []
        self._bytes = 0
        self._busy = self._ended = self._failed = False
        self._taking: set[str] = set()
        self._open: dict[str, _OpenRound] = {}
        self._writer = threading.Thread(target=self._write, name="intake", daemon=True)
        self._writer.start()

    def open(
        self,
        round_id: str,
        most_bundles: int,
        bundle_bytes: int,
        admission: Admission | None = None,
    ) -> None:
        """Accept bundles of ``bundle_bytes`` for a round, at most ``most_bundles`` in total.

        Without ``admission`` everybody may send. If admission is limited, the tickets limit the
        number of bundles, and ``most_bundles`` is not used.
        """
        with self._turn:
            if round_id not in self._open:
                folder = self._folder / round_id
                if not self._number:
                    # The mix ends a round by deleting its folder. An intake process that is late
                    # must not make the folder again.
                    disk.make_folder(folder)
                admission, quota = admission or OpenAdmission(), None
                name = "all" if admission.is_limited else str(self._number)
                path = folder / f"intake-{name}.db"
                database = open_bodies(path)
                if admission.is_limited:
                    with translate_sqlite_errors(folder):
                        prepare_tickets(database)
                else:
                    size = _count_bytes(database, folder)
                    used = None if size is None else size // bundle_bytes
                    quota = Quota(folder, self._number, most_bundles, used)
                self._open[round_id] = _OpenRound(path, database, admission, bundle_bytes, quota)
                self._taking.add(round_id)
                self._step("after intake opened")

    def close(self, round_id: str) -> None:
        """Accept no more bundles for a round; all accepted ones are then on disk."""
        with self._turn:
            self._taking.discard(round_id)
            # The file may be closed only when no body of this round is waiting or being written.
            self._turn.wait_for(lambda: not self._busy and not self._has_waiting(round_id))
            # The round is removed from memory, because its list of codes may need 20 MB.
            closed = self._open.pop(round_id, None)
            if closed is not None:
                closed.database.close()
                self._set_locked(closed, False)

    def is_full(self, round_id: str) -> bool:
        """Return whether this process accepts no further bundle of an open round."""
        found = self._open.get(round_id)
        return found is not None and found.quota is not None and found.quota.is_full

    def find_ticket(self, round_id: str, authorization: bytes | None) -> bytes:
        """Return the ticket that a request spends; raises ProblemError for a refused request."""
        found = self._open.get(round_id)
        if found is None:
            raise ProblemError(Problem.ROUND_CLOSED)
        return found.admission.find_ticket(authorization)

    def put(
        self, round_id: str, body: bytes, loop: AbstractEventLoop, ticket: bytes = b""
    ) -> "Future[None]":
        """Queue a body of whole bundles, and return a future that completes after the commit.

        The future raises ProblemError if the round has no room for all bundles of the body, or if
        another bundle has spent the ticket. The method itself raises ProblemError if the round is
        not open, or if too many bodies are waiting.
        """
        done: Future[None] = loop.create_future()
        with self._turn:
            if round_id not in self._taking:
                raise ProblemError(Problem.ROUND_CLOSED)
            if self._failed:
                raise ProblemError(Problem.NO_ROOM, retry_seconds=60)
            if len(self._waiting) >= MOST_WAITING or self._bytes > MOST_WAITING_BYTES:
                raise ProblemError(Problem.BUSY, retry_seconds=2)
            self._waiting.append(WaitingBody(round_id, body, loop, done, ticket))
            self._bytes += len(body)
            self._turn.notify_all()
        return done

    def end(self) -> None:
        """Commit all waiting bodies, and close all files."""
        with self._turn:
            self._ended = True
            self._turn.notify_all()
        self._writer.join()
        for round_id in list(self._open):
            self.close(round_id)

    def _set_locked(self, given: _OpenRound, is_so: bool) -> None:
        said = find_lock_holder(given.path) if is_so else {}
        file = f"{given.path.parent.name}/{given.path.name}"
        self._log.set_condition(Condition.BUSY, is_so, file=file, **said)

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
                rounds = dict(self._open)
            if not taken:
                return
            self._commit_all(taken, rounds)

    def _commit_all(self, bodies: list[WaitingBody], rounds: dict[str, _OpenRound]) -> None:
        by_round: dict[str, list[WaitingBody]] = defaultdict(list)
        for one in bodies:
            by_round[one.round_id].append(one)
        for round_id, group in by_round.items():
            error: BaseException | None = ProblemError(Problem.NO_ROOM, retry_seconds=60)
            try:
                given = rounds[round_id]
                if not self._failed:
                    if given.quota is not None:
                        group, refused = _apply_quota(given, given.quota, group)
                        _answer(refused, ProblemError(Problem.ROUND_FULL))
                    if group:
                        with translate_sqlite_errors(self._folder / round_id):
                            group, spent = self._commit(given.database, group)
                        if given.quota is not None:
                            given.quota.used += given.count_bundles(*group)
                        _answer(spent, ProblemError(Problem.CODE_SPENT))
                    error = None
                    self._set_locked(given, False)
            # Deliberately every exception: each waiting client must receive an answer, and no error
            # may look like success.
            except Exception as raised:
                if not (self._folder / round_id).exists():
                    # The mix has ended the round early, and deleted its files. An intake process
                    # notices this only at its next ``tick``.
                    error = ProblemError(Problem.ROUND_CLOSED)
                elif disk.is_busy(raised):
                    # No body is acknowledged, and devices send the same bundles again.
                    error = ProblemError(Problem.BUSY, retry_seconds=5)
                    self._set_locked(given, True)
                elif not disk.is_full(raised):
                    self._failed = True
                    self._stop(raised)
            _answer(group, error)

    def _commit(
        self, database: sqlite3.Connection, group: list[WaitingBody]
    ) -> tuple[list[WaitingBody], list[WaitingBody]]:
        """Store bodies and spend their tickets in one transaction.

        Return the bodies that are stored, and those whose ticket another bundle has spent.
        """
        database.execute("BEGIN IMMEDIATE")
        try:
            results = [(spend_ticket(database, one.ticket, one.body), one) for one in group]
            rows = _join_to_rows(one.body for result, one in results if result is Spending.NEW)
            database.executemany("INSERT INTO bodies (body) VALUES (?)", rows)
            self._step("before intake")
            database.execute("COMMIT")
        except BaseException:
            if database.in_transaction:
                database.execute("ROLLBACK")
            raise
        self._step("after intake")
        stored = [one for result, one in results if result is not Spending.REFUSED]
        return stored, [one for result, one in results if result is Spending.REFUSED]


def _apply_quota(
    given: _OpenRound, quota: Quota, group: list[WaitingBody]
) -> tuple[list[WaitingBody], list[WaitingBody]]:
    """Return the bodies that fit into the quota of a round, and all others."""
    remaining = quota.reserve(given.count_bundles(*group))
    taken: list[WaitingBody] = []
    refused: list[WaitingBody] = []
    for one in group:
        bundles = given.count_bundles(one)
        (taken if bundles <= remaining else refused).append(one)
        remaining -= bundles if bundles <= remaining else 0
    return taken, refused


def read_bodies(folder: Path) -> Iterator[bytes]:
    """Yield the bodies stored for a round; the caller must not disclose their order.

    If a database is damaged and its bodies were copied (``salvage``), the copy is read instead.
    """
    for damaged in sorted(folder.glob("intake-*.db")):
        path = damaged if not salvaged_path(damaged).exists() else salvaged_path(damaged)
        # The process that created the file may have been killed before it created the table.
        database = open_bodies(path)
        try:
            with translate_sqlite_errors(path):
                for (body,) in database.execute("SELECT body FROM bodies ORDER BY number"):
                    yield body
        finally:
            database.close()


def salvaged_path(path: Path) -> Path:
    """Return the path of the database with the bodies that were read from a damaged one."""
    return path.with_name(path.name.replace("intake", "salvaged"))


def open_bodies(path: Path) -> sqlite3.Connection:
    """Open a database of bodies, creating it if needed."""
    # Rows are long, so fewer and larger pages save time.
    database = open_connection(path, page_bytes=16384)
    with translate_sqlite_errors(path):
        # AUTOINCREMENT also stores the last row number in another page. So a damaged database still
        # shows how many rows it had.
        database.execute(
            "CREATE TABLE IF NOT EXISTS bodies "
            "(number INTEGER PRIMARY KEY AUTOINCREMENT, body BLOB)"
        )
    return database


def _join_to_rows(bodies: Iterable[bytes]) -> Iterator[tuple[bytes]]:
    """Yield bodies joined to rows of about 1 MiB; a row for each bundle would be slow."""
    buffer, size = [], 0
    for body in bodies:
        buffer.append(body)
        size += len(body)
        if size >= _ROW_BYTES:
            yield (b"".join(buffer),)
            buffer, size = [], 0
    if buffer:
        yield (b"".join(buffer),)


def _count_bytes(database: sqlite3.Connection, folder: Path) -> int | None:
    """Return the bytes of all bodies, or None if the file is damaged."""
    with translate_sqlite_errors(folder):
        try:
            ((found,),) = database.execute("SELECT coalesce(sum(length(body)), 0) FROM bodies")
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:
            return None
        return int(found)


def _answer(group: Sequence[WaitingBody], error: BaseException | None) -> None:
    for loop, some in _group_by_loop(group).items():
        loop.call_soon_threadsafe(_answer_waiting, some, error)


def _group_by_loop(group: Sequence[WaitingBody]) -> dict[AbstractEventLoop, list["Future[None]"]]:
    futures: dict[AbstractEventLoop, list[Future[None]]] = defaultdict(list)
    for one in group:
        futures[one.loop].append(one.done)
    return futures


def _answer_waiting(some: list["Future[None]"], error: BaseException | None) -> None:
    for done in some:
        if done.cancelled():
            continue
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)
