"""The largest divergence over all datasets of a kind, proved cell by cell at several epsilons.

A dataset is a point with integer coordinates; a cell is a box of them. Records that differ inside
the cell are dropped, which never helps the person: the divergence of what all points of the cell
share bounds every one of them.

The largest divergence known, raised by the gap, is the ceiling, one for each epsilon. Cells are cut
in two until every point is in one whose bound is below the ceiling, so that the ceiling is proved
and moves as smoothly with the parameters as the divergence known. What takes time is the
distribution of a cell, which all epsilons share that have not done with it.
"""

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mixtally.accounting.numerics.bracket import BoundArrays
from mixtally.accounting.numerics.gap import Gap
from mixtally.errors import AccountingError
from mixtally.primitives.tails import Floats

Cell = tuple[tuple[int, int], ...]
"""For every coordinate the least and the greatest value, both included."""
Places = NDArray[np.int64]
"""Which of all epsilons, ascending."""
Divergences = Callable[[Cell, Places], BoundArrays]
"""Of what the points of a cell share, or of one point, at some of the epsilons."""

_NEAR = 1e-2
MOST_HALVED = 3000
_MOST_CELLS = 100_000


def find_worst(
    divergences: Divergences,
    epsilons: Sequence[float],
    domain: Cell,
    gap: Gap,
    feasible: Callable[[Cell], bool] = lambda _: True,
    known: Iterable[Cell] = (),
    most_halved: int = MOST_HALVED,
    of_all: Floats | None = None,
) -> BoundArrays:
    """Both bounds of the largest divergence of a point of ``domain``, for each epsilon.

    where
      gap          how far apart the bounds may be, beyond those of a point; of several epsilons,
                   whose curve is to be composed, it is shifted
      feasible     whether a cell holds any dataset at all
      known        points where the largest divergence may be
      most_halved  so many cells are looked at: after these the bounds are as close as they prove
      of_all       bounds of all points, where they are known
    """
    search, every = _Search(divergences, len(epsilons), gap), np.arange(len(epsilons))
    for point in (*_corners(domain), *known):
        if feasible(point):
            search.evaluate_point(point, every)
    search.gap = gap.widen_for_curve(epsilons, search.found)
    search.aim = search.found.copy()
    whole = (divergences(domain, every).upper if of_all is None else of_all).copy()
    left = np.flatnonzero(whole > search.ceiling())
    if len(left) and not _is_point(domain):
        search.halve(domain, left, feasible, most_halved)
        proved = np.maximum(np.maximum(search.ceiling(), search.point), search.rest)
        whole[left] = np.minimum(whole, proved)[left]
    return BoundArrays(np.minimum(search.found, whole), whole)


class _BoundedCell(NamedTuple):
    """A cell, the epsilons that have not done with it, and its bounds at these."""

    cell: Cell
    places: Places
    bounds: Floats


class _Search:
    """The largest divergences found so far, and the means to prove that none is much larger."""

    def __init__(self, divergences: Divergences, epsilons: int, gap: Gap) -> None:
        self.divergences, self.gap = divergences, gap
        self.found: Floats = np.zeros(epsilons)
        self.aim: Floats = np.zeros(epsilons)
        """What the ceilings lie above: the points known, until one is found above its ceiling."""
        self.point: Floats = np.zeros(epsilons)
        """The largest upper bounds of a point."""
        self.rest: Floats = np.zeros(epsilons)
        """The largest bounds of the cells that were left as they are."""
        self.cells = 0

    def evaluate_point(self, point: Cell, places: Places) -> Floats:
        """The upper bounds of one point, whose divergences may raise what is known."""
        lower, upper = self.divergences(point, places)
        self.found[places] = np.maximum(self.found[places], lower)
        self.aim = np.where(self.found > self.ceiling(), self.found, self.aim)
        self.point[places] = np.maximum(self.point[places], upper)
        return upper

    def ceiling(self) -> Floats:
        """What is to be proved."""
        return self.gap.ceilings(self.aim)

    def bound_cell(self, cell: Cell, places: Places) -> Floats:
        """The bounds of a cell; a cell of one is looked at and then never above the ceiling."""
        self.cells += 1
        if self.cells > _MOST_CELLS:
            raise AccountingError(f"worst case: no end after {_MOST_CELLS} cells")
        if _is_point(cell):
            return self.evaluate_point(cell, places)
        return self.divergences(cell, places).upper

    def halve(
        self, domain: Cell, places: Places, feasible: Callable[[Cell], bool], most: int
    ) -> None:
        """Cuts cells in two, the worst first, until all are below the ceiling or there are many.

        Where the divergence is almost flat no cell can be distinguished from the next; then the
        worst bound that is left is what is proved.
        """
        cells: list[tuple[float, int, _BoundedCell]] = []
        order = count()

        def keep(cell: Cell, places: Places) -> None:
            bounds = self.bound_cell(cell, places)
            ceiling = self.ceiling()[places]
            above = bounds > ceiling
            if above.any() and not _is_point(cell):
                excess = float((bounds[above] / ceiling[above]).max())
                kept = _BoundedCell(cell, places[above], bounds[above])
                heapq.heappush(cells, (-excess, next(order), kept))

        keep(domain, places)
        while cells and self.cells <= most:
            cell, places, bounds = heapq.heappop(cells)[-1]
            ceiling = self.ceiling()[places]
            above = bounds > ceiling
            if not above.any():
                continue
            corner, near = next(_corners(cell)), above & (bounds <= ceiling * (1.0 + _NEAR))
            if near.any() and feasible(corner):
                self.evaluate_point(corner, places[near])
            for half in filter(feasible, _halves(cell)):
                keep(half, places[above])
        for _, _, (_, places, bounds) in cells:
            self.rest[places] = np.maximum(self.rest[places], bounds)


def _is_point(cell: Cell) -> bool:
    return all(low == high for low, high in cell)


def _corners(cell: Cell) -> Iterator[Cell]:
    """The lowest and the highest point."""
    yield tuple((low, low) for low, _ in cell)
    yield tuple((high, high) for _, high in cell)


def _halves(cell: Cell) -> Iterator[Cell]:
    """The cell cut in two across its longest side."""
    side = max(range(len(cell)), key=lambda i: cell[i][1] - cell[i][0])
    low, high = cell[side]
    middle = (low + high) // 2
    for part in ((low, middle), (middle + 1, high)):
        yield (*cell[:side], part, *cell[side + 1 :])
