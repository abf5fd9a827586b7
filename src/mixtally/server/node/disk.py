"""Files that are on the disk when the call returns, and files that are gone.

A rename or an unlink is durable once the folder is synced, too. ``Step`` is called with a name
after each: a test that kills the process there finds out whether what comes next can be redone.
"""

import errno
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from mixtally.errors import DataError
from mixtally.primitives.files import write_atomically

Step = Callable[[str], None]
"""Told the name of every durable step as it is done."""
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE)
PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700
LOW_BYTES = 1 << 30
"""Free bytes below which an operator is told."""


def no_step(name: str) -> None:
    """Nothing: nobody wants to know."""


def put(path: Path, data: bytes, what: str) -> None:
    """Write a file whole, for its owner alone; it is there after a power cut.

    Raises DataError when the disk refuses.
    """
    write_atomically(path, data, what=what, mode=PRIVATE_FILE)
    sync_folder(path.parent)


def make_folder(path: Path) -> None:
    """Make a folder for its owner alone, durably; one that is there stays."""
    if not path.is_dir():
        path.mkdir(PRIVATE_FOLDER, parents=True)
        sync_folder(path.parent)


def make_file(path: Path) -> None:
    """Make an empty file for its owner alone, durably; one that is there stays.

    What a database writes beside its file has the same owner and mode.
    """
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, PRIVATE_FILE))
        sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """What was named in a folder, or no longer is, is so after a power cut.

    Raises DataError that ends the process, be it for want of room: the names are seen already, so
    whoever went on would build on them.
    """
    place = os.open(path, os.O_RDONLY)
    try:
        os.fsync(place)
    except OSError as error:
        raise DataError(
            str(path), expected="a folder that can be synced", got=str(error), do="look at the disk"
        ) from None
    finally:
        os.close(place)


def sync_tree(path: Path) -> None:
    """Sync a folder and all below: what a process named that was killed before it could do so."""
    for place, _, _ in os.walk(path):
        sync_folder(Path(place))


def destroy(path: Path) -> None:
    """Overwrite a file, sync it, unlink it. The disk may still hold old blocks: docs say so."""
    with suppress(FileNotFoundError):
        with path.open("r+b") as file:
            file.write(bytes(os.fstat(file.fileno()).st_size))
            file.flush()
            os.fsync(file.fileno())
        path.unlink()
    sync_folder(path.parent)


def remove_folder(path: Path) -> None:
    """Unlink every file of a flat folder and the folder itself."""
    if path.is_dir():
        for file in path.iterdir():
            file.unlink(missing_ok=True)
        path.rmdir()
        sync_folder(path.parent)


def is_full(error: BaseException | None) -> bool:
    """Whether something failed because there is no room; anything else ends the process."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            return True
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
            return True
        error = error.__cause__
    return False


def free_bytes(path: Path) -> int:
    """What the disk of a folder has left."""
    return shutil.disk_usage(path).free


def read_file(path: Path, what: str) -> bytes:
    """A whole file; raises DataError for one that cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(
            str(path), expected=what, got=str(error), do="look at the role's folder"
        ) from error
