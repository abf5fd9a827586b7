"""The product's own code over a disk that loses its power: its files, and SQLite under it.

SQLite comes as ``apsw`` here, whose file system can be written in Python; what a cut has left is
opened by the standard library's own again. ``watched`` puts both in the place of
``sqlite3.connect`` and of what ``os`` does to files and names.
"""
# ruff: noqa: N802 -- the names are SQLite's

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path

import apsw
import pytest

from helpers.power_loss import Disk, Op, of_database

_REAL = {name: getattr(os, name) for name in ("fsync", "replace", "unlink", "mkdir", "rmdir")}
_CONNECT = sqlite3.connect


@contextmanager
def watched(disk: Disk, pragmas: dict[str, str] | None = None) -> Iterator[Disk]:
    """What happens below the disk's root is put down; ``pragmas`` plants others (text -> text)."""
    system, opened = _System(disk), []
    with pytest.MonkeyPatch.context() as patch:

        def connect(path, **options):
            if disk.mine(path) is None:
                return _CONNECT(path, **options)
            opened.append(Connection(path, system.name, options.get("timeout", 5.0), pragmas or {}))
            return opened[-1]

        patch.setattr(sqlite3, "connect", connect)
        for name, call in _calls(disk).items():
            patch.setattr(os, name, call)
        try:
            yield disk
        finally:
            disk.dark = True
            for one in opened:  # of a role that failed
                one.close()
            system.unregister()


def _calls(disk: Disk):
    """What stands for calls of ``os`` meanwhile."""

    def fsync(place):
        path = Path(os.readlink(f"/proc/self/fd/{place}"))
        mine = disk.mine(path)
        if mine is None:
            return
        folder = path.is_dir()
        disk.observe(path if folder else path.parent)
        disk.do(Op("settle" if folder else "sync", mine))

    def on_names(name, kind):
        def call(path, *more, **options):
            mine = disk.mine(path)
            if mine is not None:
                disk.observe(Path(path).absolute().parent)
            known = mine is not None and (kind == "folder" or disk.knows(mine))
            op = (
                Op(kind, mine, to=disk.mine(more[0]) if kind == "move" else None) if known else None
            )
            if op is not None and (kind != "folder" or not disk.knows(mine)):
                disk.do(op)
            _REAL[name](path, *more, **options)
            if op is not None:
                disk.know(op)

        return call

    names = {"replace": "move", "unlink": "gone", "rmdir": "gone", "mkdir": "folder"}
    return {"fsync": fsync} | {name: on_names(name, kind) for name, kind in names.items()}


class _System(apsw.VFS):
    """The usual file system, each write, sync and deletion of which is put down."""

    def __init__(self, disk: Disk) -> None:
        self.disk, self.name = disk, f"cut-{id(disk)}"
        super().__init__(self.name, "unix")

    def xOpen(self, name, flags):
        return _File(self.disk, name, flags)

    def xDelete(self, name, sync):
        path = self.disk.mine(name)
        if Path(name).exists() and self.disk.knows(path):
            self.disk.do(Op("gone", path))
            self.disk.know(Op("gone", path))
            if sync:
                self.disk.do(Op("settle", path.parent))
        super().xDelete(name, sync)


class _File(apsw.VFSFile):
    """A file of a database."""

    def __init__(self, disk: Disk, name, flags) -> None:
        path = name if isinstance(name, str) else name.filename()
        self.disk, self.path, self.settled = disk, disk.mine(path), True
        there = Path(path).exists()
        super().__init__("unix", name, flags)
        if not (there and disk.knows(self.path)):
            disk.made(self.path)
            # SQLite syncs the folder with the first sync of a new log, not of a new database.
            self.settled = self.path.suffix == ".db"

    def xWrite(self, data, offset):
        self.disk.do(Op("write", self.path, offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, size):
        self.disk.do(Op("size", self.path, size))
        super().xTruncate(size)

    def xSync(self, _flags):
        self.disk.do(Op("sync", self.path))
        if not self.settled:
            self.settled = True
            self.disk.do(Op("settle", self.path.parent))


def full() -> apsw.Error:
    """What SQLite is told where there is no room."""
    return _of_code(apsw.FullError("full"), apsw.SQLITE_FULL)


def unsynced() -> apsw.Error:
    """What SQLite is told where a sync has failed."""
    return _of_code(apsw.IOError("a sync has failed"), apsw.SQLITE_IOERR_FSYNC)


def _of_code(error: apsw.Error, code: int) -> apsw.Error:
    error.result, error.extendedresult = code & 0xFF, code
    return error


class Once:
    """Fails at the operation of a number among those of a kind, and at some that follow."""

    def __init__(self, kind, number, error, lasting=1, code=errno.ENOSPC):
        self.kind, self.numbers, self.error = kind, range(number, number + lasting), error
        self.seen, self.code = 0, code

    def __call__(self, op):
        if op.kind != self.kind:
            return
        self.seen += 1
        if self.seen - 1 in self.numbers:
            raise self.error() if of_database(op.path) else OSError(self.code, "a sync has failed")


class Connection:
    """As much of ``sqlite3.Connection`` as roles and devices use."""

    def __init__(self, path, system: str, timeout: float, pragmas: dict[str, str]) -> None:
        self._pragmas = pragmas
        with _as_usual():
            self._inner = apsw.Connection(str(path), vfs=system)
            self._inner.set_busy_timeout(int(timeout * 1000))
            self._inner.set_wal_hook(_checkpointed)

    @property
    def in_transaction(self) -> bool:
        return self._inner.in_transaction

    def execute(self, query: str, values=()) -> "Cursor":
        with _as_usual():
            return Cursor(self._inner.execute(self._pragmas.get(query, query), tuple(values)))

    def executemany(self, query: str, rows) -> "Cursor":
        with _as_usual():
            return Cursor(self._inner.executemany(query, list(rows)))

    def close(self) -> None:
        with suppress(apsw.Error):  # SQLite keeps its log then, and tells nobody
            self._inner.close()


def _checkpointed(inner, name: str, pages: int) -> int:
    """As SQLite itself does after a commit: what fails is told to nobody, and tried again."""
    if pages >= 1000:
        with suppress(apsw.Error):
            inner.wal_checkpoint(name, apsw.SQLITE_CHECKPOINT_PASSIVE)
    return apsw.SQLITE_OK


class Cursor:
    """The rows of a query; one is always looked at beforehand, as the standard library does."""

    def __init__(self, inner) -> None:
        self._inner, self._ahead = inner, []
        self._look()

    def __iter__(self):
        while self._ahead:
            yield self.fetchone()

    def fetchone(self):
        if not self._ahead:
            return None
        row = self._ahead.pop()
        self._look()
        return row

    def fetchall(self):
        return list(self)

    def fetchmany(self, size: int):
        return list(islice(self, size))

    def _look(self) -> None:
        with _as_usual():
            self._ahead = list(islice(self._inner, 1))


@contextmanager
def _as_usual() -> Iterator[None]:
    """Errors as the standard library raises them."""
    try:
        yield
    except apsw.Error as error:
        raised = sqlite3.OperationalError(str(error))
        raised.sqlite_errorcode = error.extendedresult
        raise raised from error
