"""Reading and replacing whole files, such as plans, ledgers, lists and keys.

A new version is moved over the old one, which replaces one name of the file only. Therefore
symbolic links are resolved first, and a file with several hard links is refused.
"""

import os
import stat
import threading
from contextlib import suppress
from pathlib import Path

from mixtally.errors import DataError

_MOST = 1 << 30
"""Maximum bytes of a plan, a list, a ledger or a key: many times the largest in use."""
_MOST_PIPED = 1 << 26
"""Maximum bytes read from a pipe, whose size is not known before it is read."""
_WRITING = threading.Lock()
"""Held while a temporary file exists, because two threads would use the same temporary name."""


def read_whole(path: Path, *, piped: bool = False, most: int = _MOST) -> bytes:
    """Return the content of a file, or of a pipe if ``piped`` is true.

    Raise OSError for a file that cannot be read, for a device, and for too many bytes.

    Parameters
    ----------
    path : Path
        The file, or the pipe, to read.
    piped : bool
        Whether a pipe may be read instead of a file.
    most : int
        The maximum number of bytes; at most 2^26 for a pipe.
    """
    status = path.stat()
    kind, regular = status.st_mode, stat.S_ISREG(status.st_mode)
    # A folder passes this check, because opening it raises an error with a clearer text.
    if not (regular or stat.S_ISDIR(kind) or (piped and stat.S_ISFIFO(kind))):
        raise OSError("a device, pipe or socket")
    most = most if regular else min(most, _MOST_PIPED)
    data, long = bytearray(), regular and status.st_size > most
    with path.open("rb") as file:
        while not long and (chunk := file.read(1 << 20)):
            data += chunk
            long = len(data) > most
    if long:
        raise OSError(f"more than {most:,} bytes")
    return bytes(data)


def resolve_target(path: Path) -> Path:
    """Return ``path`` or, if it is a symbolic link, its target. The file need not exist yet.

    Raise DataError if links form a circle or the file has several hard links.
    """
    try:
        real = path.resolve()
        names = real.stat().st_nlink if real.is_file() else 1
    except (OSError, RuntimeError) as error:  # links in a circle
        raise DataError(
            str(path), expected="a file or a new name", got=error, do="look at its links"
        ) from error
    if names > 1:
        raise DataError(
            str(path),
            expected="a file with one name, because the file will be replaced",
            got=f"a file with {names} names (hard links)",
            do="remove the other names, or make them symbolic links",
        )
    return real if path.is_symlink() or not path.name else path


def write_atomically(path: Path, data: bytes, *, what: str, mode: int = 0o666) -> None:
    """Write a file atomically: to a temporary file first, which then replaces ``path``.

    The caller has the ``exclusive_lock`` of the folder, so an existing temporary file was left by a
    killed process and is removed. Threads of one process write one after the other. Raise DataError
    if the file cannot be written; its old content is then unchanged.

    Parameters
    ----------
    path : Path
        The file, a result of ``resolve_target``.
    data : bytes
        The new content.
    what : str
        The name of the file in the message.
    mode : int
        The permissions of a new file.
    """
    with _WRITING:
        _replace(path, data, what, mode)


def _replace(path: Path, data: bytes, what: str, mode: int) -> None:
    aside = _temporary_path(resolve_target(path))
    try:
        remove_temporary(path)
        place = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(place, "wb") as file:
            file.write(data)
            file.flush()
            # The data must be on the disk before the name points to them. Otherwise a power
            # failure could leave an empty file in place of the old one.
            os.fsync(file.fileno())
        aside.replace(path)
    except OSError as error:
        remove_temporary(path)
        raise DataError(
            str(path),
            expected=f"to write {what}",
            got=error,
            do="check the folder and its free space, or choose another",
        ) from error


def remove_temporary(path: Path) -> None:
    """Remove the temporary file of ``write_atomically`` for ``path``, if one was left.

    The caller must have the lock of the folder.
    """
    with suppress(OSError):  # the write that follows reports the same error
        _temporary_path(path).unlink(missing_ok=True)


def _temporary_path(path: Path) -> Path:
    return path.with_name(f".{path.name}.part")


def read_bytes(path: Path, what: str, make: str = "write one with `mixtally plan --out`") -> bytes:
    """Return the content of a file or pipe, or raise DataError.

    Parameters
    ----------
    path : Path
        The file, or the pipe, to read.
    what : str
        The expected content, as the message names it.
    make : str
        The advice in the message: how to make such a file.
    """
    try:
        return read_whole(path, piped=True)
    except OSError as error:
        raise DataError(str(path), expected=what, got=error, do=make) from error
