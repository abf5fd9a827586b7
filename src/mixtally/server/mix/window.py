"""The window of a round as a file, which tells intake processes when to receive bundles.

While bundles are accepted, the first mix keeps the file ``window`` in the round's folder. An intake
process proceeds in this order:

1. It takes a shared lock on the round.
2. It checks that ``window`` still exists.
3. It opens a file of its own, and writes bundles.
4. It closes the file and releases the lock.

The mix removes ``window`` and then obtains the exclusive lock. After that no process can add
bundles. The system releases the lock of a process that is killed.
"""

import os
from pathlib import Path
from typing import NamedTuple

import msgspec

from mixtally.device.wire.bundle import PartShape, bundle_bytes
from mixtally.errors import DataError
from mixtally.server.node import disk
from mixtally.server.node.rounds import round_id

_WINDOW, _LOCK = "window", "intake.lock"


class Window(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The time and the bundle format of a round that accepts bundles."""

    contract: str
    """Fingerprint of the contract."""
    round: int
    shapes: tuple[PartShape, ...]
    """Format of a bundle, for each part."""
    most_bundles: int
    """Maximum number of bundles of the round, over all processes."""
    admission: str
    """Who may send a bundle: the contract's field ``admission``."""
    opens: int
    closes: int
    """Opening and closing time of the window, in seconds since 1970."""

    @property
    def round_id(self) -> str:
        """Name of the round's folder."""
        return round_id(self.contract, self.round)

    @property
    def bundle_bytes(self) -> int:
        """Length of every bundle."""
        return bundle_bytes(self.shapes)


class Share(NamedTuple):
    """A shared lock, with which a process may write bundles of a round.

    ``place`` is the file descriptor of the locked file.
    """

    folder: Path
    window: Window
    place: int

    def is_window_open(self) -> bool:
        """Return whether the window is still open."""
        return (self.folder / _WINDOW).exists()

    def release(self) -> None:
        """Release the lock, after which nothing may be written."""
        os.close(self.place)


def announce(folder: Path, window: Window) -> None:
    """Let intake processes accept bundles for the round of a folder."""
    disk.make_folder(folder)
    disk.make_file(folder / _LOCK)
    # The lock file exists before the window, so that a process that sees the window can lock it.
    disk.put(folder / _WINDOW, msgspec.json.encode(window) + b"\n", "the window of a round")


def withdraw(folder: Path) -> None:
    """Remove the window, so that no intake process starts to receive, and receiving ones stop."""
    if (folder / _WINDOW).exists():
        (folder / _WINDOW).unlink()
        disk.sync_folder(folder)


def is_intake_over(folder: Path) -> bool:
    """Return whether the window is removed and no process has a shared lock.

    Then no process can add bundles any more.
    """
    if (folder / _WINDOW).exists():
        return False
    try:
        os.close(_acquire_lock(folder, exclusive=True))
    except (FileNotFoundError, BlockingIOError) as error:
        # Without a lock file, no intake process has ever received bundles for this round.
        return isinstance(error, FileNotFoundError)
    return True


def list_announced(rounds: Path) -> list[Path]:
    """Return the folders of rounds whose windows are open."""
    return sorted(path.parent for path in rounds.glob(f"*/{_WINDOW}"))


def acquire_share(folder: Path) -> Share | None:
    """Take a shared lock on a round; returns None if its window is closed.

    Raises DataError if the window is malformed or belongs to another folder.
    """
    try:
        place = _acquire_lock(folder, exclusive=False)
    except (FileNotFoundError, BlockingIOError):
        return None
    try:
        data = (folder / _WINDOW).read_bytes()
        window = msgspec.json.decode(data, type=Window)
        if window.round_id != folder.name:
            raise ValueError(window.round_id)
    except FileNotFoundError:
        os.close(place)
        return None
    except ValueError as error:
        os.close(place)
        raise DataError(
            str(folder / _WINDOW),
            expected="the window of its folder's round",
            got=error,
            do="start the mix and its intake from one release of mixtally",
        ) from error
    return Share(folder, window, place)


def _acquire_lock(folder: Path, *, exclusive: bool) -> int:
    """Lock a round, and return the file descriptor; raises OSError if the lock is not available."""
    # Imported here, because only systems on which roles are served have this module.
    import fcntl

    place = os.open(folder / _LOCK, os.O_RDWR)
    try:
        fcntl.flock(place, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except OSError:
        os.close(place)
        raise
    return place
