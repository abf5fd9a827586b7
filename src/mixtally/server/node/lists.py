"""Arrival lists that a role has published: files named by their SHA-256, kept after the round."""

import os
import re
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from mixtally.server.node import disk

KEPT_SECONDS = 30 * 86_400
"""Seconds after the expiry of a round for which its lists are kept."""
_LOOK_SECONDS = 3600
"""Seconds between two searches for lists that are no longer kept."""
_NAME = re.compile("[0-9a-f]{64}")


class Lists:
    """The lists of all rounds of a role, in one folder.

    The modification time of a file is the expiry of its round, which shows when to remove the file.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._searched: int | None = None

    def writer(self, expires: int) -> Callable[[str, bytes], None]:
        """Return a function that stores a file of a round, given its SHA-256 and its bytes."""
        disk.make_folder(self._folder)
        return partial(self._put, expires)

    def _put(self, expires: int, name: str, data: bytes) -> None:
        disk.put(self._folder / name, data, "an arrival list")
        os.utime(self._folder / name, (expires, expires))

    def find(self, name: str) -> tuple[Path, int] | None:
        """Return the path and the length of a file; None if this role does not have it."""
        if _NAME.fullmatch(name):
            with suppress(FileNotFoundError):
                return self._folder / name, (self._folder / name).stat().st_size
        return None

    def remove_old(self, now: int) -> None:
        """Remove the files of rounds that expired long ago, at most once an hour."""
        if self._searched is not None and self._searched <= now < self._searched + _LOOK_SECONDS:
            return
        self._searched = now
        for path in self._folder.glob("*"):
            # The closing of a round may have renamed a file just now.
            with suppress(FileNotFoundError):
                if path.stat().st_mtime < now - KEPT_SECONDS:
                    path.unlink()
