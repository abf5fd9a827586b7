"""The largest divergence over a one-dimensional family of datasets, at several epsilons.

A dataset is an integer from 0 to ``most``, such as the number of people who hold a one.
``two_outputs`` uses this module. An interval of integers is a cell. As ``worst_dataset`` explains,
the divergence of the records that all datasets of a cell share bounds the divergence of each of
them. The expensive step is the distribution of a cell, which all epsilons share. So every cell is
as wide as the most demanding epsilon allows.
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from mixtally.accounting.numerics.bracket import BoundArrays
from mixtally.accounting.numerics.gap import Gap
from mixtally.errors import AccountingError
from mixtally.primitives.tails import Floats

_MOST_CELLS = 100_000
_ROOM_USED = 0.9
"""Share of the distance to the ceiling that the width of a cell is planned to use."""
_FLOOR = 1e-300


Divergences = Callable[[int, int], BoundArrays]
"""Bounds for the records shared by the datasets from the first to the last integer."""


def find_worst_1d(
    divergences: Divergences,
    most: int,
    gap: Gap,
    epsilons: Sequence[float] = (),
    known: Iterable[int] = (),
) -> BoundArrays:
    """Return both bounds of the largest divergence of a dataset in 0..``most``, for each epsilon.

    ``gap`` is the tolerated distance of the bounds, in addition to the distance of the bounds of a
    single dataset. For ``epsilons`` of a curve that is to be composed, the gap is widened.
    ``known`` are datasets at which the divergence may be the largest; they are evaluated first.
    """
    sweep = _Sweep(divergences, gap)
    for point in (0, most, *known):
        sweep.evaluate_point(point)
    sweep.gap = gap.widen_for_curve(epsilons, sweep.found)
    sweep.aim = sweep.found
    whole = divergences(0, most).upper
    if most > 0 and np.any(whole > sweep.ceiling()):
        sweep.open = whole > sweep.ceiling()
        sweep.cover_line(most, whole)
        proved = np.minimum(1.0, np.maximum(sweep.ceiling(), sweep.point))
        whole = np.where(sweep.open, proved, whole)
    return BoundArrays(np.minimum(sweep.found, whole), whole)


class _Sweep:
    """The largest divergences found, and the cells that prove that none is much larger."""

    def __init__(self, divergences: Divergences, gap: Gap) -> None:
        self.divergences, self.gap = divergences, gap
        start = np.zeros(1)
        self.found: Floats = start
        self.aim: Floats = start
        """Divergences that the ceilings are computed from; raised only if a point exceeds its
        ceiling.
        """
        self.point: Floats = start
        """Largest upper bounds of single datasets."""
        self.open = np.ones(1, dtype=bool)
        """Epsilons at which one cell of all datasets does not suffice."""
        self.cells = 0

    def evaluate_point(self, point: int) -> Floats:
        """Return the upper bounds of one dataset, and update the largest divergences found."""
        lower, upper = self.divergences(point, point)
        self.found = np.maximum(self.found, lower)
        self.aim = np.where(self.found > self.ceiling(), self.found, self.aim)
        self.point = np.maximum(self.point, upper)
        return upper

    def ceiling(self) -> Floats:
        """Return the bounds to be proved.

        If the upper bound of a single dataset uses more than half of the gap, the ceiling is that
        bound plus the gap.
        """
        usual = self.gap.ceilings(self.aim)
        return np.where(2.0 * self.point > self.aim + usual, self.gap.ceilings(self.point), usual)

    def bound_cell(self, start: int, width: int) -> Floats:
        """Return upper bounds of the divergence over the datasets of a cell, one for each epsilon.

        The cell is ``start`` .. ``start`` + ``width`` - 1. If it has one dataset, the exact
        divergence may also raise the ceiling.
        """
        self.cells += 1
        if self.cells > _MOST_CELLS:
            raise AccountingError(f"worst case: expected a proof of at most {_MOST_CELLS} cells")
        if width == 1:
            return self.evaluate_point(start)
        return self.divergences(start, start + width - 1).upper

    def cover_line(self, most: int, of_all: Floats) -> None:
        """Cover 0..``most`` with cells, each as wide as the previous bounds suggest.

        The logarithm of a cell's bound rises nearly evenly with the width of the cell. It begins at
        ``level``, the logarithm for the first dataset alone, and rises by ``slope`` per dataset. A
        width that fails costs one more evaluation.
        """
        start, level = 0, _log(self.evaluate_point(0))
        slope = (_log(of_all) - level) / most
        before = (start, level)
        while start <= most:
            remaining = most - start + 1
            width, evaluated = self._width(level, slope, remaining), False
            while True:
                bound = self.bound_cell(start, width)
                if width == 1 or not np.any((bound > self.ceiling()) & self.open):
                    break
                if not evaluated:
                    level, evaluated = _log(self.evaluate_point(start)), True
                slope = (_log(bound) - level) / (width - 1)
                width = min(max(1, width // 2), self._width(level, slope, width))
            here = _log(bound) - slope * (width - 1)
            trend = (here - before[1]) / max(1, start - before[0])
            before = (start, here)
            level, start = here + np.minimum(0.0, trend) * width, start + width

    def _width(self, level: Floats, slope: Floats, most: int) -> int:
        """Return the number of datasets that a cell may have, from 1 to ``most``."""
        room = (_ROOM_USED * (_log(self.ceiling()) - level))[self.open]
        rise = slope[self.open]
        if np.any(room <= 0.0):
            return 1
        tight = room < rise * most
        return max(1, int((room[tight] / rise[tight]).min())) if tight.any() else most


def _log(bound: Floats) -> Floats:
    return np.log(np.maximum(bound, _FLOOR))
