"""Timing: the median of several runs, after one that warms up."""

import statistics
import time
from collections.abc import Callable
from typing import Any


def seconds(work: Callable[[], Any], runs: int = 5) -> float:
    """Median seconds of ``work``."""
    work()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)
