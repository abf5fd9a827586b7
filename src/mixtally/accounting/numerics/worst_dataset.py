"""The largest divergence over all datasets of a family, proved cell by cell (branch and bound).

A dataset is a point with integer coordinates, such as the number of people in each of two bins; a
cell is a box of such points. ``one_hot`` uses this module. The records in which the datasets of a
cell differ are dropped. Dropping records of other people never lowers the divergence. So the
divergence of the records that all points of the cell share bounds the divergence of every point.

The *ceiling* is the largest divergence found, raised by the tolerated gap; there is one for each
epsilon. Cells are halved until every point is in a cell whose bound is below the ceiling, which
proves the ceiling. The ceiling is as smooth a function of the parameters as the largest divergence
found, and a search for the least noise needs a smooth function.

The expensive step is the distribution of a cell, which all epsilons that still need it share.
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
"""Least and greatest value of every coordinate, both included."""
Places = NDArray[np.int64]
"""Ascending indices into all epsilons."""
Divergences = Callable[[Cell, Places], BoundArrays]
"""Bounds for the records shared by the points of a cell, at some of the epsilons."""

_NEAR = 1e-2
"""Relative excess over the ceiling below which a corner of the cell is evaluated too."""
MOST_HALVED = 3000
"""Number of cells after which the proof stops at the bounds reached."""
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
    """Return both bounds of the largest divergence of a point of ``domain``, for each epsilon.

    ``gap`` is the tolerated distance of the bounds, in addition to the distance of the bounds of a
    single point. For several epsilons, whose curve is to be composed, the gap is widened.
    ``feasible`` says whether a cell contains a dataset. ``known`` are points at which the
    divergence may be the largest; they are evaluated first. After ``most_halved`` halved cells the
    search ends, and the distance may be larger than the gap. ``of_all`` is an upper bound for the
    whole domain, if one is known.
    """
    search, every = _Search(divergences, len(epsilons), gap), np.arange(len(epsilons))
    for point in (*_corners(domain), *known):
        if feasible(point):
            search.evaluate_point(point, every)
    search.gap = gap.widen_for_curve(epsilons, search.found)
    search.aim = search.found.copy()
    whole = (divergences(domain, every).upper if of_all is None else of_all).copy()
    undecided = np.flatnonzero(whole > search.ceiling())
    if len(undecided) and not _is_point(domain):
        search.halve(domain, undecided, feasible, most_halved)
        proved = np.maximum(np.maximum(search.ceiling(), search.point), search.rest)
        whole[undecided] = np.minimum(whole, proved)[undecided]
    return BoundArrays(np.minimum(search.found, whole), whole)


class _BoundedCell(NamedTuple):
    """A cell whose bounds are still above the ceiling at some epsilons.

    ``places`` are the indices of these epsilons, and ``bounds`` the upper bounds of the cell there.
    """

    cell: Cell
    places: Places
    bounds: Floats


class _Search:
    """The largest divergences found, and the proof that none is much larger."""

    def __init__(self, divergences: Divergences, epsilons: int, gap: Gap) -> None:
        self.divergences, self.gap = divergences, gap
        self.found: Floats = np.zeros(epsilons)
        self.aim: Floats = np.zeros(epsilons)
        """Divergences that the ceilings are computed from; raised only if a point exceeds its
        ceiling.
        """
        self.point: Floats = np.zeros(epsilons)
        """Largest upper bounds of single points."""
        self.rest: Floats = np.zeros(epsilons)
        """Largest bounds of the cells that were not halved further."""
        self.cells = 0

    def evaluate_point(self, point: Cell, places: Places) -> Floats:
        """Return the upper bounds of one point, and update the largest divergences found."""
        lower, upper = self.divergences(point, places)
        self.found[places] = np.maximum(self.found[places], lower)
        self.aim = np.where(self.found > self.ceiling(), self.found, self.aim)
        self.point[places] = np.maximum(self.point[places], upper)
        return upper

    def ceiling(self) -> Floats:
        """Return the bounds to be proved."""
        return self.gap.ceilings(self.aim)

    def bound_cell(self, cell: Cell, places: Places) -> Floats:
        """Return upper bounds of the divergence over a cell, one for each epsilon.

        If the cell is a single point, its exact divergence may also raise the ceiling.
        """
        self.cells += 1
        if self.cells > _MOST_CELLS:
            raise AccountingError(f"worst case: expected a proof of at most {_MOST_CELLS} cells")
        if _is_point(cell):
            return self.evaluate_point(cell, places)
        return self.divergences(cell, places).upper

    def halve(
        self, domain: Cell, places: Places, feasible: Callable[[Cell], bool], most: int
    ) -> None:
        """Halve cells, the worst first, until all are below the ceiling or there are too many.

        Where the divergence is almost constant, neighboring cells have equal bounds and halving
        does not end. Then the largest remaining bound is proved.
        """
        cells: list[tuple[float, int, _BoundedCell]] = []
        # A serial number breaks ties, because arrays cannot be compared in the heap.
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
            # If a bound is slightly above the ceiling, its corner may be the worst dataset.
            # Evaluating the corner can raise the ceiling, which saves many halvings.
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
    """Yield the lowest and the highest point."""
    yield tuple((low, low) for low, _ in cell)
    yield tuple((high, high) for _, high in cell)


def _halves(cell: Cell) -> Iterator[Cell]:
    """Yield both halves of the cell, cut across its longest side."""
    side = max(range(len(cell)), key=lambda i: cell[i][1] - cell[i][0])
    low, high = cell[side]
    middle = (low + high) // 2
    for part in ((low, middle), (middle + 1, high)):
        yield (*cell[:side], part, *cell[side + 1 :])
