"""The diary of a device: what it gave away, and the bytes that still have to leave.

A bundle and its charge are on the disk, in one commit, before its first byte leaves. From then on
that bundle is the only one of its round: whatever happens, the same bytes are sent again or none.
Once it is answered, or its window is over, the bytes go and what remains is that it left.

A value is never written here. A diary that is lost or restored from an old copy forgets what left.
"""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from mixtally.device.client.net import rules
from mixtally.device.client.net.entries import (
    BundleState,
    DiaryCharge,
    Entry,
    make_charge,
    make_entry,
)
from mixtally.device.client.net.pins import Budget
from mixtally.device.client.net.seal import SealedBundle
from mixtally.device.client.net.trust import OpenRound, check_open
from mixtally.errors import DataError

APPLICATION, VERSION = 0x6D69_7874, 2
_WAIT = 30.0
_TABLES = """
CREATE TABLE charges (
  name TEXT NOT NULL, plan TEXT NOT NULL, question TEXT NOT NULL,
  epsilon REAL NOT NULL, delta REAL NOT NULL, collections INTEGER NOT NULL, made INTEGER NOT NULL,
  PRIMARY KEY (name, plan));
CREATE TABLE entries (
  name TEXT NOT NULL, round INTEGER NOT NULL, contract TEXT NOT NULL, serial INTEGER NOT NULL,
  sheet TEXT NOT NULL, address TEXT NOT NULL, closes INTEGER NOT NULL, made INTEGER NOT NULL,
  due INTEGER NOT NULL, tries INTEGER NOT NULL, "left" INTEGER, state TEXT NOT NULL,
  status INTEGER, ended INTEGER, size INTEGER NOT NULL, tags BLOB NOT NULL, bundle BLOB,
  PRIMARY KEY (name, round),
  CHECK ((state = 'pending') = (bundle IS NOT NULL)));
"""
_ENTRY = ", ".join(f'"{name}"' for name in Entry._fields)


def no_step(name: str) -> None:
    """What happens at a durable step, unless a test wants something there."""


