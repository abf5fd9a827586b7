"""The SQLite database of a role, synced at every commit.

After an error of the disk, other than a full disk, the database refuses all further use. It is
unknown which writes a failed sync has stored, so the process must end and restart from the data on
disk. If another program, such as a backup tool, locks the database, work is only repeated later.

Source: SQLite, "WAL-mode File Format", section 2.3, for the byte that a writer locks.
"""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from mixtally.errors import DataError
from mixtally.server.node import disk
from mixtally.server.node.disk import Step, no_step
from mixtally.server.node.events import Condition, FieldValue, Log

LOCK_SECONDS = 10.0
"""The maximum number of seconds for which a write waits for the lock of another program.

Commands of a role lock its database for milliseconds only. After a wait without success, further
writes fail at once until the lock is free. Otherwise they would occupy all threads that answer
requests.
"""
_READ_SECONDS = 1.0
"""The maximum number of seconds for which a read waits for the lock of a program that excludes
readers, too. It is short, because the thread that answers all requests also reads.
"""
_PAUSE_SECONDS = 0.01
_LOCKS, _TABLE_READINGS = Path("/proc/locks"), 5
_WRITE_BYTE = 120
"""Byte of the file ``-shm`` that the writer of a database with a log locks."""

_UPGRADES = (
    """
CREATE TABLE slots (signer TEXT, slot TEXT, hash TEXT NOT NULL, PRIMARY KEY (signer, slot))
  WITHOUT ROWID;
CREATE TABLE notes (hash TEXT PRIMARY KEY, kind TEXT NOT NULL, contract TEXT NOT NULL,
  round INTEGER NOT NULL, hop INTEGER NOT NULL, note BLOB NOT NULL);
CREATE TABLE signers (name TEXT, hash TEXT, PRIMARY KEY (name, hash)) WITHOUT ROWID;
CREATE TABLE outbox (number INTEGER PRIMARY KEY, hash TEXT NOT NULL, role TEXT NOT NULL,
  tries INTEGER NOT NULL DEFAULT 0, UNIQUE (hash, role));
CREATE TABLE rounds (name TEXT, round INTEGER, contract TEXT NOT NULL, sheet TEXT NOT NULL,
  opens INTEGER NOT NULL, closes INTEGER NOT NULL, expires INTEGER NOT NULL,
  state TEXT NOT NULL, ended TEXT NOT NULL DEFAULT '', PRIMARY KEY (name, round));
CREATE TABLE overruled (contract TEXT, name TEXT, PRIMARY KEY (contract, name)) WITHOUT ROWID;
""",
    """
CREATE TABLE restores (number INTEGER PRIMARY KEY);
CREATE TABLE settled (contract TEXT, name TEXT, PRIMARY KEY (contract, name)) WITHOUT ROWID;
""",
)
"""Scripts that upgrade a database, each by one version; the first creates version 1.

Scripts are only ever appended, so that a folder of any older version can be upgraded.
"""


def open_connection(path: Path, page_bytes: int = 4096) -> sqlite3.Connection:
    """Open a database file, creating it if needed, so that every commit is synced.

    Raises DataError if the disk fails or does not support a write-ahead log. Without a log a power
    cut could undo a commit.
    """
    with translate_sqlite_errors(path):
        disk.make_file(path)
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        try:
            # The page size cannot change once the log is on, so it is set first.
            connection.execute(f"PRAGMA page_size={page_bytes}")
            # SQLite sets the mode only when the result of the statement has been read completely.
            ((mode,),) = connection.execute("PRAGMA journal_mode=WAL").fetchall()
            connection.execute("PRAGMA synchronous=FULL")
        except BaseException:
            connection.close()
            raise
    if mode != "wal":
        connection.close()
        raise _disk_error(path, f"one without a log ({mode})")
    return connection


@contextmanager
def translate_sqlite_errors(path: Path) -> Iterator[None]:
    """Convert errors of SQLite into DataError that names the file."""
    try:
        yield
    except sqlite3.Error as error:
        if disk.is_busy(error):
            holder = find_lock_holder(path)
            who = "process {process} ({program})" if "process" in holder else "{program}"
            raise DataError(
                str(path),
                expected="a database that no other program locks",
                got=f"one that is locked by {who.format(**holder)}",
                do="wait until that program has finished, or end it; nothing is lost",
            ) from error
        raise _disk_error(path, str(error)) from error


def find_lock_holder(path: Path) -> dict[str, FieldValue]:
    """Return the process and the program that lock a database, if the system shows them.

    The system's table of locks is read, because opening and closing the file would release the
    locks of this process.
    """
    with suppress(OSError, ValueError):
        main, shared = (Path(f"{path}{end}").stat().st_ino for end in ("", "-shm"))
        for line in _iterate_locks():
            # Such as "1: POSIX  ADVISORY  WRITE 4711 fe:00:2165132 120 120".
            _, kind, _, mode, process, file, first, last = line.split()[:8]
            inode = int(file.rpartition(":")[2]) if (kind, mode) == ("POSIX", "WRITE") else 0
            if inode == main or (inode == shared and int(first) <= _WRITE_BYTE <= int(last)):
                name = Path(f"/proc/{process}/comm").read_text().strip()
                return {"process": int(process), "program": name}
    return {"program": "another program"}


