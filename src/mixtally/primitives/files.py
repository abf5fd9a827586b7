"""Files that are read whole and replaced whole, never followed to where they have no end.

What is replaced is moved into place, which would leave the old file under every other name it has:
so symbolic links are followed first, and a file with several names of its own is refused.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path

from mixtally.errors import DataError

_MOST = 1 << 30
"""Bytes of a plan, a list, a ledger or a key: a gibibyte holds the largest many times."""
_MOST_PIPED = 1 << 26
"""Bytes of a pipe, which does not say how many there are."""


def read_whole(path: Path, *, piped: bool = False, most: int = _MOST) -> bytes:
    """The bytes of the file ``path``, or of a pipe where ``piped`` allows one.

    Raises OSError for what cannot be read, for a device, and for more than ``most`` bytes, or than
    2^26 out of a pipe.
    """
    status = path.stat()
    kind, regular = status.st_mode, stat.S_ISREG(status.st_mode)
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
    """Where the file that is to be replaced really is; there need not be one yet.

    Errors name it: it is ``path`` as it was given, unless that is a link. Raises DataError for
    links that lead nowhere and for a file with several names.
    """
    try:
        real = path.resolve()
        names = real.stat().st_nlink if real.is_file() else 1
    except (OSError, RuntimeError) as error:  # links in a circle
        raise DataError(
            str(path), expected="a file, or a place for one", got=str(error), do="look at its links"
        ) from error
    if names > 1:
        raise DataError(
            str(path),
            expected="a file of one name, as it will be replaced",
            got=f"one of {names} names (hard links)",
            do="remove the other names, or make them symbolic links",
        )
    return real if path.is_symlink() or not path.name else path


def write_atomically(path: Path, data: bytes, *, what: str, mode: int = 0o666) -> None:
    """Write aside, then move into place: whole or not at all. Whoever calls is ``alone`` there.

    So what lies aside already was left by a process that was killed, and is written over. ``path``
    is ``the_file``. Raises DataError when the disk refuses; what was there is then still there.
    """
    aside = _temporary_path(resolve_target(path))
    try:
        remove_temporary(path)
        place = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(place, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except OSError as error:
        remove_temporary(path)
        raise DataError(
            str(path),
            expected=f"to write {what}",
            got=str(error),
            do="look at the place and its free space, or choose another",
        ) from error


def remove_temporary(path: Path) -> None:
    """Remove what a killed process left of writing ``path``; only while ``alone`` there."""
    with suppress(OSError):  # a folder that refuses does so again, and is told, at writing
        _temporary_path(path).unlink(missing_ok=True)


def _temporary_path(path: Path) -> Path:
    return path.with_name(f".{path.name}.part")


def read_bytes(path: Path, what: str, make: str = "write one with `mixtally plan --out`") -> bytes:
    """A whole file, or what a pipe brings; DataError for one that cannot be read says ``make``."""
    try:
        return read_whole(path, piped=True)
    except OSError as error:
        raise DataError(
            str(path), expected=what, got=error.strerror or str(error), do=make
        ) from error
