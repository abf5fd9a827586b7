"""The SQLite database of a role, synced at every commit.

After an error other than a full disk the database refuses all further use. It is unknown which
writes a failed sync has kept, so the process must end and restart from what is on disk.
"""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mixtally.errors import DataError
from mixtally.server.node import disk
from mixtally.server.node.disk import Step, no_step

_VERSION = 1
_TABLES = """
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
"""


def open_connection(path: Path, page_bytes: int = 4096) -> sqlite3.Connection:
    """Open a database file, creating it if needed, so that every commit is synced.

    Raises DataError if the disk fails or cannot keep a write-ahead log. Without a log a power cut
    could undo a commit.
    """
    with translate_sqlite_errors(path):
        disk.make_file(path)
        held = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        try:
            # The page size cannot change once the log is on, so it is set first.
            held.execute(f"PRAGMA page_size={page_bytes}")
            # The mode is set only when its result has been read completely.
            ((mode,),) = held.execute("PRAGMA journal_mode=WAL").fetchall()
            held.execute("PRAGMA synchronous=FULL")
        except BaseException:
            held.close()
            raise
    if mode != "wal":
        held.close()
        raise _disk_error(path, f"one without a log ({mode})")
    return held


@contextmanager
def translate_sqlite_errors(path: Path) -> Iterator[None]:
    """Convert errors of SQLite into DataError that names the file."""
    try:
        yield
    except sqlite3.Error as error:
        raise _disk_error(path, str(error)) from error


def _disk_error(path: Path, got: str) -> DataError:
    return DataError(
        str(path),
        expected="a disk that can be written and read",
        got=got,
        do="free some space, or check the disk; all acknowledged data is kept",
    )


class Database:
    """SQLite database with a log that is synced at every commit; threads take turns in using it.

    Every method raises DataError if the disk fails.
    """

    def __init__(self, path: Path, step: Step = no_step) -> None:
        self._path, self._turn, self._step = path, threading.RLock(), step
        self._failed: DataError | None = None
        self._commits = 0
        self._open = open_connection(path)
        with self._errors():
            # Several processes of one role share the file: wait up to 20 s for the other's
            # transaction.
            self._open.execute("PRAGMA busy_timeout=20000")
            found = [said for (said,) in self._open.execute("PRAGMA integrity_check(1)")]
        if found != ["ok"]:
            raise DataError(
                str(path),
                expected="an intact database",
                got=str(found[:1])[:200],
                do="check the disk, and restore the newest intact copy; an older copy is refused",
            )
        with self._errors():
            # Deleted rows are overwritten, so that nothing of them remains in free pages.
            self._open.execute("PRAGMA secure_delete=ON")
        with self.transaction("tables"):
            (version,) = self._open.execute("PRAGMA user_version").fetchone()
            if version == 0:
                for statement in _TABLES.split(";"):
                    self._open.execute(statement)
                self._open.execute(f"PRAGMA user_version={_VERSION}")
        if version not in (0, _VERSION):
            raise DataError(
                str(path), expected=f"version {_VERSION}", got=version, do="use the newer mixtally"
            )

    @contextmanager
    def transaction(self, name: str) -> Iterator[sqlite3.Connection]:
        """Run a block as one synced transaction, which is rolled back if the block raises.

        ``name`` names the durable steps that are reported before and after the commit.
        """
        with self._turn, self._errors():
            # IMMEDIATE takes the write lock now: what the block reads cannot change before it
            # writes.
            self._open.execute("BEGIN IMMEDIATE")
            try:
                yield self._open
                self._step(f"before {name}")
                self._open.execute("COMMIT")
            except BaseException:
                if self._open.in_transaction:
                    self._open.execute("ROLLBACK")
                raise
            self._commits += 1
            self._step(f"after {name}")

    def version(self) -> tuple[int, int]:
        """Return a value that changes with every write, by this process or another."""
        ((others,),) = self.rows("PRAGMA data_version")
        return self._commits, others

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Return all rows that a query finds."""
        with self._turn, self._errors():
            return self._open.execute(query, values).fetchall()

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
            # A full disk has undone the transaction cleanly; after any other error the state is
            # unknown.
            if isinstance(error.__cause__, sqlite3.Error) and not disk.is_full(error):
                self._failed = error
            raise