def _iterate_locks() -> Iterator[str]:
    """Yield the lines of the system's table of locks, most of them several times."""
    # The system hands a long table out in pieces. It leaves a lock out if another one is released
    # between two pieces, so one reading may miss a lock that lasts.
    for _ in range(_TABLE_READINGS):
        yield from _LOCKS.read_text().splitlines()


def _disk_error(path: Path, got: str) -> DataError:
    return DataError(
        str(path),
        expected="a disk that can be written and read",
        got=got,
        do="free some space, or check the disk; all acknowledged data is kept",
    )


class Database:
    """SQLite database with a log that is synced at every commit; one thread at a time uses it.

    Every method raises DataError if the disk fails, or if another program locks the database for
    long. Such a lock is reported to ``log``.
    """

    def __init__(self, path: Path, step: Step = no_step, log: Log | None = None) -> None:
        self._path, self._turn, self._step = path, threading.RLock(), step
        self._log = log or Log()
        self._failed: DataError | None = None
        self._is_locked = False
        self._commits, self.seconds = 0, 0.0
        """The number of commits, and the seconds spent in transactions or waiting for them."""
        self._open = open_connection(path)
        with self._errors():
            # This class waits for locks itself, so that other threads are not blocked meanwhile.
            self._open.execute("PRAGMA busy_timeout=0")
        found = [said for (said,) in self.rows("PRAGMA integrity_check(1)")]
        if found != ["ok"]:
            raise DataError(
                str(path),
                expected="an intact database",
                got=str(found[:1])[:200],
                do="check the disk, and restore a backup by the command `restore`",
            )
        with self._errors():
            # Deleted rows are overwritten, so that nothing of them remains in free pages.
            self._open.execute("PRAGMA secure_delete=ON")
        # A database of this version is opened without a write, which could wait for another
        # program.
        while (version := self._read_version()) < len(_UPGRADES):
            with self.transaction("tables"):
                self._upgrade(version)
        if version > len(_UPGRADES):
            raise DataError(
                str(path),
                expected=f"a database of version {len(_UPGRADES)} or older",
                got=f"version {version}, which a newer mixtally wrote",
                do="use the newer mixtally: an older one cannot read what that one has signed",
            )

    def _read_version(self) -> int:
        ((version,),) = self.rows("PRAGMA user_version")
        return int(version)

    def _upgrade(self, version: int) -> None:
        """Upgrade the database from ``version`` to the next one, unless this was already done."""
        if self._read_version() == version:
            for statement in _UPGRADES[version].split(";"):
                self._open.execute(statement)
            self._open.execute(f"PRAGMA user_version={version + 1}")

    @contextmanager
    def transaction(self, name: str) -> Iterator[sqlite3.Connection]:
        """Run a block as one synced transaction, which is rolled back if the block raises.

        The steps "before NAME" and "after NAME" are reported before and after the commit, where
        NAME is ``name``.
        """
        began = monotonic()
        # IMMEDIATE takes the write lock now: what the block reads cannot change before it writes.
        with self._errors(), self._execute("BEGIN IMMEDIATE", (), LOCK_SECONDS):
            self._set_locked(False)
            try:
                yield self._open
                self._step(f"before {name}")
                self._open.execute("COMMIT")
            except BaseException:
                if self._open.in_transaction:
                    self._open.execute("ROLLBACK")
                raise
            self._commits += 1
            self.seconds += monotonic() - began
            self._step(f"after {name}")

    def version(self) -> tuple[int, int]:
        """Return a value that changes with every write, by this process or another."""
        ((others,),) = self.rows("PRAGMA data_version")
        return self._commits, others

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Return all rows that a query finds."""
        with self._errors(), self._execute(query, values, _READ_SECONDS) as found:
            if self._is_locked and not self._open.in_transaction:
                self._look_at_lock()
            return found

    @contextmanager
    def _execute(
        self, query: str, values: tuple[object, ...], seconds: float
    ) -> Iterator[list[tuple[Any, ...]]]:
        """Execute a statement, and exclude other threads while the caller uses its rows.

        While another program locks the database, the statement is repeated, and other threads may
        use the database between two attempts.
        """
        until = monotonic() + (0 if self._is_locked else seconds)
        while True:
            with self._turn:
                try:
                    found = self._open.execute(query, values).fetchall()
                except sqlite3.OperationalError as error:
                    if not disk.is_busy(error):
                        raise
                    if monotonic() >= until:
                        self._set_locked(True)
                        raise
                else:
                    yield found
                    return
            sleep(_PAUSE_SECONDS)

    def _look_at_lock(self) -> None:
        """Find out whether the write lock is free again, without waiting for the next write."""
        with suppress(sqlite3.OperationalError):
            self._open.execute("BEGIN IMMEDIATE")
            self._open.execute("ROLLBACK")
            self._set_locked(False)

    def _set_locked(self, is_so: bool) -> None:
        if is_so != self._is_locked:
            self._is_locked = is_so
            said = find_lock_holder(self._path) if is_so else {}
            self._log.set_condition(Condition.BUSY, is_so, file=self._path.name, **said)

    def close(self) -> None:
        """Close the database file."""
        with self._turn:
            self._open.close()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        if self._failed is not None:
            raise self._failed
        try:
            with translate_sqlite_errors(self._path):
                yield
        except DataError as error:
            # On a full disk the transaction was rolled back, and with a lock it did not begin.
            # After any other error the state is unknown.
            if isinstance(error.__cause__, sqlite3.Error) and not disk.is_temporary(error):
                self._failed = error
            raise
