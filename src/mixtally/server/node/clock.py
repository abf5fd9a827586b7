"""The time of a role: the wall clock, as long as it goes with the one that nobody can set.

What is destroyed at a wrong time is gone: a round whose key was overwritten, bundles that came
after a window had closed too early. So a wall clock that jumps is believed once it has held for ten
minutes; meanwhile time goes on as it did. What was last believed is kept in a file with the steady
clock beside it, so that a role that starts again is not deceived either. After a restart of the
machine, which sets the steady clock back, only that much is sure: it is not earlier than then.

    offset = wall - steady,    believed: |offset - known| <= 30 s, or the same for 600 s
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
"""Seconds: of a jump that is none; until one is believed; between what is kept."""
_BOOT = Path("/proc/sys/kernel/random/boot_id")


def since_boot() -> float:
    """Seconds since the machine was started; those in which it slept count where that is known."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def this_boot() -> str:
    """Which start of the machine this is; nothing where that cannot be told."""
    with suppress(OSError):
        return _BOOT.read_text().strip()
    return ""


class Clocks(NamedTuple):
    """What a machine has: seconds since 1970, seconds since its start, and which start that was."""

    wall: Callable[[], float] = time.time
    steady: Callable[[], float] = since_boot
    boot: str = this_boot()


class _Jump(NamedTuple):
    """A wall clock that says something else, since a moment of the steady one."""

    offset: float
    since: float


class Clock:
    """The time of a role; threads may share one.

    where
      path   of the file in which it is kept
      keep   whether this process writes it
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
        self._offset, self._restarted = self._load_offset(steady)
        self.certain_time()
        if self._restarted:
            log.tell("machine restarted", believes_its_clock_in=int(HOLD))

    def now(self) -> int:
        """Seconds since 1970 as well as they are known: by this, people are answered."""
        with self._turn:
            passed = self._update_offset()
            later = self._clocks.wall() if self._restarted and self._jump else passed
            return int(max(passed, later))

    def certain_time(self) -> int:
        """Seconds since 1970 that have passed for sure: what cannot be undone is done by this."""
        with self._turn:
            passed, jump = self._update_offset(), self._jump
            steady = self._clocks.steady()
            if self._keep and jump is None and steady - self._kept >= KEEP_EVERY:
                self._offset = self._clocks.wall() - steady  # clocks are put right little by little
                self._store_offset(steady)
        if jump is None or self._restarted:
            self._log.set_condition(Condition.CLOCK, False)
        else:
            self._log.set_condition(
                Condition.CLOCK, True, seconds=round(jump.offset - self._offset)
            )
        return int(passed)

    def _update_offset(self) -> float:
        steady = self._clocks.steady()
        offset = self._clocks.wall() - steady
        if abs(offset - self._offset) <= TOLERANCE:
            self._jump, self._restarted = None, False
        elif self._jump is None or abs(offset - self._jump.offset) > TOLERANCE:
            self._jump = _Jump(offset, steady)
        elif steady - self._jump.since >= HOLD:
            self._offset, self._jump, self._restarted = offset, None, False
        return steady + self._offset

    def _load_offset(self, steady: float) -> tuple[float, bool]:
        """The offset that was believed last, and whether the machine was started again since."""
        if self._path.exists():
            with suppress(ValueError, KeyError, TypeError):
                kept = json.loads(disk.read_file(self._path, "the time that was kept"))
                wall, before, same = float(kept["wall"]), float(kept["steady"]), kept["boot"]
                if same and same == self._clocks.boot and before <= steady:
                    return wall - before, False
                return wall - steady, True
        return self._clocks.wall() - steady, False

    def _store_offset(self, steady: float) -> None:
        held = {"wall": steady + self._offset, "steady": steady, "boot": self._clocks.boot}
        try:
            disk.put(self._path, json.dumps(held).encode() + b"\n", "the time")
        except DataError as error:
            if not disk.is_full(error):  # what was kept before is as true as it was
                raise
        self._kept = steady
