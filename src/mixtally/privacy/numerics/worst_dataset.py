"""The largest divergence over all datasets of a kind, proved cell by cell.

A dataset is a point with integer coordinates; a cell is a box of them. Records that differ inside
the cell are dropped, which never helps the person: the divergence of what all points of the cell
share bounds every one of them.

The largest divergence known, raised by 0.2 %, is the ceiling. Cells are cut in two until every
point is in one whose bound is below the ceiling, so that the ceiling is proved and moves as
smoothly with the parameters as the divergence known.
"""

import heapq
from collections.abc import Callable, Iterable, Iterator

from mixtally.errors import AccountingError
from mixtally.privacy.numerics.bracket import Bracket

Cell = tuple[tuple[int, int], ...]
"""For every coordinate the least and the greatest value, both included."""

NEGLIGIBLE = 1e-18
"""A gap far below the least delta that is promised."""
_GAP = 2e-3
_NEAR = 1e-2
_MOST_HALVED = 3000
_MOST_CELLS = 100_000


def worst(
    divergence: Callable[[Cell], Bracket],
    domain: Cell,
    negligible: float,
    feasible: Callable[[Cell], bool] = lambda _: True,
    known: Iterable[Cell] = (),
) -> Bracket:
    """Both bounds of the largest divergence of a point of ``domain``.

    where
      divergence   the divergence of what the points of a cell share; of the point itself for a
                   cell of one
      negligible   an absolute gap that is good enough
      feasible     whether a cell holds any dataset at all
      known        points where the largest divergence may be

    The bounds are within 0.2 % or ``negligible`` of each other, or as far as those of a point are.
    """
    search = _Search(divergence, negligible)
    for point in (*_corners(domain), *known):
        if feasible(point):
            search.look(point)
    search.aim = search.found
    bound = divergence(domain).upper
    if bound <= search.ceiling() or _is_point(domain):
        return Bracket(min(search.found, bound), bound)
    search.halve(domain, feasible)
    return Bracket(search.found, min(1.0, max(search.ceiling(), search.point, search.rest)))


def ceiling(found: float, negligible: float) -> float:
    """What is tried to be proved first when ``found`` is the largest divergence known."""
    return max(found * (1.0 + _GAP), found + negligible)


class _Search:
    """The largest divergence found so far, and the means to prove that none is much larger."""

    def __init__(self, divergence: Callable[[Cell], Bracket], negligible: float) -> None:
        self.divergence, self.negligible = divergence, negligible
        self.found = 0.0
        self.aim = 0.0
        """What the ceiling lies above: the points known, until one is found above the ceiling."""
        self.point = 0.0
        """The largest upper bound of a point."""
        self.rest = 0.0
        """The largest bound of a cell that was left as it is."""
        self.cells = 0

    def look(self, point: Cell) -> Bracket:
        """The divergence of one point, which may raise what is known."""
        bounds = self.divergence(point)
        self.found = max(self.found, bounds.lower)
        if self.found > self.ceiling():
            self.aim = self.found
        self.point = max(self.point, bounds.upper)
        return bounds

    def ceiling(self) -> float:
        """What is to be proved."""
        return ceiling(self.aim, self.negligible)

    def bound(self, cell: Cell) -> float:
        """The bound of a cell; a cell of one is looked at and then never above the ceiling."""
        self.cells += 1
        if self.cells > _MOST_CELLS:
            raise AccountingError(f"worst case: no end after {_MOST_CELLS} cells")
        return (self.look(cell) if _is_point(cell) else self.divergence(cell)).upper

    def halve(self, domain: Cell, feasible: Callable[[Cell], bool]) -> None:
        """Cuts cells in two, the worst first, until all are below the ceiling or there are many.

        Where the divergence is almost flat no cell can be distinguished from the next; then the
        worst bound that is left is what is proved.
        """
        cells = [(-self.bound(domain), domain)]
        while cells and self.cells <= _MOST_HALVED:
            bound, cell = -cells[0][0], cells[0][1]
            if bound <= self.ceiling():
                return
            heapq.heappop(cells)
            if _is_point(cell):
                continue
            corner = next(_corners(cell))
            if bound <= self.ceiling() * (1.0 + _NEAR) and feasible(corner):
                self.look(corner)
            for half in filter(feasible, _halves(cell)):
                heapq.heappush(cells, (-self.bound(half), half))
        self.rest = -cells[0][0] if cells else 0.0


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
