"""Clock of a role that does not follow sudden jumps of the wall clock.

An action taken at a wrong time cannot be undone: a key is destroyed, or bundles are refused because
a window seems over. So the clock compares the wall clock with the steady clock, which counts from
the start of the machine and cannot be set. Let

    offset = wall - steady.

The wall clock is believed if its offset differs from the known offset by at most 30 s, or if the
new offset has been stable for 600 s. Until then the time continues with the known offset. The known
offset is stored in a file, so that a jump is not accepted at a restart of the process. A restart of
the machine resets the steady clock. Then only a lower bound of the time is known: the last stored
time. If the file was deleted and there are keys of rounds, the lower bound is 1970. Without such
keys, a wrong time does no harm, so a new role believes the wall clock at once.
"""

import json
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from mixtally.errors import DataError
from mixtally.server.node import disk
from mixtally.server.node.events import Condition, Log

TOLERANCE, HOLD, KEEP_EVERY = 30.0, 600.0, 60.0
"""Three times in seconds: the largest change of the offset that is not a jump; how long a new
offset must be stable to be believed; the interval between two writes of the stored time.
"""
_BOOT = Path("/proc/sys/kernel/random/boot_id")


def since_boot() -> float:
    """Return the seconds since the start of the machine.

    They include the time during which the machine slept, if the system has such a clock.
    """
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def this_boot() -> str:
    """Return the identifier of the current boot, or "" where the system has none."""
    with suppress(OSError):
        return _BOOT.read_text().strip()
    return ""


class Clocks(NamedTuple):
    """Time sources of a machine."""

    wall: Callable[[], float] = time.time
    """Seconds since 1970."""
    steady: Callable[[], float] = since_boot
    """Seconds since the start of the machine."""
    boot: str = this_boot()
    """Identifier of this start of the machine."""


class _Jump(NamedTuple):
    """A new offset that is not believed yet, and the steady time at which it was first seen."""

    offset: float
    since: float


class Clock:
    """The time of a role, which several threads may read.

    The known offset is stored in the file ``path``. If ``keep`` is False, this process only reads
    the file.
    """

    def __init__(
        self, path: Path, log: Log, clocks: Clocks | None = None, *, keep: bool = True
    ) -> None:
        self._path, self._log, self._keep = path, log, keep
        self._clocks = clocks or Clocks()
        self._turn = Lock()
        self._jump: _Jump | None = None
        self._kept = float("-inf")
        steady = self._clocks.steady()
        self._offset, self._doubt = self._load_offset(steady)
        self._restarted = self._doubt is not None
        self.certain_time()

    def now(self) -> int:
        """Return the best estimate of the time, in seconds since 1970, for responses to clients.

        After a restart of the machine, this estimate follows the wall clock even before the wall
        clock is believed.
        """
        with self._turn:
            steady, _ = self._update_offset()
            passed = steady + self._offset
            later = self._clocks.wall() if self._restarted and self._jump else passed
            return int(max(passed, later))

    def certain_time(self) -> int:
        """Return a time that has certainly passed, in seconds since 1970.

        Actions that cannot be undone use this time.
        """
        with self._turn:
            steady, offset = self._update_offset()
            passed, jump = steady + self._offset, self._jump
            if self._keep and jump is None and steady - self._kept >= KEEP_EVERY:
                # Follow the small corrections that a time service makes to the wall clock. The
                # clocks are not read a second time, because the machine may have slept since the
                # offset was checked.
                self._offset = offset
                self._store_offset(steady)
            restarted = self._restarted
        if self._doubt is not None:
            self._log.set_condition(self._doubt, restarted, believes_its_clock_in=int(HOLD))
        # After a restart of the machine a difference is normal, so the operator is not warned of a
        # jump.
        if jump is None or restarted:
            self._log.set_condition(Condition.CLOCK, False)
        else:
            self._log.set_condition(
                Condition.CLOCK, True, seconds=round(jump.offset - self._offset)
            )
        return int(passed)

    def _update_offset(self) -> tuple[float, float]:
        """Compare the clocks, and return the steady time and its present offset.

        If a new offset has been stable for ``HOLD`` seconds, it becomes the known offset.
        """
        steady = self._clocks.steady()
        offset = self._clocks.wall() - steady
        if abs(offset - self._offset) <= TOLERANCE:
            self._jump, self._restarted = None, False
        elif self._jump is None or abs(offset - self._jump.offset) > TOLERANCE:
            self._jump = _Jump(offset, steady)
        elif steady - self._jump.since >= HOLD:
            self._offset, self._jump, self._restarted = offset, None, False
        return steady, offset

    def _load_offset(self, steady: float) -> tuple[float, Condition | None]:
        """Return the offset from which to start, and a ``Condition`` or None.

        If only a lower bound of the offset is known, this bound is returned, and the condition says
        why: the machine was restarted, or the stored time is lost.
        """
        if self._path.exists():
            with suppress(ValueError, KeyError, TypeError):
                kept = json.loads(disk.read_file(self._path, "the time that was kept"))
                wall, before, same = float(kept["wall"]), float(kept["steady"]), kept["boot"]
                if same and same == self._clocks.boot and before <= steady:
                    return wall - before, None
                return wall - steady, Condition.RESTARTED
        if any((self._path.parent / "keys").glob("*")):
            return -steady, Condition.CLOCK_LOST
        return self._clocks.wall() - steady, None

    def _store_offset(self, steady: float) -> None:
        stored = {"wall": steady + self._offset, "steady": steady, "boot": self._clocks.boot}
        try:
            # An older stored time is still a correct lower bound, so a full disk does not end the
            # process.
            disk.put(self._path, json.dumps(stored).encode() + b"\n", "the time")
        except DataError as error:
            if not disk.is_full(error):
                raise
        self._kept = steady
