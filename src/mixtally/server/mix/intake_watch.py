"""Detection and release of intake processes that hang, through the lock files of their numbers.

While an intake process runs, it locks the file of its number, writes its process id and start time
into the file, and updates the file's time once a second. A mix cannot close a round while a process
that receives bundles of the round hangs. So the mix reports the process, and the operator ends it.
The bundles of the process are used only after the system has released the locks of the process.
From then on, the process can acknowledge no more bundles.
"""

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep

from mixtally.errors import DataError
from mixtally.server.node.events import Condition, FieldValue, Log
from mixtally.server.node.running import is_locked, lock_path

HANG_SECONDS = 10.0
"""An intake process is reported as hanging if the time of its file has not changed for this long.

A working process updates the time ten times in these seconds. A slow sync of a loaded disk takes
one or two seconds.
"""
_END_SECONDS = 30.0
"""Seconds within which an ended process must have released its locks."""


def register_process(lock: int) -> None:
    """Write the identity of this process into its locked file, whose descriptor is ``lock``."""
    # On a full disk this fails. The process still serves, but no command can identify and end it.
    with suppress(OSError):
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"{os.getpid()} {_start_time(os.getpid())}\n".encode(), 0)


class IntakeWatch:
    """Detects intake processes that hang; ``steady`` is a clock in seconds that cannot be set."""

    def __init__(self, folder: Path, log: Log, steady: Callable[[], float] = monotonic) -> None:
        self._folder, self._log, self._steady = folder, log, steady
        self._seen: dict[int, tuple[int, float]] = {}

    def check(self) -> None:
        """Report each running process whose file was not updated for ``HANG_SECONDS``."""
        now = self._steady()
        for path in self._folder.glob("intake-[0-9]*.lock"):
            number, touched = int(path.stem.removeprefix("intake-")), path.stat().st_mtime_ns
            # The age is measured with the steady clock, because file times follow the wall clock,
            # which may jump.
            if self._seen.get(number, (0, now))[0] != touched:
                self._seen[number] = touched, now
            hangs = now - self._seen[number][1] >= HANG_SECONDS and is_locked(path)
            process, _ = _read_identity(path)
            said: dict[str, FieldValue] = {"process": process} if process else {}
            self._log.set_condition(Condition.INTAKE, hangs, number=number, **said)


def release_intake(folder: Path, number: int) -> int:
    """End the intake process of a number, and return its process id.

    Returns 0 if no such process runs. When the function returns, the process has released its
    locks, so it can acknowledge no more bundles. All bundles that it has acknowledged are on disk.

    Raises DataError if the process cannot be identified, or does not end.
    """
    path = lock_path(folder, number)
    if not is_locked(path):
        return 0
    process, started = _read_identity(path)
    try:
        # The descriptor refers to this process, even if the system reuses its process id.
        place = os.pidfd_open(process)
        try:
            if _start_time(process) != started:
                raise ProcessLookupError(process)
            signal.pidfd_send_signal(place, signal.SIGKILL)
        finally:
            os.close(place)
    except (AttributeError, OSError) as error:
        raise DataError(
            str(path),
            expected="the lock of a process that this user can end here",
            got=f"one of process {process}, which is not: {type(error).__name__}",
            do="end the intake process where it runs, such as in its container",
        ) from error
    until = monotonic() + _END_SECONDS
    while is_locked(path):
        if monotonic() >= until:
            raise DataError(
                str(path),
                expected=f"the end of process {process} within {_END_SECONDS:.0f} seconds",
                got="a process that waits for the disk",
                do="check the disk; its bundles are counted when it has ended",
            )
        sleep(0.05)
    return process


def _read_identity(path: Path) -> tuple[int, str]:
    """Return the process id and the start time that a process has written into its file."""
    with suppress(OSError, ValueError):
        process, started = path.read_text().split()
        return int(process), started
    return 0, ""


def _start_time(process: int) -> str:
    """Return the start time of a process, which no later process with the same process id has."""
    with suppress(OSError, IndexError):
        # The name of the program, in parentheses, may contain spaces.
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19]
    return ""
