"""Replaced values of two bins in the worst crowd, from the definition, in balls.

A person's message is 1 with chance h for one value and l < h for the other. Of n - 1 other people m
hold the former, and F fakes are fair coins. The number of ones among all others is

    X = Bin(m, h) + Bin(n-1-m, l) + Bin(F, 1/2),

so that either direction of the divergence is sum_k (P(k) - e^eps Q(k))_+ with P, Q the laws of X
plus a bit of chance h or l. Delta is the largest over m, since for a fixed set of outcomes the
difference is affine in the chance of every other person, and in those of the person.

*Cells.* Let m lie in [a, b]. Whoever is told the messages of all but a people at h, n-1-b people at
l and the fakes sees no less. Of the b - a people left over, each message is drawn with the share
w = l + 1 - h from a law that no value decides (a one with l / w); at least s of them are, but for a
chance that is added, and these are kept. So one law bounds all m of a cell. Cells are halved, the
worst first, until all are below the largest divergence of a single m, and a little more.

With l = 1 - h, exchanging the two outputs turns m into n-1-m and exchanges the directions: half of
all m are looked at.

What a window cuts is at most its chance: (P - e^eps Q)_+ <= P above, and e^eps times as much below.

Source: docs/explanation/accounting.md, "kary-response".
"""

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from mixtally.accounting.verification.balls import (
    NEGLIGIBLE_DELTA,
    NOTHING,
    Bounds,
    arb,
    arb_poly,
    exact_ball,
)
from mixtally.accounting.verification.binomials import Binomial

_NATS = 80.0
_NEAR = Fraction(8, 1000)
"""How far above the largest divergence of one m the bound of all cells may end."""
_FIRST, _FINEST = 8, 128
"""So many points say where the worst m may be, on both sides of which halves are tried."""
_MOST_CELLS = 3000
MOST_PLACES = 12_000
"""Outcomes of X that are added up for each of some hundred cells, in some tenths of a second."""
_HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True)
class TwoOutputs:
    """A message of two outputs and what hides it.

    where
      low, high   the chances of a 1, low = 1 - high
      others      people besides the person
      fair        fakes that are a fair coin each
    """

    low: Fraction
    high: Fraction
    others: int
    fair: int

    @classmethod
    def of_bins(cls, replaced: Fraction, people: int, fakes: int) -> "TwoOutputs":
        """Return two bins, a uniform one of which is sent with the chance ``replaced``."""
        return cls(replaced / 2, 1 - replaced / 2, people - 1, fakes)

    @property
    def places(self) -> int:
        """How many outcomes are added up at most, about."""
        laws = self._laws(self.others // 2, self.others - self.others // 2)
        return sum(last - first for first, last in (law.window(_NATS) for law in laws))

    def _laws(self, ones: int, zeros: int, kept: int = 0) -> list[Binomial]:
        shares = self.low / (self.low + 1 - self.high)
        every = [(ones, self.high), (zeros, self.low), (kept, shares), (self.fair, _HALF)]
        return [Binomial(many, chance) for many, chance in every if many]

    def bound_cell(self, least: int, most: int, grow: arb) -> Bounds:
        """Return both bounds for all m in [least, most]; the lower one is that of a single m."""
        return Bounds.larger_of(*self.directional_bounds(least, most, grow))

    def directional_bounds(self, least: int, most: int, grow: arb) -> list[Bounds]:
        """Return the bounds of either direction."""
        spread = Binomial(most - least, self.low + 1 - self.high)
        kept, outside = 0, arb(0)
        if spread.trials:
            kept = spread.window(_NATS)[0]
            outside = spread.lower_tail_bound(kept - 1)
        chances = arb_poly([1])
        for law in self._laws(least, self.others - most, kept):
            low, high = law.window(_NATS)
            outside += law.lower_tail_bound(low - 1) + law.upper_tail_bound(high + 1)
            chances *= arb_poly(law.points(low, high))
        one = (chances * _own(self.high)).coeffs()
        zero = (chances * _own(self.low)).coeffs()
        return [
            Bounds((total - grow * outside).max(arb(0)), (total + outside).min(arb(1)))
            for total in (_positive(one, zero, grow), _positive(zero, one, grow))
        ]


def worst_crowd(message: TwoOutputs, grow: arb) -> Bounds:
    """Return bounds of delta in the worst crowd; ``grow`` is e^eps."""
    last = message.others // 2
    known: dict[int, Bounds] = {}

    def at(ones: int) -> Bounds:
        if ones not in known:
            known[ones] = message.bound_cell(ones, ones, grow)
        return known[ones]

    _evaluate_candidates(at, last, message)
    whole = message.bound_cell(0, last, grow).upper if last else at(0).upper
    heap, done = [(-float(whole.upper()), 0, last, whole)], arb(0)
    while heap and len(heap) < _MOST_CELLS:
        best = max(known.values(), key=_lower_end).lower
        ceiling = (best * (1 + exact_ball(_NEAR))).max(arb(NEGLIGIBLE_DELTA))
        _, least, most, bound = heap[0]
        if bound <= ceiling:
            break
        heapq.heappop(heap)
        if least == most:
            done = done.max(at(least).upper)
            continue
        middle = (least + most) // 2
        for first, end in ((least, middle), (middle + 1, most)):
            found = (at(first) if first == end else message.bound_cell(first, end, grow)).upper
            heapq.heappush(heap, (-float(found.upper()), first, end, found))
    upper = done
    for _, _, _, bound in heap:
        upper = upper.max(bound)
    lower = NOTHING
    for one in known.values():
        lower = lower.larger_of(one)
    return Bounds(lower.lower, upper)


def _evaluate_candidates(at: Callable[[int], Bounds], last: int, message: TwoOutputs) -> None:
    """Evaluate some m among which the worst one, or a neighbor of it, most likely is.

    The divergence rises and falls once for m up to 1 / (l + 1 - h).
    """
    period = min(last, int(1 / (message.low + 1 - message.high)))
    at(last)
    parts = _FIRST
    best = max(range(parts + 1), key=lambda part: _lower_end(at(period * part // parts)))
    while parts < 2 * period and parts < _FINEST:
        parts, best = 2 * parts, 2 * best
        near = (best, max(0, best - 1), min(parts, best + 1))
        best = max(near, key=lambda part: _lower_end(at(period * part // parts)))


def _lower_end(found: Bounds) -> float:
    return float(found.lower.lower())


def _own(chance: Fraction) -> arb_poly:
    return arb_poly([exact_ball(1 - chance), exact_ball(chance)])


def _positive(one: list[arb], other: list[arb], grow: arb) -> arb:
    """Return sum_k (one(k) - grow other(k))_+."""
    nothing = arb(0)
    gains = ((a - grow * b).max(nothing) for a, b in zip(one, other, strict=True))
    return sum(gains, nothing)
