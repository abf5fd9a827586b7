"""Fakes drawn by coins: the number that arrives, and delta averaged over this number.

Every honest device sends w certain fakes and one more with probability phi. S honest devices
therefore send K = S w + Bin(S, phi) fakes, whatever their values are. An observer who learns K, or
even the number that each device sent, learns nothing about a value. Given K the divergence is
delta(K). So the exact divergence of the messages and K jointly is

    delta = E[delta(K)].

More fakes never increase delta. So over a cell of values of K, delta(K) at the least K is an upper
bound and delta(K) at the largest K is a lower bound. The binomial distribution is cut into few
cells, and the cell with the largest gap is halved until both bounds are close. The probability
outside the window is added. ``plans.honest_part`` uses this module.
"""

import heapq
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from mixtally.accounting.numerics.bracket import Bracket, join_ends
from mixtally.errors import AccountingError
from mixtally.primitives import tails
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.tails import Floats

_NEARLY_ONE = 1.0 - 2.0**-53
_SLACK = 1.0 + 1e-10
"""Factor that covers the rounding of every probability and of sums of probabilities."""
_GAP = 2e-3
"""Relative distance of the bounds of an average at which halving stops."""
_MAX_EVALUATIONS = 600
"""Largest number of values of delta(K) that one average may take."""
_FIRST_CELLS = 1.0
"""Cells per standard deviation when the halving starts."""
_SIMILAR_SHARE = 0.02
"""If coins change K by at most this share of all fakes, one cell covers all values of K."""
_SKIPPED_SHARE = 1e-4
"""Share of an average that the remaining cells may add without being examined."""
FEW_CELLS, _FEW_ABOVE = 1.5, 2.0
"""Cells per standard deviation for compositions, and how many standard deviations above the mean
they reach.
"""


class Cell(NamedTuple):
    """The event that the number of fakes K is in [least, most].

    ``chance`` is an upper bound of its probability.
    """

    least: int
    most: int
    chance: float


