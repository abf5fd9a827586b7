"""People's fakes by coins: how many arrive, and the divergence averaged over that.

Every honest device sends w whole fakes and one more with probability phi, so S of them send
K = S w + Bin(S, phi), whatever their values are. Whoever learns K, or which device sent how many,
learns nothing of a value, and given K the divergence is delta(K). So what an observer of messages
and K together can do is exactly

    delta = E[delta(K)].

More fakes never hurt, so delta(K) at a cell's least K bounds all of the cell from above, at its
most from below. The binomial is cut into few cells, the coarsest halved until the bounds are close;
what lies outside is added.
"""

import heapq
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from mixtally.accounting.numerics.bracket import Bracket
from mixtally.errors import AccountingError
from mixtally.primitives import tails
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.tails import Floats

_NEARLY_ONE = 1.0 - 2.0**-53
_SLACK = 1.0 + 1e-10
"""Above the error of every probability and of their sums."""
_GAP = 2e-3
"""Bounds of an average this close, relatively, are close enough."""
_MAX_EVALUATIONS = 600
_FIRST_CELLS = 1.0
"""A standard deviation, when the halving starts."""
_SIMILAR_SHARE = 0.02
"""Of all fakes: coins bring so few more or less that this is not looked at."""
_SKIPPED_SHARE = 1e-4
"""Of an average, what cells may add that are not looked at."""
FEW_CELLS, _FEW_ABOVE = 1.5, 2.0
"""A standard deviation, and up to so many above the mean, where many messages are composed."""


class Cell(NamedTuple):
    """K in [least, most] with a probability of at most ``chance``."""

    least: int
    most: int
    chance: float


