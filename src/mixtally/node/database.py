"""The role's one database: every transaction is synced before the call returns."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mixtally.errors import DataError
from mixtally.node import disk
from mixtally.node.disk import Step, no_step

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


class Database:
    """SQLite with a log that is synced at every commit; threads may share one, in turns."""

    def __init__(self, path: Path, step: Step = no_step) -> None:
        disk.make_file(path)
        self._turn, self._step = threading.RLock(), step
        self._open = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._open.execute("PRAGMA journal_mode=WAL")
        self._open.execute("PRAGMA synchronous=FULL")
        self._open.execute("PRAGMA busy_timeout=20000")
        self._open.execute("PRAGMA secure_delete=ON")
        with self.transaction("tables"):
            (version,) = self._open.execute("PRAGMA user_version").fetchone()
            if version == 0:
                for statement in _TABLES.split(";"):
                    self._open.execute(statement)
                self._open.execute(f"PRAGMA user_version={_VERSION}")
        if version not in (0, _VERSION):
            raise DataError(
                str(path), wanted=f"version {_VERSION}", got=version, do="use the newer mixtally"
            )

    @contextmanager
    def transaction(self, name: str) -> Iterator[sqlite3.Connection]:
        """All or nothing, and synced; ``name`` is that of the step before and after."""
        with self._turn:
            self._open.execute("BEGIN IMMEDIATE")
            try:
                yield self._open
                self._step(f"before {name}")
                self._open.execute("COMMIT")
            except BaseException:
                if self._open.in_transaction:
                    self._open.execute("ROLLBACK")
                raise
            self._step(f"after {name}")

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """What a query finds."""
        with self._turn:
            return self._open.execute(query, values).fetchall()

    def close(self) -> None:
        """Give the file back."""
        with self._turn:
            self._open.close()
