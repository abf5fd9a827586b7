"""What several messages of one kind reveal together, and what one of them does.

A bound is the smaller of the composed one and of basic composition. What is proved and what is
expected, for a search whose end is proved, are remembered apart.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from mixtally.accounting.composition.convolve import Sum
from mixtally.accounting.composition.losses import LossDistribution
from mixtally.accounting.composition.pld import Tightness, chosen, connected, proved_at_once
from mixtally.accounting.composition.tables import losses_of, lower_of, points_of
from mixtally.accounting.divergence import Bound, ObservedMessage, ProvedDelta
from mixtally.accounting.divergence.registry import divergence_of
from mixtally.accounting.numerics.bracket import Bracket, not_nothing
from mixtally.primitives.memo import Memo

_BELOW = 1.0 - 1e-9
_APART = 1.1
"""Bounds rise by less than this from one epsilon to the next."""
_MOST_DISTRIBUTION_BYTES = 200_000_000


class PricesSpentError(Exception):
    """As many prices were computed as a search may take."""


class _Losses(NamedTuple):
    """The losses of one message, and the points of its curve that they come from."""

    losses: LossDistribution
    points: list[tuple[float, float]]

    @property
    def nbytes(self) -> int:
        """What they take, nearly."""
        return self.losses.nbytes + 128 * len(self.points)


class _Composed(NamedTuple):
    """The losses of several messages, and the points of the curve of one."""

    total: Sum
    points: list[tuple[float, float]]

    @property
    def nbytes(self) -> int:
        """What they take, nearly; the points are counted where they come from."""
        return self.total.nbytes

    def least(self, epsilon: float) -> float:
        """What the curve of one is at least about at ``epsilon``: its value at the next point."""
        at = bisect_left(self.points, (epsilon, 0.0))
        return self.points[at][1] if at < len(self.points) else 0.0


class Messages:
    """Computes every number once and leaves it in ``memo``."""

    def __init__(self, memo: Memo) -> None:
        keep_freed()
        self._memo = memo
        self.distributions = Memo(_MOST_DISTRIBUTION_BYTES)
        """What divergences are computed from, apart: it crowds out no result."""
        self.prices, self.most_prices = 0, math.inf
        """Bounds of one message at one epsilon that were computed, those of a set once for each
        member, and the most that may be: a measure of work that is the same on every machine.
        A costly one takes about a millisecond.
        """

    def delta(
        self, message: ObservedMessage, epsilon: float, *, lower_alone: bool = False
    ) -> ProvedDelta:
        """Both bounds of one message's delta(epsilon), or the lower one, with what they rest on."""
        own = divergence_of(message)
        found: ProvedDelta = self._memo.get(
            ("delta", message, epsilon, lower_alone),
            lambda: own.delta(message, epsilon, self.distributions, lower_alone=lower_alone),
        )
        lower, upper = found.bounds
        return found._replace(bounds=Bracket(lower, _revealed(message, epsilon, upper)))

    def upper(
        self, message: ObservedMessage, epsilons: Sequence[float], bound: Bound
    ) -> Sequence[float]:
        """Upper bounds of one message's delta, at several epsilons."""
        own = divergence_of(message)
        bound = own.taken(message, bound)
        if bound is Bound.NEAR and len(epsilons) != 1:  # which are proved together
            self._spend(message, len(epsilons))
            found = own.upper(message, epsilons, bound, self.distributions)
            return [_revealed(message, e, upper) for e, upper in zip(epsilons, found, strict=True)]
        return [self._one(message, epsilon, bound) for epsilon in epsilons]

    def one(self, message: ObservedMessage, epsilon: float, bound: Bound) -> float:
        """The same at one epsilon."""
        return self.upper(message, [epsilon], bound)[0]

    def _one(self, message: ObservedMessage, epsilon: float, bound: Bound) -> float:
        own = divergence_of(message)

        def made() -> float:
            self._spend(message, 1)
            return own.upper(message, [epsilon], bound, self.distributions)[0]

        found: float = self._memo.get(("one", message, epsilon, bound), made)
        return _revealed(message, epsilon, found)

    def _spend(self, message: ObservedMessage, bounds: int) -> None:
        """Count bounds to be computed; raise PricesSpentError if they are too many."""
        prices = bounds * (message.mechanism.max_set or 1)
        if self.prices + prices > self.most_prices:
            raise PricesSpentError
        self.prices += prices

    def each_way(
        self, message: ObservedMessage, epsilons: Sequence[float]
    ) -> tuple[Sequence[float], Sequence[float]] | None:
        """Upper bounds of either direction; None where both have one curve."""
        found = divergence_of(message).each_way(message, epsilons, self.distributions)
        if found is None:
            return None
        forward, backward = (
            [_revealed(message, e, upper) for e, upper in zip(epsilons, way, strict=True)]
            for way in found
        )
        return forward, backward

    def together(
        self,
        message: ObservedMessage,
        times: int,
        epsilon: float,
        tightness: Tightness,
        *,
        proved: bool,
    ) -> float:
        """The smaller of the composed delta and of basic composition.

        A hair below the even share of epsilon, so that decimals add up.
        """

        def made() -> float:
            composed = self._composed(message, times, tightness, proved=proved)
            total = min(composed.total.delta(epsilon), 1.0)
            share = epsilon * _BELOW / times
            if times * composed.least(share) >= total * _APART:
                return total  # basic composition gives no less
            bound = Bound.EXACT if proved else Bound.EXPECTED
            return min(total, times * self.one(message, share, bound))

        key = ("together", message, times, epsilon, proved, tightness)
        found: float = self._memo.get(key, made)
        return not_nothing(found, epsilon, times * message.mechanism.local_epsilon)

    def lower_together(self, message: ObservedMessage, times: int, epsilon: float) -> float:
        """A lower bound of several, each seen on its own, of a mix's table; 0 for others."""
        shaped = message.mechanism.shaped
        if shaped is None:
            return 0.0
        found: float = self._memo.get(
            ("least", shaped.shape, times, epsilon),
            lambda: lower_of(shaped.shape.weights, times, epsilon),
        )
        return found

    def losses(self, message: ObservedMessage, tightness: Tightness) -> LossDistribution:
        """A privacy loss distribution that dominates one message, from its proved bounds."""
        return self._losses(message, tightness, proved=True).losses

    def _composed(
        self, message: ObservedMessage, times: int, tightness: Tightness, *, proved: bool
    ) -> _Composed:
        def made() -> _Composed:
            one = self._losses(message, tightness, proved=proved)
            return _Composed(Sum([(one.losses, times)]), one.points)

        found: _Composed = self._memo.get(("sum", message, times, proved, tightness), made)
        return found

    def _losses(self, message: ObservedMessage, tightness: Tightness, *, proved: bool) -> _Losses:
        """Of points where the curve most likely bends, which are proved together; of a mix's table
        those of the table.
        """
        shaped = message.mechanism.shaped
        if shaped is not None:
            known: _Losses = self._memo.get(
                ("table", shaped.shape), lambda: _of_table(shaped.shape.weights)
            )
            return known

        def rough(epsilon: float) -> float:
            return self.one(message, epsilon, Bound.ROUGH)

        def made() -> _Losses:
            reach = message.mechanism.local_epsilon
            if proved:
                prove = partial(self.upper, message, bound=Bound.NEAR)
                prove([])  # raises for what would take too long
                step, points = proved_at_once(rough, prove, reach, tightness)
            else:
                step, points = chosen(rough, reach, tightness)
            curve = [(place * step, delta) for place, delta in sorted(points.items())]
            return _Losses(connected(step, points, tightness.rise), curve)

        found: _Losses = self._memo.get(("losses", message, proved, tightness), made)
        return found


def _of_table(weights: tuple[int, ...]) -> _Losses:
    losses = losses_of(weights)
    return _Losses(losses, points_of(losses))


def _revealed(message: ObservedMessage, epsilon: float, upper: float) -> float:
    """``upper``, which is not zero where a message reveals something."""
    return not_nothing(upper, epsilon, message.mechanism.local_epsilon)


_BYTES = 16_000_000


def keep_freed() -> None:
    """Keeps freed arrays of this process for the next ones, up to some 30 MB.

    glibc gives memory back to the system above a limit that follows the largest block that was ever
    freed. Where arrays of some hundred kilobytes come and go, that costs more than computing with
    them. No page of this block is ever touched; other allocators do not mind.
    """
    np.empty(_BYTES, dtype=np.uint8)
