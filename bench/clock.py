"""Timing for all benchmarks: medians of CPU seconds of several runs after a warm-up.

Two functions that are compared run alternately.
"""

import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

QUICK = bool(os.environ.get("MIXTALLY_BENCH_QUICK"))
"""Whether the benchmarks only test that they run; sizes are then small and numbers mean nothing."""
_TICK = os.sysconf("SC_CLK_TCK")


def choose_size(many: int, few: int) -> int:
    """Return ``many``, or ``few`` in a quick run."""
    return few if QUICK else many


def seconds(work: Callable[[], Any], runs: int = 5) -> float:
    """Return the median CPU seconds of ``work``."""
    work()
    return statistics.median(_measure_seconds(work) for _ in range(1 if QUICK else runs))


class PairedMedians(NamedTuple):
    """Medians of two functions that ran alternately."""

    ours: float
    theirs: float

    @property
    def ratio(self) -> float:
        """Their time divided by ours."""
        return self.theirs / self.ours


def both(ours: Callable[[], Any], theirs: Callable[[], Any], runs: int = 5) -> PairedMedians:
    """Return the median CPU seconds of two functions.

    They run alternately, so that other load on the machine affects both.
    """
    ours()
    theirs()
    spent: tuple[list[float], list[float]] = ([], [])
    for _ in range(1 if QUICK else runs):
        spent[0].append(_measure_seconds(ours))
        spent[1].append(_measure_seconds(theirs))
    return PairedMedians(*map(statistics.median, spent))


def _measure_seconds(work: Callable[[], Any]) -> float:
    begun = time.process_time()
    work()
    return max(time.process_time() - begun, 1e-9)


def family_seconds() -> float:
    """Return the CPU seconds of this process and of all its descendants, including ended ones."""
    children: dict[int, list[int]] = {}
    ticks: dict[int, int] = {}
    for place in Path("/proc").iterdir():
        if not place.name.isdecimal():
            continue
        try:
            fields = (place / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # The process has ended since the folder was listed.
            continue
        children.setdefault(int(fields[1]), []).append(int(place.name))
        ticks[int(place.name)] = sum(map(int, fields[11:15]))
    todo, total = [os.getpid()], 0
    while todo:
        one = todo.pop()
        total += ticks.get(one, 0)
        todo += children.get(one, [])
    return total / _TICK