class Diary:
    """The file ``path``, made at first use for its owner's eyes only; one process at a time writes.

    Raises DataError for another file, one of another version, and when the disk refuses.
    """

    def __init__(self, path: Path, step: Callable[[str], None] = no_step) -> None:
        self.path, self.step = path, step
        try:
            _create_file(path)
            self._rows = sqlite3.connect(path, timeout=_WAIT, isolation_level=None)
            try:
                self._prepare()
                _restrict_permissions(path)
            except BaseException:
                self._rows.close()
                raise
        except (sqlite3.Error, OSError) as error:
            raise self._file_error("a file for a diary", str(error)) from error

    def __enter__(self) -> "Diary":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Nothing more is asked of it."""
        self._rows.close()

    def add_entry(
        self,
        given: OpenRound,
        now: int,
        seal: Callable[[], SealedBundle],
        *,
        budget: Budget | None = None,
        again: bool = False,
    ) -> Entry:
        """Charge a round and keep its bundle; a bundle of it that is pending stays the only one.

        Raises RefusedError for what ``rules`` do not allow, and what ``seal`` raises: nothing is
        charged then.
        """
        contract, sheet = given.contract, given.sheet
        with self._translate_errors(), self._transaction():
            entry = self.find(contract.name, sheet.round)
            if entry is not None:
                rules.check_same(entry, given)
                return entry
            check_open(sheet, now)  # consent may have taken its time
            rules.check_order(self._of_name(contract.name), given)
            charge = make_charge(given.trusted, now)
            new = rules.check_cost(self.charges(), charge, budget, again=again)
            self.step("checked")
            made = seal()
            self.step("sealed")
            if new:
                self._insert("charges", charge)
            entry = make_entry(given, made, now)
            self._insert("entries", (*entry, made.bundle))
            self.step("written")
        self.step("entered")
        return entry

    def bundle(self, entry: Entry) -> bytes | None:
        """The bytes of an entry that is pending; None once they are gone."""
        asked = "SELECT bundle FROM entries WHERE name = ? AND round = ?"
        with self._translate_errors():
            row = self._rows.execute(asked, entry[:2]).fetchone()
        return None if row is None else row[0]

    def record_attempt(self, entry: Entry, now: int, due: int) -> Entry:
        """Note that bytes are about to leave, and when they leave again if nothing else happens."""
        with self._translate_errors(), self._transaction():
            self._rows.execute(
                'UPDATE entries SET tries = tries + 1, "left" = coalesce("left", ?), due = ? '
                "WHERE name = ? AND round = ? AND state = 'pending'",
                (now, due, *entry[:2]),
            )
        return self._reload(entry)

    def schedule_retry(self, entry: Entry, due: int, status: int | None) -> Entry:
        """Note when the same bytes leave again."""
        with self._translate_errors(), self._transaction():
            self._rows.execute(
                "UPDATE entries SET due = ?, status = ? "
                "WHERE name = ? AND round = ? AND state = 'pending'",
                (due, status, *entry[:2]),
            )
        return self._reload(entry)

    def record_end(
        self, entry: Entry, state: BundleState, now: int, status: int | None = None
    ) -> Entry:
        """Note how it ended; its bytes are gone."""
        with self._translate_errors():
            with self._transaction():
                self._rows.execute(
                    "UPDATE entries SET state = ?, ended = ?, status = coalesce(?, status), "
                    "bundle = NULL WHERE name = ? AND round = ? AND state = 'pending'",
                    (state.value, now, status, *entry[:2]),
                )
            self.step("ended")
            self._rows.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            self.step("dropped")
        return self._reload(entry)

    def expire_entries(self, now: int) -> None:
        """End what is pending in windows that are over."""
        for entry in self.entries():
            if entry.is_pending and now >= entry.closes:
                self.record_end(entry, BundleState.OVER, now)

    def find(self, name: str, number: int) -> Entry | None:
        """What became of a round; None where it was not answered."""
        return next(iter(self._select("WHERE name = ? AND round = ?", (name, number))), None)

    def entries(self) -> list[Entry]:
        """All rounds, in the order in which they were charged."""
        return self._select("ORDER BY made, name, round")

    def charges(self) -> list[DiaryCharge]:
        """All that was spent."""
        with self._translate_errors():
            rows = self._rows.execute(f"SELECT {', '.join(DiaryCharge._fields)} FROM charges")
            return sorted(map(DiaryCharge._make, rows), key=lambda one: (one.made, one.name))

    def _of_name(self, name: str) -> list[Entry]:
        return self._select("WHERE name = ? ORDER BY round", (name,))

    def _reload(self, entry: Entry) -> Entry:
        return self.find(entry.name, entry.round) or entry

    def _select(self, where: str, values: tuple[Any, ...] = ()) -> list[Entry]:
        with self._translate_errors():
            rows = self._rows.execute(f"SELECT {_ENTRY} FROM entries {where}", values).fetchall()
        return [one._replace(state=BundleState(one.state)) for one in map(Entry._make, rows)]

    def _insert(self, table: str, values: tuple[Any, ...]) -> None:
        marks = ", ".join("?" * len(values))
        self._rows.execute(f"INSERT INTO {table} VALUES ({marks})", values)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """All of it on the disk at the end, or nothing; nobody else writes meanwhile."""
        self._rows.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._rows.execute("COMMIT")
        except BaseException:
            if self._rows.in_transaction:
                self._rows.execute("ROLLBACK")
            raise

    def _prepare(self) -> None:
        rows = self._rows
        self._is_new_file()  # before anything of another file is changed
        mode = rows.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        if mode != "wal":
            raise self._file_error("a disk on which it can be kept", f"one without a log ({mode})")
        rows.execute("PRAGMA synchronous = FULL")
        rows.execute("PRAGMA secure_delete = ON").fetchall()
        with self._transaction():
            if self._is_new_file():
                for table in _TABLES.split(";\n")[:-1]:
                    rows.execute(table)
                rows.execute(f"PRAGMA application_id = {APPLICATION}")
                rows.execute(f"PRAGMA user_version = {VERSION}")
                self.step("made")

    def _is_new_file(self) -> bool:
        """Whether nothing is in the file yet; raises DataError for something else than a diary."""
        asked = (
            "PRAGMA application_id",
            "PRAGMA user_version",
            "SELECT count(*) FROM sqlite_master",
        )
        known = tuple(self._rows.execute(one).fetchone()[0] for one in asked)
        if known == (0, 0, 0):
            return True
        if known[:2] != (APPLICATION, VERSION):
            other = f"version {known[1]}" if known[0] == APPLICATION else "another file"
            raise self._file_error(f"a diary of version {VERSION}", other)
        return False

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise self._file_error("a diary that can be read and written", str(error)) from error

    def _file_error(self, expected: str, got: str) -> DataError:
        do = "look at the file and its free space; nothing leaves without it"
        return DataError(str(self.path), expected=expected, got=got, do=do)


def _create_file(path: Path) -> None:
    """The file, and its name in the folder, are on the disk before anything is trusted to them."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    folder = os.open(path.resolve().parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _restrict_permissions(path: Path) -> None:
    """From everybody but its owner, also what SQLite keeps beside it."""
    for beside in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            path.with_name(path.name + beside).chmod(0o600)
