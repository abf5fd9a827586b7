"""Fakes by coins, and replaced values of others, in balls: delta averaged over how many arrive.

S people send w fakes each and one more with chance phi, so K = S w + Bin(S, phi) whatever their
values are. An observer who is told K learns nothing of a value by it, so that in either direction

    delta = E[delta(K)].

Where others' values are replaced by uniform ones, a second binomial is added to K. delta(K) falls
as K rises, since another fake can be added to what is seen without knowing a value. So a run of K's
costs at most its chance times delta of its least, at least that of its most. Runs are halved, the
worst first, until both sums are close; outside the window delta is at most 1, and at least nothing.
"""

import heapq
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from mixtally.accounting.verification.balls import (
    NEGLIGIBLE_DELTA,
    Bounds,
    arb,
    arb_poly,
    working_precision,
)
from mixtally.accounting.verification.binomials import Binomial

CLOSE = 1e-3
"""Ends of an average this close, relatively, are close enough."""
_MAX_EVALUATIONS = 2000
_ROOM = 20.0
"""Nats by which what is cut lies below the average."""
_LEAST_NATS = 70.0


class Run(NamedTuple):
    """K's from the window's ``first`` to its ``last`` coin, counted from its start."""

    first: int
    last: int


class Coins:
    """The chances of K in a window.

    where
      sure   fakes that are sent for certain
      laws   those that chance brings, independent
    """

    def __init__(self, sure: int, laws: Sequence[Binomial], nats: float) -> None:
        self.least, self.outside = sure, arb(0)
        chances = arb_poly([1])
        for law in laws:
            low, high = law.window(nats)
            self.least += low
            self.outside += law.lower_tail_bound(low - 1) + law.upper_tail_bound(high + 1)
            chances *= arb_poly(law.points(low, high))
        self._sums = [arb(0)]
        for point in chances.coeffs():
            self._sums.append(self._sums[-1] + point)
        self.last = len(self._sums) - 2

    def chance(self, run: Run) -> arb:
        """That K lies in the run."""
        return self._sums[run.last + 1] - self._sums[run.first]


def average(sure: int, laws: Sequence[Binomial], delta: Callable[[int], Bounds]) -> Bounds:
    """Bounds of E[delta(K)] for a ``delta`` that falls; ``sure`` and ``laws`` as of ``Coins``."""
    if not laws:
        return delta(sure)
    mean = sure + sum(math.floor(law.trials * law.chance) for law in laws)
    with working_precision():
        small = delta(mean).lower
        nats = _LEAST_NATS
        if small > NEGLIGIBLE_DELTA:
            nats = max(nats, _ROOM - float(small.log()))
        coins = Coins(sure, laws, nats)
        known: dict[int, Bounds] = {}

        def at(place: int) -> Bounds:
            if place not in known:
                known[place] = delta(coins.least + place)
            return known[place]

        lower, upper = arb(0), coins.outside
        for run in _runs(coins, at, known):
            chance = coins.chance(run)
            lower += chance * at(run.last).lower
            upper += chance * at(run.first).upper
        return Bounds(lower, upper)


def _runs(coins: Coins, at: Callable[[int], Bounds], known: dict[int, Bounds]) -> list[Run]:
    """The window in runs: the more there are, the more what they cost differs inside."""

    def weigh_run(run: Run) -> tuple[float, float, Run]:
        """What is open about a run, the most first, and what it costs at least."""
        chance, least = coins.chance(run), at(run.last).lower
        return -float(chance * (at(run.first).upper - least)), float(chance * least), run

    heap = [weigh_run(Run(0, coins.last))]
    while len(known) < _MAX_EVALUATIONS:
        gaps = -math.fsum(gap for gap, _, _ in heap)
        covered = math.fsum(cost for _, cost, _ in heap)
        if gaps <= max(CLOSE * covered, NEGLIGIBLE_DELTA) or (run := heap[0][2]).first == run.last:
            break
        middle = (run.first + run.last) // 2
        heapq.heapreplace(heap, weigh_run(Run(run.first, middle)))
        heapq.heappush(heap, weigh_run(Run(middle + 1, run.last)))
    return [run for _, _, run in heap]
