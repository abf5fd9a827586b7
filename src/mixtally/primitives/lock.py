"""An exclusive lock of a folder, for programs that read a file, change it and write it back."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mixtally.errors import DataError


@contextmanager
def exclusive_lock(folder: Path, *, required: bool) -> Iterator[None]:
    """Lock a folder exclusively while the context is open, or until the process ends.

    Raise DataError if the folder cannot be opened.

    Parameters
    ----------
    folder : Path
        The existing folder that is locked.
    required : bool
        Whether DataError is raised on a system without file locks. Otherwise the context is opened
        there without a lock, and one of two simultaneous writers may lose its change.
    """
    try:
        import fcntl  # does not exist on Windows
    except ImportError:
        if required:
            raise DataError(
                str(folder),
                expected="a system with file locks (fcntl)",
                got="a system without file locks",
                do="run this command on Linux or macOS",
            ) from None
        yield
        return
    try:
        place = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise DataError(str(folder), expected="a folder", got=error, do="make it first") from error
    try:
        fcntl.flock(place, fcntl.LOCK_EX)
        yield
    finally:
        os.close(place)
