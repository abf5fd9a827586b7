"""One process at a time in a folder: what is read there is still true when it is written back."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mixtally.errors import DataError


@contextmanager
def exclusive_lock(folder: Path, *, required: bool) -> Iterator[None]:
    """Nobody else who asks for ``folder`` works in it meanwhile; the lock dies with its process.

    Where the system has no such locks, DataError is raised if the lock is ``required``, and
    otherwise two writers at the same moment may lose what one of them wrote. Raises DataError for a
    folder that cannot be opened.
    """
    try:
        import fcntl  # not there on every system
    except ImportError:
        if required:
            raise DataError(
                str(folder),
                expected="a system with file locks (fcntl)",
                got="one without",
                do="run it on Linux or macOS",
            ) from None
        yield
        return
    try:
        place = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise DataError(
            str(folder), expected="a folder", got=str(error), do="make it first"
        ) from error
    try:
        fcntl.flock(place, fcntl.LOCK_EX)
        yield
    finally:
        os.close(place)
