"""The window of a round, as a file: all that a process of intake knows, and how it is stopped.

While bundles may come, the first mix has ``window`` lie in the round's folder. A process of intake
shares the round's lock, then looks whether ``window`` still stands, and only then opens a file of
its own; it gives its share back when that file is closed. So whoever has removed ``window``, and
had the lock alone after that, knows that nothing is added any more. Who is killed loses its share.
"""

import os
from pathlib import Path
from typing import NamedTuple

import msgspec

from mixtally.device.wire.bundle import PartShape
from mixtally.errors import DataError
from mixtally.server.node import disk
from mixtally.server.node.rounds import round_id

_WINDOW, _LOCK = "window", "intake.lock"


class Window(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A round that takes bundles.

    where
      contract        its fingerprint
      shapes          how a bundle is made, a part each
      opens, closes   when it does
    """

    contract: str
    round: int
    shapes: tuple[PartShape, ...]
    opens: int
    closes: int

    @property
    def round_id(self) -> str:
        """The name of its folder."""
        return round_id(self.contract, self.round)


class Share(NamedTuple):
    """Leave to write for the round of a folder, until it is given back.

    where
      place   the lock's open file
    """

    folder: Path
    window: Window
    place: int

    def is_window_open(self) -> bool:
        """Whether the window still does."""
        return (self.folder / _WINDOW).exists()

    def release(self) -> None:
        """Nothing is written any more."""
        os.close(self.place)


def announce(folder: Path, window: Window) -> None:
    """Let processes of intake take for the round of this folder."""
    disk.make_folder(folder)
    disk.make_file(folder / _LOCK)
    disk.put(folder / _WINDOW, msgspec.json.encode(window) + b"\n", "the window of a round")


def withdraw(folder: Path) -> None:
    """Let none begin any more, and have those that take come to an end."""
    if (folder / _WINDOW).exists():
        (folder / _WINDOW).unlink()
        disk.sync_folder(folder)


def is_intake_over(folder: Path) -> bool:
    """Whether the window is gone, and nobody has a share any more."""
    if (folder / _WINDOW).exists():
        return False
    try:
        os.close(_acquire_lock(folder, exclusive=True))
    except (FileNotFoundError, BlockingIOError) as error:
        return isinstance(error, FileNotFoundError)  # no process of intake was ever let in
    return True


def list_announced(rounds: Path) -> list[Path]:
    """The folders of rounds whose windows stand."""
    return sorted(path.parent for path in rounds.glob(f"*/{_WINDOW}"))


def acquire_share(folder: Path) -> Share | None:
    """A share of a round's lock; None where its window stands no more.

    Raises DataError for a window of another form or folder.
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
            got=str(error),
            do="start the mix and its intake from one release of mixtally",
        ) from error
    return Share(folder, window, place)


def _acquire_lock(folder: Path, *, exclusive: bool) -> int:
    """The round's lock, alone or shared; raises OSError where it is not to be had."""
    import fcntl  # roles that serve run on systems that have it

    place = os.open(folder / _LOCK, os.O_RDWR)
    try:
        fcntl.flock(place, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except OSError:
        os.close(place)
        raise
    return place
