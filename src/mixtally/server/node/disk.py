"""Durable writing and destruction of files.

When a function returns, its effect survives a power cut. After a rename or an unlink, this requires
a sync of the folder, too. Code that performs several durable steps calls a ``Step`` with a name
after each one. Tests kill the process there and check that the work can be resumed.
"""

import errno
import os
import shutil
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from mixtally.errors import DataError
from mixtally.primitives.files import write_atomically

Step = Callable[[str], None]
"""Function that is called with the name of each durable step after it is done."""
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE)
PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700
LOW_BYTES = 1 << 30
"""The operator is warned if fewer bytes of the disk are free."""


def no_step(name: str) -> None:
    """Ignore the name of a durable step."""


def put(path: Path, data: bytes, what: str) -> None:
    """Write a file durably and atomically, readable by its owner only.

    ``what`` describes the file in messages. Raises DataError if the disk fails.
    """
    write_atomically(path, data, what=what, mode=PRIVATE_FILE)
    sync_folder(path.parent)


def is_private(path: Path) -> bool:
    """Return whether no other user of the machine may read or change a file."""
    return not path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)


def make_folder(path: Path) -> None:
    """Create a folder durably for its owner only, unless it exists."""
    if not path.is_dir():
        # The loop and an HTTP request may create the folder of a round at the same time.
        path.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
        sync_folder(path.parent)


def make_file(path: Path) -> None:
    """Create an empty file durably for its owner only, unless it exists.

    The log files that SQLite creates next to a database inherit this owner and mode.
    """
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, PRIVATE_FILE))
        sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Make the creation, renaming and removal of files in a folder durable.

    After a failure the process must end, because other code already sees the new names and would
    rely on them. So the DataError is one that ends the process, even if the disk is full.
    """
    place = os.open(path, os.O_RDONLY)
    try:
        os.fsync(place)
    except OSError as error:
        raise DataError(
            str(path), expected="a folder that can be synced", got=error, do="check the disk"
        ) from None
    finally:
        os.close(place)


def sync_tree(path: Path) -> None:
    """Sync a folder and all subfolders, for names that a killed process did not sync."""
    for place, _, _ in os.walk(path):
        # A command can call this while the serving role removes folders of rounds.
        with suppress(FileNotFoundError):
            sync_folder(Path(place))


def destroy(path: Path) -> None:
    """Overwrite a file with zeros, sync it and unlink it.

    The disk may still contain old blocks, as the documentation says.
    """
    with suppress(FileNotFoundError):
        with path.open("r+b") as file:
            # Overwritten before the unlink: after a crash, an unlinked file could not be found and
            # overwritten any more.
            file.write(bytes(os.fstat(file.fileno()).st_size))
            file.flush()
            os.fsync(file.fileno())
        path.unlink()
    sync_folder(path.parent)


def remove_folder(path: Path) -> None:
    """Remove a folder that has no subfolders, with all its files."""
    if path.is_dir():
        for file in path.iterdir():
            file.unlink(missing_ok=True)
        path.rmdir()
        sync_folder(path.parent)


def is_full(error: BaseException | None) -> bool:
    """Return whether an error, or one of its causes, is a lack of disk space or of file handles.

    The operator can free space, so the work is retried. Any other disk error ends the process.
    """
    return any(
        (isinstance(one, OSError) and one.errno in _NO_ROOM)
        or getattr(one, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
        for one in iterate_causes(error)
    )


def is_busy(error: BaseException | None) -> bool:
    """Return whether an error, or one of its causes, is another program's lock on a database.

    In this case nothing was written. The other program releases the lock at its end, so the work is
    retried.
    """
    return has_sqlite_code(error, sqlite3.SQLITE_BUSY)


def has_sqlite_code(error: BaseException | None, *codes: int) -> bool:
    """Return whether an error, or one of its causes, has one of the primary codes of SQLite."""
    # Extended codes, such as SQLITE_BUSY_RECOVERY, contain the primary code in the low byte.
    return any(getattr(one, "sqlite_errorcode", 0) & 0xFF in codes for one in iterate_causes(error))


def iterate_causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and its causes, the error first."""
    while error is not None:
        yield error
        error = error.__cause__


def is_temporary(error: BaseException) -> bool:
    """Return whether the same work may succeed later, without a restart of the process."""
    return is_full(error) or is_busy(error)


def free_bytes(path: Path) -> int:
    """Return the free bytes of the disk that contains a folder."""
    return shutil.disk_usage(path).free


def read_file(path: Path, what: str) -> bytes:
    """Return the content of a file; raises DataError if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(
            str(path), expected=what, got=error, do="check the role's folder"
        ) from error