class Fakes:
    """The number of fakes of ``people`` honest devices.

    Each sends ``whole`` fakes and one more with probability phi = ``coin`` / 2^64. Raises
    AccountingError if the computed probabilities do not sum to one.
    """

    def __init__(self, people: int, whole: int, coin: int) -> None:
        self.people, self.coin = people, coin
        self.certain = people * whole
        self._phi = coin / SCALE
        self._often = 2 * coin > SCALE
        """Whether devices without the additional fake are counted: the rarer outcome keeps all
        digits.
        """
        self._rarer = (SCALE - coin if self._often else coin) / SCALE
        low, high = tails.window(people, self._rarer) if coin else (0, 0)
        self._low, self._high = (people - high, people - low) if self._often else (low, high)

    @property
    def binomial(self) -> tuple[int, float]:
        """The number of people who toss a coin, and the probability that it adds a fake.

        The probability is rounded below 1, so that fewer fakes arrive.
        """
        return self.people, min(self._phi, _NEARLY_ONE)

    @cached_property
    def _pmf(self) -> Floats:
        """Return the probabilities of the number of additional fakes in the window."""
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
        """Return the cell in which ``first`` to ``last`` coins add a fake, inside the window."""
        chance = float(self._pmf[first - self._low : last - self._low + 1].sum()) * _SLACK
        if last == self._high:  # this cell includes all numbers above the window
            return Cell(self.certain + first, self.certain + self.people, chance + tails.CUT_TAIL)
        return Cell(self.certain + first, self.certain + last, chance)

    def cells(self, grain: float) -> tuple[Cell, ...]:
        """Return all values of K in about ``grain`` cells per standard deviation, ascending."""
        if not self.coin:
            return (Cell(self.certain, self.certain, 1.0),)
        return self._cut(self._low, self._high, grain)

    def few_cells(self, negligible: float, grain: float = FEW_CELLS) -> tuple[Cell, ...]:
        """Return all values of K in about twenty cells, for compositions.

        Compositions need delta at many epsilons, so they use few cells: about ``grain`` cells per
        standard deviation. The smallest values, with a probability of ``negligible`` in total, are
        one cell. The values far above the mean, where delta is small, are another cell. All other
        values are one cell if they differ by little.
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
        """Return the cells in which ``first`` to ``last`` coins add a fake, and one cell below."""
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
        """Yield both halves of a cell inside the window."""
        first, last = cell.least - self.certain, min(cell.most - self.certain, self._high)
        middle = (first + last) // 2
        yield self._cell(first, middle)
        yield self._cell(middle + 1, last)

    def can_halve(self, cell: Cell) -> bool:
        """Return whether a cell inside the window has more than one value."""
        first = cell.least - self.certain
        return first >= self._low and min(cell.most - self.certain, self._high) > first

    def average(self, delta: Callable[[int], Bracket], *, one_pair: bool) -> Bracket:
        """Return bounds of the largest E[delta(K)] over all pairs of neighbors.

        ``delta`` bounds the largest divergence over all pairs, given K; it falls as K rises. The
        largest average is at most the average of the largest delta. ``one_pair`` says whether the
        same pair is the worst for all K. If so, the average of the lower bounds is a lower bound.
        If not, the lower bound is derived from the pair that is the worst at some k: fewer fakes do
        not decrease delta of this pair, so its average is at least P(K <= k) delta(k).
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

        # The cell whose bounds differ most, weighted by its probability, is halved first.
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
        # Without one worst pair, only a single k at a time gives a lower bound.
        if one_pair:
            lower = math.fsum(map(operator.mul, chances, lowers))
        else:
            lower = max(map(operator.mul, accumulate(chances), lowers))
        return join_ends(lower * (1.0 - 1e-9), min(1.0, upper))

    @staticmethod
    def _enough(heap: list[tuple[float, Cell]], at: Callable[[int], Bracket]) -> float:
        """Return the total distance of both bounds at which the halving of cells stops."""
        return _GAP * math.fsum(cell.chance * _least(at(cell.most)) for _, cell in heap)

    def average_lower(self, lower: Callable[[int], float]) -> float:
        """Return a lower bound of the largest E[delta(K)] from one evaluation of delta.

        The bound is P(K <= k) delta(k) for a k that K hardly ever exceeds.
        """
        if not self.coin:
            return lower(self.certain)
        top = min(self._high, math.ceil(self.people * self._phi + _FEW_ABOVE * self._spread))
        chance = float(self._pmf[: top + 1 - self._low].sum()) / _SLACK
        return chance * lower(self.certain + top) * (1.0 - 1e-9)

    def average_one_pair(self, lower: Callable[[int], float], negligible: float) -> float:
        """Return a lower bound of E[delta(K)] for a pair that is the same for all K.

        ``lower`` bounds delta(K) from below; ``negligible`` is as in ``few_cells``.
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
        """Return coarse upper bounds of E[delta(K)] at several epsilons.

        ``upper`` bounds delta(K) at these epsilons; ``negligible`` and ``grain`` are as in
        ``few_cells``.
        """
        cells = self.few_cells(negligible, grain)
        tail_chances = list(accumulate(cell.chance for cell in reversed(cells)))
        found, least = np.zeros(1), np.ones(1)
        for cell in cells:
            rest = least * tail_chances.pop()  # bounds this and all later cells, as delta falls
            if cell is cells[0] and len(cells) > 1 and cell.chance <= negligible:
                found = found + cell.chance  # delta is at most 1
                continue
            if np.all(rest <= _SKIPPED_SHARE * found):
                found = found + rest
                break
            least = np.minimum(least, upper(cell.least))
            found = found + cell.chance * least
        return np.minimum(1.0, found)


def _least(bounds: Bracket) -> float:
    """Return the lower bound of the divergence, or the upper bound if there is no lower one."""
    return bounds.lower or bounds.upper
