"""The diary of a device: privacy charges, and bundles that still have to be sent.

A *bundle* is everything that a device sends in a round. A *charge* is the privacy cost of a
contract. A bundle and its charge are written to the disk in one transaction, before the first byte
is sent. From then on, the device sends these bytes in this round or nothing. When the first hop has
answered or the round has closed, the bytes and the one-time code are deleted, and only the entry
remains. An answer in clear is never written. A diary that was lost and replaced by an old copy does
not know what was sent since this copy was made.
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
from mixtally.device.wire.arrivals import TAG_BYTES
from mixtally.device.wire.consistency import MOST_WAIT
from mixtally.errors import DataError

APPLICATION, VERSION = 0x6D69_7874, 4
# Seconds after the close of a round for which tags are kept: until the round must have ended, and
# then 30 days, for which roles keep their lists.
_MOST_WATCHED = MOST_WAIT + 30 * 86_400
# Seconds to wait for another process that writes.
_WAIT = 30.0
_TABLES = """
CREATE TABLE charges (
  name TEXT NOT NULL, plan TEXT NOT NULL, question TEXT NOT NULL,
  epsilon REAL NOT NULL, delta REAL NOT NULL, collections INTEGER NOT NULL, made INTEGER NOT NULL,
  PRIMARY KEY (name, plan));
CREATE TABLE rotations (
  role TEXT NOT NULL, old BLOB NOT NULL, new BLOB NOT NULL, PRIMARY KEY (role, old));
CREATE TABLE entries (
  name TEXT NOT NULL, round INTEGER NOT NULL, contract TEXT NOT NULL, serial INTEGER NOT NULL,
  sheet TEXT NOT NULL, address TEXT NOT NULL, closes INTEGER NOT NULL, made INTEGER NOT NULL,
  due INTEGER NOT NULL, tries INTEGER NOT NULL, "left" INTEGER, state TEXT NOT NULL,
  status INTEGER, ended INTEGER, size INTEGER NOT NULL, tags BLOB NOT NULL, bundle BLOB,
  code TEXT,
  PRIMARY KEY (name, round),
  CHECK ((state = 'pending') = (bundle IS NOT NULL)));
