"""Bundles that can still be read from a damaged intake database, and the number of lost ones.

The rows that can be read are copied into a new database, ``salvaged-K.db``, which is then read in
place of ``intake-K.db``. A closing reads all bundles several times and must find the same ones each
time, also after a restart. The damaged file stays unchanged until the round ends.

Row numbers have no gaps, and SQLite stores the last one in another page than the rows. So the
number of lost rows is known. The number of bundles in them is estimated from the other rows.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

from mixtally.errors import DataError
from mixtally.server.mix.intake import open_bodies, salvaged_path
from mixtally.server.node import disk
from mixtally.server.node.database import translate_sqlite_errors

_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR)
_MOST_MISSES = 1 << 19
"""Number of consecutive missing row numbers after which the search ends.

A damaged page of 16 KiB can hide this many rows: it refers to at most 1,800 other pages, each of
which has at most 290 bundles.
"""
_COMMIT_BYTES = 1 << 26
"""Bytes that are copied in one transaction, which limits the size of the log."""
_READ = "SELECT number, body FROM bodies WHERE number > ? ORDER BY number"


def is_damaged(error: BaseException | None) -> bool:
    """Return whether the cause of an error is a database with pages that cannot be read."""
    return disk.has_sqlite_code(error, *_DAMAGE)


def salvage_bodies(folder: Path, bundle_bytes: int) -> None:
    """Copy the bundles of each damaged intake database of a round to a new database.

    ``bundle_bytes`` is the length of a bundle. Raises DataError if the disk fails
    in another way.
    """
    for path in sorted(folder.glob("intake-*.db")):
        whole = salvaged_path(path)
        if whole.exists() or not _has_damage(path):
            continue
        part = whole.with_suffix(".part")
        for leftover in folder.glob(f"{part.name}*"):
            leftover.unlink()
        with closing(open_bodies(part)) as database, translate_sqlite_errors(part):
            database.execute("BEGIN IMMEDIATE")
            rows, count, done = _RowReader(path, bundle_bytes), 0, 0
            for body in rows.read():
                database.execute("INSERT INTO bodies (body) VALUES (?)", (body,))
                count += len(body)
                if count - done >= _COMMIT_BYTES:
                    done = count
                    database.execute("COMMIT")
                    database.execute("BEGIN IMMEDIATE")
            each = count / rows.found if rows.found else path.stat().st_size / rows.lost
            database.execute("CREATE TABLE lost (bundles INTEGER)")
            lost = max(rows.lost, round(rows.lost * each / bundle_bytes))
            database.execute("INSERT INTO lost VALUES (?)", (lost,))
            database.execute("COMMIT")
        part.rename(whole)
        disk.sync_folder(folder)


def count_lost(folder: Path) -> int:
    """Return the estimated number of acknowledged bundles of a round that damage has lost."""
    lost = 0
    for path in folder.glob("salvaged-*.db"):
        with closing(open_bodies(path)) as database, translate_sqlite_errors(path):
            lost += database.execute("SELECT bundles FROM lost").fetchone()[0]
    return lost


def _has_damage(path: Path) -> bool:
    try:
        with closing(open_bodies(path)) as database, translate_sqlite_errors(path):
            for _ in database.execute(_READ, (0,)):
                pass
    except DataError as error:
        if not is_damaged(error):
            raise
        return True
    return False


class _RowReader:
    """Reader of the rows of a damaged database; ``found`` and ``lost`` are numbers of rows."""

    def __init__(self, path: Path, bundle_bytes: int) -> None:
        self._path, self._size = path, bundle_bytes
        self.found = self.lost = 0

    def read(self) -> Iterator[bytes]:
        """Yield the bodies of all rows that can be read, in order."""
        with closing(sqlite3.connect(self._path, isolation_level=None)) as database:
            database.text_factory = bytes
            last, number, misses = _find_last(database), 0, 0
            if last is None and not _has_tables(database):
                misses = _MOST_MISSES
            while misses < _MOST_MISSES and (last is None or number < last):
                try:
                    for found, body in database.execute(_READ, (number,)):
                        # A damaged page can also yield rows out of order, or of another type or
                        # length.
                        if found <= number or not isinstance(body, bytes) or len(body) % self._size:
                            break
                        number, misses, self.found = found, 0, self.found + 1
                        yield body
                    else:
                        last = last or number
                        break
                except sqlite3.Error as error:
                    if not is_damaged(error):
                        raise
                number, misses = number + 1, misses + 1
        # If the last row number is unknown, at least one row after the last readable one was lost.
        self.lost = (last or max(0, number - misses) + 1) - self.found


def _has_tables(database: sqlite3.Connection) -> bool:
    """Return whether the first page, which lists the tables, can be read."""
    with suppress(sqlite3.Error):
        return bool(database.execute("SELECT 1 FROM sqlite_master").fetchall())
    return False


def _find_last(database: sqlite3.Connection) -> int | None:
    """Return the number of the last row, or None if it cannot be read.

    The number can be read in two places, of which the second is tried if the first is damaged.
    """
    for query in ("SELECT max(seq) FROM sqlite_sequence", "SELECT max(number) FROM bodies"):
        with suppress(sqlite3.Error):
            return int(database.execute(query).fetchone()[0] or 0)
    return None
