"""What several messages of one kind reveal together, and what one of them does.

A bound is the smaller of the composed one and of basic composition. What is proved and what is
expected, for a search whose end is proved, are remembered apart.
"""

from bisect import bisect_left
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from mixtally.ground.heap import keep_freed
from mixtally.ground.memo import Memo
from mixtally.privacy.composition.convolve import Sum
from mixtally.privacy.composition.losses import LossDistribution
from mixtally.privacy.composition.pld import (
    ROUGH,
    Tightness,
    chosen,
    connected,
    loss_distribution,
    proved_at_once,
)
from mixtally.privacy.divergence import ObservedMessage, ProvedDelta, divergence_of
from mixtally.privacy.numerics.bracket import Bracket, not_nothing
from mixtally.privacy.numerics.gap import NEGLIGIBLE

_BELOW = 1.0 - 1e-9
_APART = 1.1
"""Bounds rise by less than this from one epsilon to the next."""
_MOST_DISTRIBUTION_BYTES = 200_000_000


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
        self._distributions = Memo(_MOST_DISTRIBUTION_BYTES)
        """What divergences are computed from, apart: it crowds out no result."""

    def delta(self, message: ObservedMessage, epsilon: float) -> ProvedDelta:
        """Both bounds of one message's delta(epsilon)."""
        found: ProvedDelta = self._memo.get(
            ("delta", message, epsilon),
            lambda: divergence_of(message).exact(message, epsilon, self._distributions),
        )
        lower, upper = found.bounds
        return found._replace(bounds=Bracket(lower, _revealed(message, epsilon, upper)))

    def at_least(self, message: ObservedMessage, epsilon: float) -> ProvedDelta:
        """A lower bound of one message's delta(epsilon), its source and what it rests on."""
        find = divergence_of(message).at_least
        found: ProvedDelta = self._memo.get(
            ("at least", message, epsilon), lambda: find(message, epsilon, self._distributions)
        )
        lower, upper = found.bounds
        return found._replace(bounds=Bracket(lower, _revealed(message, epsilon, upper)))

    def one(self, message: ObservedMessage, epsilon: float, *, proved: bool) -> float:
        """The upper bound of one message's delta(epsilon), or what it most likely is."""
        own = divergence_of(message)
        find = own.upper if proved else own.expected  # which may be one and the same
        found: float = self._memo.get(
            ("one", message, epsilon, find), lambda: find(message, epsilon, self._distributions)
        )
        return _revealed(message, epsilon, found)

    def rough(self, message: ObservedMessage, epsilon: float) -> float:
        """What it most likely is, less closely where that is quicker."""
        found = self._rough(message, epsilon)
        return self.one(message, epsilon, proved=False) if found is None else found

    def is_rough(self, message: ObservedMessage) -> bool:
        """Whether ``rough`` is less close than what it most likely is."""
        return self._rough(message, 0.0) is not None

    def _rough(self, message: ObservedMessage, epsilon: float) -> float | None:
        found: float | None = self._memo.get(
            ("rough", message, epsilon),
            lambda: divergence_of(message).rough(message, epsilon, self._distributions),
        )
        return found

    def near(self, message: ObservedMessage, epsilon: float) -> float:
        """Its upper bound, less closely where that is quicker."""
        found: float | None = self._memo.get(
            ("near", message, epsilon),
            lambda: divergence_of(message).near(message, epsilon, self._distributions),
        )
        if found is None:
            return self.one(message, epsilon, proved=True)
        return _revealed(message, epsilon, found)

    def near_at(self, message: ObservedMessage, epsilons: Sequence[float]) -> Sequence[float]:
        """``near`` at several epsilons."""
        if len(epsilons) > 1 and self.proves_at_once(message):
            return self._at_once(message, epsilons)
        return [self.near(message, epsilon) for epsilon in epsilons]

    def each_way(
        self, message: ObservedMessage, epsilons: Sequence[float]
    ) -> tuple[Sequence[float], Sequence[float]] | None:
        """Upper bounds of either direction; None where both have one curve."""
        found = divergence_of(message).each_way(message, epsilons, self._distributions)
        if found is None:
            return None
        forward, backward = (
            [_revealed(message, e, upper) for e, upper in zip(epsilons, way, strict=True)]
            for way in found
        )
        return forward, backward

    def proves_at_once(self, message: ObservedMessage) -> bool:
        """Whether all points of a curve are proved at once: where that is cheaper."""
        return divergence_of(message).together(message, [], self._distributions) is not None

    def _at_once(self, message: ObservedMessage, epsilons: Sequence[float]) -> Sequence[float]:
        found = divergence_of(message).together(message, epsilons, self._distributions) or ()
        return [_revealed(message, e, upper) for e, upper in zip(epsilons, found, strict=True)]

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
            if proved:  # Where many hide a person well enough, no worst crowd is looked for.
                quick = self._quick(message, times)
                if quick is not None and (bound := quick.delta(epsilon)) <= NEGLIGIBLE:
                    return bound
            composed = self._composed(message, times, tightness, proved=proved)
            total = min(composed.total.delta(epsilon), 1.0)
            share = epsilon * _BELOW / times
            if times * composed.least(share) >= total * _APART:
                return total  # basic composition gives no less
            return min(total, times * self.one(message, share, proved=proved))

        key = ("together", message, times, epsilon, proved, tightness)
        found: float = self._memo.get(key, made)
        return not_nothing(found, epsilon, times * message.mechanism.local_epsilon)

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
        def made() -> _Losses:
            together = self._proved_together(message, tightness) if proved else None
            step, points = together or chosen(
                partial(self.near if proved else self.rough, message),
                message.mechanism.local_epsilon,
                tightness,
            )
            curve = [(place * step, delta) for place, delta in sorted(points.items())]
            return _Losses(connected(step, points, tightness.rise), curve)

        found: _Losses = self._memo.get(("losses", message, proved, tightness), made)
        return found

    def _proved_together(
        self, message: ObservedMessage, tightness: Tightness
    ) -> tuple[float, dict[int, float]] | None:
        """The points of a curve that are needed by what is roughly expected, proved at once where
        that is cheaper.
        """
        if not self.proves_at_once(message):
            return None
        return proved_at_once(
            partial(self.rough, message),
            partial(self._at_once, message),
            message.mechanism.local_epsilon,
            tightness,
        )

    def _quick(self, message: ObservedMessage, times: int) -> Sum | None:
        """A bound for all crowds at once, of the messages that have one."""
        own = divergence_of(message)

        def curve(epsilon: float) -> float:
            bound = own.quick(message, epsilon, self._distributions)
            return 1.0 if bound is None else bound

        def made() -> Sum | None:
            if own.quick(message, 0.0, self._distributions) is None:
                return None
            return Sum([(loss_distribution(curve, message.mechanism.local_epsilon, ROUGH), times)])

        found: Sum | None = self._memo.get(("quick", message, times), made)
        return found


def _revealed(message: ObservedMessage, epsilon: float, upper: float) -> float:
    """``upper``, which is not zero where a message reveals something."""
    return not_nothing(upper, epsilon, message.mechanism.local_epsilon)