class Fakes:
    """How many fakes of honest people arrive.

    where
      people   honest devices, S
      whole    fakes that each sends for certain
      coin     the chance phi of one more, times 2^64, in [0, 2^64)

    Raises AccountingError when the chances cannot be right.
    """

    def __init__(self, people: int, whole: int, coin: int) -> None:
        self.people, self.coin = people, coin
        self.certain = people * whole
        self._phi = coin / SCALE
        self._often = 2 * coin > SCALE
        """Whether devices without one more are counted: the rarer of the two, to all digits."""
        self._rarer = (SCALE - coin if self._often else coin) / SCALE
        low, high = tails.window(people, self._rarer) if coin else (0, 0)
        self._low, self._high = (people - high, people - low) if self._often else (low, high)

    @property
    def binomial(self) -> tuple[int, float]:
        """People who draw one more with a chance, and this chance, below 1: then fewer arrive."""
        return self.people, min(self._phi, _NEARLY_ONE)

    @cached_property
    def _pmf(self) -> Floats:
        low, high = self._low, self._high
        if self._often:
            low, high = self.people - high, self.people - low
        found = tails.pmf(self.people, self._rarer, low, high)
        found = found[::-1] if self._often else found
        total = float(found.sum())
        if not abs(total - 1.0) <= 1e-10 or found.min() < 0.0:
            raise AccountingError(
                f"coins: expected chances that add up to one, got {total} for {self.people:,} "
                f"people "
                f"and a coin of {self._phi:.3g}; nothing may be promised from them"
            )
        return found

    def _cell(self, first: int, last: int) -> Cell:
        """Of ``first``..``last`` coins that show a fake, inside the window."""
        chance = float(self._pmf[first - self._low : last - self._low + 1].sum()) * _SLACK
        if last == self._high:  # and all that lie above
            return Cell(self.certain + first, self.certain + self.people, chance + tails.CUT_TAIL)
        return Cell(self.certain + first, self.certain + last, chance)

    def cells(self, grain: float) -> tuple[Cell, ...]:
        """All values of K in about ``grain`` cells a standard deviation, the fewest fakes first."""
        if not self.coin:
            return (Cell(self.certain, self.certain, 1.0),)
        return self._cut(self._low, self._high, grain)

    def few_cells(self, negligible: float, grain: float = FEW_CELLS) -> tuple[Cell, ...]:
        """All values of K in some twenty cells: for compositions, which ask often.

        There are ``grain`` of them a standard deviation.

        Values below all but ``negligible`` of the chance are one cell, and so are those far above
        the mean, which reveal little, or all others, where they are nearly alike.
        """
        if not self.coin:
            return (Cell(self.certain, self.certain, 1.0),)
        below = int(np.searchsorted(np.cumsum(self._pmf), negligible))
        first, mean = self._low + below, self.people * self._phi
        if mean - first <= _SIMILAR_SHARE * (self.certain + first):
            return self._cut(first, self._high, 0.0)
        top = math.ceil(mean + _FEW_ABOVE * self._spread)
        last = min(self._high, max(first, top))
        found = self._cut(first, last, grain)
        if last < self._high:
            above = float(self._pmf[last + 1 - self._low :].sum()) * _SLACK + tails.CUT_TAIL
            found += (Cell(self.certain + last + 1, self.certain + self.people, above),)
        return found

    def _cut(self, first: int, last: int, grain: float) -> tuple[Cell, ...]:
        """``first``..``last`` in cells, and everything below in one."""
        step = max(1, math.floor(self._spread / grain)) if grain else last - first + 1
        starts = range(first, last + 1, step)
        found = tuple(self._cell(start, min(start + step - 1, last)) for start in starts)
        if first == 0:
            return found
        below = float(self._pmf[: first - self._low].sum()) * _SLACK + tails.CUT_TAIL
        return (Cell(self.certain, self.certain + first - 1, below), *found)

    @property
    def _spread(self) -> float:
        return math.sqrt(self.people * self._phi * (1.0 - self._phi))

    def halves(self, cell: Cell) -> Iterator[Cell]:
        """A cell inside the window cut in two."""
        first, last = cell.least - self.certain, min(cell.most - self.certain, self._high)
        middle = (first + last) // 2
        yield self._cell(first, middle)
        yield self._cell(middle + 1, last)

    def can_halve(self, cell: Cell) -> bool:
        """Whether a cell inside the window has more than one value."""
        first = cell.least - self.certain
        return first >= self._low and min(cell.most - self.certain, self._high) > first

    def average(self, delta: Callable[[int], Bracket], *, one_pair: bool) -> Bracket:
        """Bounds of the largest E[delta(K)] of any two worlds; the divergence falls as K rises.

        where
          delta      the largest divergence of any two worlds, given K
          one_pair   whether these two are the same for all K, as far as the divergence goes

        The largest average is at most the average of the largest, and where two worlds that are
        worst at some k stay the same at fewer fakes, at least P(K <= k) delta(k).
        """
        if not self.coin:
            return delta(self.certain)
        known: dict[int, Bracket] = {}

        def at(fakes: int) -> Bracket:
            if fakes not in known:
                known[fakes] = delta(fakes)
            return known[fakes]

        def gap(cell: Cell) -> float:
            return cell.chance * (at(cell.least).upper - _least(at(cell.most)))

        heap = [(-gap(cell), cell) for cell in self.cells(_FIRST_CELLS)]
        heapq.heapify(heap)
        done: list[Cell] = []
        open_gap, enough = -sum(one for one, _ in heap), self._enough(heap, at)
        while heap and open_gap > enough and len(known) < _MAX_EVALUATIONS:
            worst, cell = heapq.heappop(heap)
            open_gap += worst
            if not self.can_halve(cell):
                done.append(cell)
                continue
            for half in self.halves(cell):
                heapq.heappush(heap, (-gap(half), half))
                open_gap += gap(half)
        every = [*done, *(cell for _, cell in heap)]
        upper = math.fsum(cell.chance * at(cell.least).upper for cell in every)
        chances = [cell.chance / _SLACK for cell in sorted(every)]
        lowers = [at(cell.most).lower for cell in sorted(every)]
        if one_pair:
            lower = math.fsum(map(operator.mul, chances, lowers))
        else:
            lower = max(map(operator.mul, accumulate(chances), lowers))
        return Bracket(min(lower * (1.0 - 1e-9), upper), min(1.0, upper))

    @staticmethod
    def _enough(heap: list[tuple[float, Cell]], at: Callable[[int], Bracket]) -> float:
        return _GAP * math.fsum(cell.chance * _least(at(cell.most)) for _, cell in heap)

    def average_lower(self, lower: Callable[[int], float]) -> float:
        """A lower bound of the largest E[delta(K)], from one look: P(K <= k) delta(k) for a k above
        which K hardly ever is.
        """
        if not self.coin:
            return lower(self.certain)
        top = min(self._high, math.ceil(self.people * self._phi + _FEW_ABOVE * self._spread))
        chance = float(self._pmf[: top + 1 - self._low].sum()) / _SLACK
        return chance * lower(self.certain + top) * (1.0 - 1e-9)

    def average_one_pair(self, lower: Callable[[int], float], negligible: float) -> float:
        """A lower bound of E[delta(K)] of two worlds that are the same for all K, from those of
        delta(K); ``negligible`` as ``few_cells`` has it.
        """
        cells = self.few_cells(negligible)
        least = math.fsum(cell.chance / _SLACK * lower(cell.most) for cell in cells)
        return max(0.0, least * (1.0 - 1e-9) - 2.0 * tails.CUT_TAIL)

    def average_upper(
        self,
        upper: Callable[[int], Sequence[float]],
        negligible: float,
        grain: float = FEW_CELLS,
    ) -> Floats:
        """Upper bounds of E[delta(K)] at several epsilons, coarse, where ``upper`` gives those of
        delta(K); ``negligible`` and ``grain`` as ``few_cells`` has them.
        """
        cells = self.few_cells(negligible, grain)
        left = list(accumulate(cell.chance for cell in reversed(cells)))
        found, least = np.zeros(1), np.ones(1)
        for cell in cells:
            rest = least * left.pop()  # of this cell and those after it: more fakes never hurt
            if cell is cells[0] and len(cells) > 1 and cell.chance <= negligible:
                found = found + cell.chance  # as if nothing were hidden
                continue
            if np.all(rest <= _SKIPPED_SHARE * found):
                found = found + rest
                break
            least = np.minimum(least, upper(cell.least))
            found = found + cell.chance * least
        return np.minimum(1.0, found)


def _least(bounds: Bracket) -> float:
    """What a cell may come down to: where no lower bound is known, to its upper one."""
    return bounds.lower or bounds.upper
