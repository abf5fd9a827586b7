"""Delta averaged over a random number of fakes, in balls.

``derive`` uses this module. S people send w fakes each and one more with probability phi, so K = S
w + Bin(S, phi), whatever their values are. An observer who also learns K learns nothing about a
value, so for either order of the neighbors

    delta = E[delta(K)].

If the values of others are replaced by uniform ones, a second binomial number is added to K.
delta(K) falls as K rises, because one more fake is post-processing. So a run of values of K
contributes at most its probability times delta of its least K, and at least that times delta of its
largest K. The run with the largest gap is halved until both sums are close. Outside the window
delta is between 0 and 1.
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
"""Relative distance of the ends of an average at which halving stops."""
_MAX_EVALUATIONS = 2000
_ROOM = 20.0
"""Nats by which the probability outside the window lies below the average."""
_LEAST_NATS = 70.0


class Run(NamedTuple):
    """The values of K from the ``first`` to the ``last`` place of the window."""

    first: int
    last: int


class Coins:
    """The probabilities of K in a window.

    ``certain`` fakes surely arrive, and ``laws`` are the independent random numbers that are added.
    """

    def __init__(self, certain: int, laws: Sequence[Binomial], nats: float) -> None:
        self.least, self.outside = certain, arb(0)
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
        """Return the probability that K is in the run."""
        return self._sums[run.last + 1] - self._sums[run.first]


def average(
    certain: int,
    laws: Sequence[Binomial],
    delta: Callable[[int], Bounds],
    evaluations: int = _MAX_EVALUATIONS,
) -> Bounds:
    """Return bounds of E[delta(K)] for a falling ``delta`` and the random number of fakes K.

    ``certain`` and ``laws`` are those of ``Coins``. Halving stops when the ends are close, or after
    ``evaluations`` evaluations of ``delta``.
    """
    if not laws:
        return delta(certain)
    mean = certain + sum(math.floor(law.trials * law.chance) for law in laws)
    with working_precision():
        small = delta(mean).lower
        # The window is so wide that what it cuts is negligible compared with the average.
        nats = _LEAST_NATS
        if small > NEGLIGIBLE_DELTA:
            nats = max(nats, _ROOM - float(small.log()))
        coins = Coins(certain, laws, nats)
        known: dict[int, Bounds] = {}

        def at(place: int) -> Bounds:
            if place not in known:
                known[place] = delta(coins.least + place)
            return known[place]

        lower, upper = arb(0), coins.outside
        for run in _runs(coins, at, known, evaluations):
            chance = coins.chance(run)
            lower += chance * at(run.last).lower
            upper += chance * at(run.first).upper
        return Bounds(lower, upper)


def _runs(
    coins: Coins, at: Callable[[int], Bounds], known: dict[int, Bounds], evaluations: int
) -> list[Run]:
    """Return the window in runs, with more runs where delta changes more."""

    def weigh_run(run: Run) -> tuple[float, float, Run]:
        """Return minus the gap of a run, its least contribution, and the run."""
        chance, least = coins.chance(run), at(run.last).lower
        return -float(chance * (at(run.first).upper - least)), float(chance * least), run

    heap = [weigh_run(Run(0, coins.last))]
    while len(known) < evaluations:
        gaps = -math.fsum(gap for gap, _, _ in heap)
        covered = math.fsum(cost for _, cost, _ in heap)
        if gaps <= max(CLOSE * covered, NEGLIGIBLE_DELTA) or (run := heap[0][2]).first == run.last:
            break
        middle = (run.first + run.last) // 2
        heapq.heapreplace(heap, weigh_run(Run(run.first, middle)))
        heapq.heappush(heap, weigh_run(Run(middle + 1, run.last)))
    return [run for _, _, run in heap]