"""
_ENTRY = ", ".join(f'"{name}"' for name in Entry._fields)


def no_step(name: str) -> None:
    """Do nothing. Tests pass another function to interrupt the diary after a durable step."""


class Diary:
    """The diary in the file ``path``, which is created at first use and readable only by its owner.

    Only one process at a time can write. Raises DataError if the file is not a diary, if it is a
    diary of another version, or if the disk fails.
    """

    def __init__(self, path: Path, step: Callable[[str], None] = no_step) -> None:
        self.path, self.step = path, step
        try:
            _create_file(path)
            self._rows = sqlite3.connect(path, timeout=_WAIT, isolation_level=None)
            try:
                self._prepare()
                _restrict_permissions(path)
            except BaseException:  # close the file after any error, then pass the error on
                self._rows.close()
                raise
        except (sqlite3.Error, OSError) as error:
            raise self._file_error("a file for a diary", error) from error

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
        """Close the file."""
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
        """Charge a round and store its bundle, or return the entry of its pending bundle.

        Parameters
        ----------
        given : OpenRound
            The round to answer, with its verified contract and sheet.
        now : int
            The time, seconds since 1970.
        seal : callable
            Returns the sealed bundle. It is called only if the diary allows the answer.
        budget : Budget, optional
            The maximum total of all charges.
        again : bool
            Whether to allow a question that was already charged under another contract's name.

        Raises
        ------
        RefusedError
            If a rule of the diary does not allow the answer. This error, or one of ``seal``, leaves
            the diary unchanged.
        """
        contract, sheet = given.contract, given.sheet
        with self._translate_errors(), self._transaction():
            entry = self.find(contract.name, sheet.round)
            if entry is not None:
                rules.check_same(entry, given)
                return entry
            check_open(sheet, now)  # the round may have closed while the person read the consent
            earlier = self._select("WHERE name = ? ORDER BY round", (contract.name,))
            rules.check_order(earlier, given)
            charge = make_charge(given.trusted, now)
            new = rules.check_cost(self.charges(), charge, budget, again=again)
            self.step("checked")
            made = seal()
            self.step("sealed")
            if new:
                self._insert("charges", charge)
            for rotation in rules.find_new_rotations(self.key_changes(), given.trusted.rotations):
                self._insert("rotations", rotation)
            entry = make_entry(given, made, now)
            self._insert("entries", (*entry, made.bundle, made.code))
            self.step("written")
        self.step("entered")
        return entry

    def key_changes(self) -> dict[tuple[str, bytes], bytes]:
        """Return all key replacements that this device followed.

        They map the name of a role and its old key to the new key.
        """
        with self._translate_errors():
            rows = self._rows.execute("SELECT role, old, new FROM rotations").fetchall()
        return {(role, old): new for role, old, new in rows}

    def bundle(self, entry: Entry) -> bytes | None:
        """Return the bytes of a pending entry; None after they are deleted."""
        found: bytes | None = self._find_sent("bundle", entry)
        return found

    def code(self, entry: Entry) -> str | None:
        """Return the one-time code of a pending entry; None if its contract asks for none."""
        found: str | None = self._find_sent("code", entry)
        return found

    def _find_sent(self, column: str, entry: Entry) -> Any:
        asked = f"SELECT {column} FROM entries WHERE name = ? AND round = ?"
        with self._translate_errors():
            row = self._rows.execute(asked, entry[:2]).fetchone()
        return None if row is None else row[0]

    def record_attempt(self, entry: Entry, now: int, due: int) -> Entry:
        """Record that sending begins at ``now``, and the time ``due`` of the next attempt.

        The next attempt is needed if this process stops before it knows the result.
        """
        with self._translate_errors(), self._transaction():
            self._rows.execute(
                'UPDATE entries SET tries = tries + 1, "left" = coalesce("left", ?), due = ? '
                "WHERE name = ? AND round = ? AND state = 'pending'",
                (now, due, *entry[:2]),
            )
        return self._reload(entry)

    def schedule_retry(self, entry: Entry, due: int, status: int | None) -> Entry:
        """Record the last HTTP status, and the time ``due`` of the next attempt."""
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
        """Record the final state of a bundle, and delete its bytes and its code."""
        with self._translate_errors():
            with self._transaction():
                self._rows.execute(
                    "UPDATE entries SET state = ?, ended = ?, status = coalesce(?, status), "
                    "bundle = NULL, code = NULL WHERE name = ? AND round = ? AND state = 'pending'",
                    (state.value, now, status, *entry[:2]),
                )
            self.step("ended")
            # The write-ahead log still contains the bytes of the bundle until it is truncated.
            self._rows.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            self.step("dropped")
        return self._reload(entry)

    def forget_tags(self, entry: Entry) -> Entry:
        """Delete the tags of the messages of an entry; the tag of its bundle remains."""
        with self._translate_errors():
            with self._transaction():
                self._rows.execute(
                    "UPDATE entries SET tags = substr(tags, 1, ?) WHERE name = ? AND round = ?",
                    (TAG_BYTES, *entry[:2]),
                )
            self._rows.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return self._reload(entry)

    def expire_entries(self, now: int) -> None:
        """End the pending entries of closed rounds, and delete old tags.

        Tags of messages are old when roles delete the lists in which a device could look for them.
        """
        for entry in self.entries():
            if entry.is_pending and now >= entry.closes:
                self.record_end(entry, BundleState.OVER, now)
            if entry.is_watched and now >= entry.closes + _MOST_WATCHED:
                self.forget_tags(entry)

    def find(self, name: str, number: int) -> Entry | None:
        """Return the entry of a round; None if the round was not answered."""
        return next(iter(self._select("WHERE name = ? AND round = ?", (name, number))), None)

    def entries(self) -> list[Entry]:
        """Return all entries in the order in which they were charged."""
        return self._select("ORDER BY made, name, round")

    def charges(self) -> list[DiaryCharge]:
        """Return all charges."""
        with self._translate_errors():
            rows = self._rows.execute(f"SELECT {', '.join(DiaryCharge._fields)} FROM charges")
            return sorted(map(DiaryCharge._make, rows), key=lambda one: (one.made, one.name))

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
        """Run statements in one transaction, during which no other process writes."""
        # IMMEDIATE locks before the first read, so no other process changes what was read.
        self._rows.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._rows.execute("COMMIT")
        except BaseException:  # an interrupted process must not leave half of a charge either
            if self._rows.in_transaction:
                self._rows.execute("ROLLBACK")
            raise

    def _prepare(self) -> None:
        rows = self._rows
        self._is_new_file()  # first, so that a file of another program is not changed
        mode = rows.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        if mode != "wal":
            raise self._file_error("a disk on which it can be kept", f"one without a log ({mode})")
        # A commit must survive a power failure, and deleted bundles must be overwritten.
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
        """Return whether the file is empty; raise DataError if it is not a diary."""
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
        """Translate errors of SQLite into DataError."""
        try:
            yield
        except sqlite3.Error as error:
            raise self._file_error("a diary that can be read and written", error) from error

    def _file_error(self, expected: str, got: object) -> DataError:
        do = "check the file and the free space; nothing is sent without a diary"
        return DataError(str(self.path), expected=expected, got=got, do=do)


def _create_file(path: Path) -> None:
    """Create the file, and make its folder entry durable before anything is stored in it."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    folder = os.open(path.resolve().parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _restrict_permissions(path: Path) -> None:
    """Restrict the file, and the files that SQLite keeps next to it, to their owner."""
    for suffix in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            path.with_name(path.name + suffix).chmod(0o600)
