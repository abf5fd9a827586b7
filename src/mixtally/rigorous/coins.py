"""People's fakes by coins, in balls: delta averaged over how many arrive.

S people send w fakes each and one more with chance phi, so K = S w + Bin(S, phi) whatever their
values are: who is also told K learns nothing of a value, and is one who can do as well as any other
in

    delta = E[delta(K)],

each direction for itself. delta(K) falls as K rises, since another fake can be added to what is
seen without knowing a value. So a run of K's costs at most its chance times delta of its least, at
least that of its most. Runs are halved, the worst first, until both sums are close; outside the
window delta is at most 1, and below it at least nothing.
"""

import heapq
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

from mixtally.rigorous.balls import NOBODY_CARES, Bounds, arb, working
from mixtally.rigorous.binomials import Binomial

_SCALE = 1 << 64
CLOSE = 1e-3
"""Ends of an average this close, relatively, are close enough."""
_MOST_LOOKS = 2000
_ROOM = 20.0
"""Nats by which what is cut lies below the average."""
_LEAST_NATS = 60.0


class Run(NamedTuple):
    """K's from the window's ``first`` to its ``last`` coin, counted from its start."""

    first: int
    last: int


class Coins:
    """The chances of K in a window.

    where
      people   honest devices, S
      whole    fakes that each sends for certain, w
      coin     the chance phi of one more, times 2^64, in [0, 2^64)
    """

    def __init__(self, people: int, whole: int, coin: int, nats: float) -> None:
        binomial = Binomial(people, Fraction(coin, _SCALE))
        low, high = binomial.window(nats)
        self.sure = people * whole
        self.least = self.sure + low
        points = binomial.points(low, high)
        self.last = len(points) - 1
        self._sums = [arb(0)]
        for point in points:
            self._sums.append(self._sums[-1] + point)
        self.below, self.above = binomial.most_below(low - 1), binomial.most_above(high + 1)

    def chance(self, run: Run) -> arb:
        """That K lies in the run."""
        return self._sums[run.last + 1] - self._sums[run.first]


def average(people: int, whole: int, coin: int, delta: Callable[[int], Bounds]) -> Bounds:
    """Bounds of E[delta(K)] for a ``delta`` that falls."""
    sure = people * whole
    if not coin:
        return delta(sure)
    mean = sure + people * coin // _SCALE
    with working():
        small = delta(mean).lower
        nats = _LEAST_NATS
        if small > NOBODY_CARES:
            nats = max(nats, _ROOM - float(small.log()))
        coins = Coins(people, whole, coin, nats)
        known: dict[int, Bounds] = {}

        def at(place: int) -> Bounds:
            if place not in known:
                known[place] = delta(coins.least + place)
            return known[place]

        lower, upper = arb(0), arb(0)
        for run in _runs(coins, at, known):
            chance = coins.chance(run)
            lower += chance * at(run.last).lower
            upper += chance * at(run.first).upper
        upper += coins.above * at(coins.last).upper + coins.below
        return Bounds(lower, upper)


def _runs(coins: Coins, at: Callable[[int], Bounds], known: dict[int, Bounds]) -> list[Run]:
    """The window in runs: the more there are, the more what they cost differs inside."""

    def weighed(run: Run) -> tuple[float, float, Run]:
        """What is open about a run, the most first, and what it costs at least."""
        chance, least = coins.chance(run), at(run.last).lower
        return -float(chance * (at(run.first).upper - least)), float(chance * least), run

    heap = [weighed(Run(0, coins.last))]
    gaps, covered = -heap[0][0], heap[0][1]
    while gaps > max(CLOSE * covered, NOBODY_CARES) and len(known) < _MOST_LOOKS:
        gap, cost, run = heap[0]
        if run.first == run.last:
            break
        heapq.heappop(heap)
        middle = (run.first + run.last) // 2
        gaps, covered = gaps + gap, covered - cost
        for half in map(weighed, (Run(run.first, middle), Run(middle + 1, run.last))):
            heapq.heappush(heap, half)
            gaps, covered = gaps - half[0], covered + half[1]
    return [run for _, _, run in heap]
