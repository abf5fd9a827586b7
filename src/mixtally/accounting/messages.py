"""Delta of one message, and of several messages of the same kind.

``accountant`` uses this module. A composed bound is the smaller of the convolution of losses and of
basic composition. Proved bounds and estimates, which serve searches, are cached separately.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from mixtally.accounting.composition.convolve import LossSum
from mixtally.accounting.composition.losses import LossDistribution
from mixtally.accounting.composition.pld import (
    Tightness,
    choose_points,
    connect_points,
    prove_points,
)
from mixtally.accounting.composition.tables import losses_of, lower_of, points_of
from mixtally.accounting.divergence import Bound, ObservedMessage, ProvedDelta
from mixtally.accounting.divergence.registry import divergence_of
from mixtally.accounting.numerics.bracket import Bracket, keep_positive
from mixtally.model.shape import AnyShape
from mixtally.primitives.memo import Memo

_SHARE_ROUNDING = 1.0 - 1e-9
_MAX_RISE = 1.1
"""Factor by which bounds may rise from one epsilon to the next."""
_MOST_DISTRIBUTION_BYTES = 200_000_000
"""Size limit of the memo for intermediate results."""


class PricesSpentError(Exception):
    """A search has reached its limit of prices.

    A price is one computed delta of one message at one epsilon.
    """


class _MessageLosses(NamedTuple):
    """The losses of one message, and the points of its curve from which they were made."""

    losses: LossDistribution
    points: list[tuple[float, float]]

    @property
    def nbytes(self) -> int:
        """The approximate memory of the losses and of the points, in bytes."""
        return self.losses.nbytes + 128 * len(self.points)


class _ComposedMessages(NamedTuple):
    """The summed losses of several messages, and the points of the curve of one message."""

    total: LossSum
    points: list[tuple[float, float]]

    @property
    def nbytes(self) -> int:
        """The approximate memory of the sum, in bytes.

        The points are not counted again, because they are those of a ``_MessageLosses``.
        """
        return self.total.nbytes

    def upper_at_next_point(self, epsilon: float) -> float:
        """Return one message's delta at the next point of the curve from ``epsilon`` on.

        This is nearly a lower bound of the delta at ``epsilon``.
        """
        at = bisect_left(self.points, (epsilon, 0.0))
        return self.points[at][1] if at < len(self.points) else 0.0


class Messages:
    """Deltas of messages, each computed once and kept in ``memo``."""

    def __init__(self, memo: Memo) -> None:
        keep_freed()
        self._memo = memo
        self.distributions = Memo(_MOST_DISTRIBUTION_BYTES)
        """Memo for intermediate results, separate so that it displaces no results."""
        self.prices, self.most_prices = 0, math.inf
        """Number of deltas of one message at one epsilon computed so far, and their limit.

        The deltas of a set count once per member. The number measures work independently of the
        machine; a costly delta takes about a millisecond.
        """

    def delta(
        self, message: ObservedMessage, epsilon: float, *, lower_only: bool = False
    ) -> ProvedDelta:
        """Return both bounds of one message's delta, with source and assumption.

        With ``lower_only`` the upper bound may be 1.
        """
        own = divergence_of(message)
        found: ProvedDelta = self._memo.get(
            ("delta", message, epsilon, lower_only),
            lambda: own.delta(message, epsilon, self.distributions, lower_only=lower_only),
        )
        lower, upper = found.bounds
        return found._replace(bounds=Bracket(lower, _keep_revealing(message, epsilon, upper)))

    def upper(
        self, message: ObservedMessage, epsilons: Sequence[float], bound: Bound
    ) -> Sequence[float]:
        """Return upper bounds of one message's delta at several epsilons."""
        own = divergence_of(message)
        bound = own.choose_bound(message, bound)
        if bound is Bound.NEAR and len(epsilons) != 1:  # one proof covers all epsilons
            self._spend(message, len(epsilons))
            found = own.upper(message, epsilons, bound, self.distributions)
            return [
                _keep_revealing(message, e, upper) for e, upper in zip(epsilons, found, strict=True)
            ]
        return [self._cached_upper_at(message, epsilon, bound) for epsilon in epsilons]

    def upper_at(self, message: ObservedMessage, epsilon: float, bound: Bound) -> float:
        """Return an upper bound of one message's delta at one epsilon."""
        return self.upper(message, [epsilon], bound)[0]

    def _cached_upper_at(self, message: ObservedMessage, epsilon: float, bound: Bound) -> float:
        own = divergence_of(message)

        def made() -> float:
            self._spend(message, 1)
            return own.upper(message, [epsilon], bound, self.distributions)[0]

        found: float = self._memo.get(("one", message, epsilon, bound), made)
        return _keep_revealing(message, epsilon, found)

    def _spend(self, message: ObservedMessage, bounds: int) -> None:
        """Count deltas to be computed; raise PricesSpentError if they are too many."""
        prices = bounds * (message.mechanism.max_set or 1)
        if self.prices + prices > self.most_prices:
            raise PricesSpentError
        self.prices += prices

    def directional_upper(
        self, message: ObservedMessage, epsilons: Sequence[float]
    ) -> tuple[Sequence[float], Sequence[float]] | None:
        """Return upper bounds in each order of the neighbors; None if both agree."""
        found = divergence_of(message).directional_upper(message, epsilons, self.distributions)
        if found is None:
            return None
        forward, backward = (
            [_keep_revealing(message, e, upper) for e, upper in zip(epsilons, way, strict=True)]
            for way in found
        )
        return forward, backward

    def composed_upper(
        self,
        message: ObservedMessage,
        times: int,
        epsilon: float,
        tightness: Tightness,
        *,
        proved: bool,
    ) -> float:
        """Return the smaller of two bounds: the composed delta, and that of basic composition.

        Basic composition is evaluated slightly below the even share of epsilon, so that shares of a
        decimal epsilon add up.
        """

        def compute_upper() -> float:
            composed = self._compose_messages(message, times, tightness, proved=proved)
            total = min(composed.total.delta(epsilon), 1.0)
            share = epsilon * _SHARE_ROUNDING / times
            if times * composed.upper_at_next_point(share) >= total * _MAX_RISE:
                return total  # basic composition gives no less
            bound = Bound.EXACT if proved else Bound.EXPECTED
            return min(total, times * self.upper_at(message, share, bound))

        key = ("together", message, times, epsilon, proved, tightness)
        found: float = self._memo.get(key, compute_upper)
        return keep_positive(found, epsilon, times * message.mechanism.local_epsilon)

    def composed_lower(self, message: ObservedMessage, times: int, epsilon: float) -> float:
        """Return a lower bound for several separate messages among shaped fakes; 0 for others."""
        shaped = message.mechanism.shaped_fakes
        if shaped is None:
            return 0.0
        found: float = self._memo.get(
            ("least", shaped.shape, times, epsilon),
            lambda: lower_of(shaped.shape.weights, times, epsilon, paired=shaped.shape.paired),
        )
        return found

    def losses(self, message: ObservedMessage, tightness: Tightness) -> LossDistribution:
        """Return losses that dominate one message, from its proved bounds."""
        return self._losses(message, tightness, proved=True).losses

    def _compose_messages(
        self, message: ObservedMessage, times: int, tightness: Tightness, *, proved: bool
    ) -> _ComposedMessages:
        def build_composed() -> _ComposedMessages:
            one = self._losses(message, tightness, proved=proved)
            return _ComposedMessages(LossSum([(one.losses, times)]), one.points)

        found: _ComposedMessages = self._memo.get(
            ("sum", message, times, proved, tightness), build_composed
        )
        return found

    def _losses(
        self, message: ObservedMessage, tightness: Tightness, *, proved: bool
    ) -> _MessageLosses:
        """Return the losses of one message.

        Points are chosen by estimates and then proved jointly. For shaped fakes the losses are
        those of the table.
        """
        shaped = message.mechanism.shaped_fakes
        if shaped is not None:
            known: _MessageLosses = self._memo.get(
                ("table", shaped.shape), lambda: _table_losses(shaped.shape)
            )
            return known

        def rough_upper(epsilon: float) -> float:
            return self.upper_at(message, epsilon, Bound.ROUGH)

        def build_losses() -> _MessageLosses:
            reach = message.mechanism.local_epsilon
            if proved:
                prove = partial(self.upper, message, bound=Bound.NEAR)
                prove([])  # raises if the proof would take too long
                step, points = prove_points(rough_upper, prove, reach, tightness)
            else:
                step, points = choose_points(rough_upper, reach, tightness)
            curve = [(place * step, delta) for place, delta in sorted(points.items())]
            return _MessageLosses(connect_points(step, points, tightness.rise), curve)

        found: _MessageLosses = self._memo.get(("losses", message, proved, tightness), build_losses)
        return found


def _table_losses(shape: AnyShape) -> _MessageLosses:
    losses = losses_of(shape.weights, paired=shape.paired)
    return _MessageLosses(losses, points_of(losses))


def _keep_revealing(message: ObservedMessage, epsilon: float, upper: float) -> float:
    """Return ``upper``, but at least a tiny positive number if a message reveals something."""
    return keep_positive(upper, epsilon, message.mechanism.local_epsilon)


_BYTES = 16_000_000
"""Size of the block that raises the limit of glibc."""


def keep_freed() -> None:
    """Let this process keep up to about 30 MB of freed memory for the next arrays.

    glibc returns memory to the system above a limit that follows the largest block that was ever
    freed. If arrays of some hundred kilobytes are allocated and freed often, returning them costs
    more than computing with them. So a large block is allocated and freed here. No page of this
    block is ever touched. Other allocators than glibc's are not affected.
    """
    np.empty(_BYTES, dtype=np.uint8)
