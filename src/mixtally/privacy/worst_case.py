"""The largest divergence over all datasets of a kind, proved by branch and bound.

A dataset is a point with whole coordinates; a cell is a box of them. Records that differ inside the
cell are dropped, which never helps the person: the divergence of what all points of the cell share
bounds every one of them.
"""

import heapq
from collections.abc import Callable, Iterator

from mixtally.errors import AccountingError
from mixtally.privacy.bracket import Bracket

Cell = tuple[tuple[int, int], ...]
"""For every coordinate the least and the greatest value, both included."""

NEGLIGIBLE = 1e-18
"""A gap far below the least delta that is promised."""
_GAP = 2e-3
_MOST_CELLS = 20_000


def worst(
    price: Callable[[Cell], Bracket],
    whole: Cell,
    negligible: float,
    feasible: Callable[[Cell], bool] = lambda _: True,
) -> Bracket:
    """Both ends of the largest divergence of a point of ``whole``.

    where
      price        the divergence of what the points of a cell share; of the point itself for a
                   cell of one
      negligible   an absolute gap that is good enough
      feasible     whether a cell holds any dataset at all, judged by its lowest point

    Refines the worst cell until the ends are within 0.2 % or ``negligible`` of each other.
    """

    def best(cell: Cell) -> float:
        return max((price(c).lower for c in _corners(cell) if feasible(c)), default=0.0)

    found = best(whole)
    cells = [(-price(whole).upper, whole)]
    for _ in range(_MOST_CELLS):
        bound, cell = -cells[0][0], cells[0][1]
        if bound <= max(found * (1.0 + _GAP), found + negligible) or _is_point(cell):
            return Bracket(min(found, bound), bound)
        heapq.heappop(cells)
        for half in filter(feasible, _halves(cell)):
            found = max(found, best(half))
            heapq.heappush(cells, (-price(half).upper, half))
    raise AccountingError(f"worst case: no end after {_MOST_CELLS} cells")


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
