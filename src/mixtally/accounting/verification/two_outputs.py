"""Replaced values of two bins in the worst crowd: delta from its definition, in balls.

``derive`` uses this module. A person's message is 1 with probability h for one value and l < h for
the other. There are n - 1 other people, of which m hold the value of h. There are F fakes that are
fair coins, and Z fakes that have the value of l. The number of ones among all others is

    X = Bin(m, h) + Bin(n-1-m+Z, l) + Bin(F, 1/2).

Let P and Q be the distributions of X plus a bit of probability h or l. Each order of the divergence
is sum_k (P(k) - e^eps Q(k))_+. Delta is the largest over m: for a fixed set of outcomes the
difference is affine in the probability with which any one other person sends a 1, and in both
probabilities of the person.

*Cells.* Let m be in [a, b]. Let the observer also learn all messages except those of three groups:
a of the people at h, n-1-b of the people at l, and the fakes. Then the observer sees no less. With
probability w = l + 1 - h, each of the b - a remaining people sends a message that does not depend
on the value: a one with probability l / w. At least s of them do, except with a probability that is
added, and these s messages are kept. So one distribution bounds all m of a cell. Cells are halved,
the worst first, until all are at most slightly above the largest divergence of a single m.

If l = 1 - h and Z = 0, exchanging the two outputs turns m into n-1-m and exchanges the orders. So
half of all m suffice.

*Windows.* What a window cuts is at most its probability above, as (P - e^eps Q)_+ <= P, and e^eps
times it below.

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
"""Relative distance from the largest divergence of one m at which the halving of cells stops."""
_FIRST, _FINEST = 8, 128
"""Parts of the range of m that are tried first, and the finest parts."""
_MOST_CELLS = 3000
MOST_PLACES = 12_000
"""Most outcomes of X in the sum of a cell. There are about a hundred cells, each some tenths of a
second.
"""
_HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True)
class TwoOutputs:
    """A message of two outputs and what hides it.

    ``low`` and ``high`` are the probabilities of a 1, with low = 1 - high. ``others`` are the other
    people, ``fair`` the fakes that are fair coins, and ``zeros`` those that have the value of
    ``low``.
    """

    low: Fraction
    high: Fraction
    others: int
    fair: int
    zeros: int = 0

    @classmethod
    def of_bins(cls, replaced: Fraction, people: int, fakes: int) -> "TwoOutputs":
        """Return the message of a value in two bins among uniform fakes.

        With probability ``replaced`` a uniform bin is sent in place of the value.
        """
        return cls(replaced / 2, 1 - replaced / 2, people - 1, fakes)

    @classmethod
    def of_bit(cls, flip: Fraction, people: int, zeros: int) -> "TwoOutputs":
        """Return the message of a bit that is flipped with probability ``flip``.

        ``zeros`` is the number of fakes, which are flipped zeros.
        """
        return cls(flip, 1 - flip, people - 1, 0, zeros)

    @property
    def last(self) -> int:
        """The largest m that must be considered."""
        return self.others if self.zeros else self.others // 2

    @property
    def places(self) -> int:
        """The approximate largest number of outcomes in a sum."""
        laws = self._laws(self.others // 2, self.others - self.others // 2)
        return sum(last - first for first, last in (law.window(_NATS) for law in laws))

    def _laws(self, ones: int, zeros: int, kept: int = 0) -> list[Binomial]:
        shares = self.low / (self.low + 1 - self.high)
        low = zeros + self.zeros
        every = [(ones, self.high), (low, self.low), (kept, shares), (self.fair, _HALF)]
        return [Binomial(many, chance) for many, chance in every if many]

    def bound_cell(self, least: int, most: int, grow: arb) -> Bounds:
        """Return both bounds for all m in [least, most]; the lower one is meant for a single m."""
        return Bounds.larger_of(*self.directional_bounds(least, most, grow))

    def directional_bounds(self, least: int, most: int, grow: arb) -> list[Bounds]:
        """Return the bounds of both orders of the neighbors."""
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
    last = message.last
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
    """Evaluate several values of m, near which the worst m probably lies.

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
