"""Privacy curves: upper bounds of delta at several epsilons.

``app.matrix`` and the Python interface use this module to compose curves and to exchange them with
other libraries. A curve is the largest divergence over all pairs of neighbors and both directions.
Rounds are composed from this curve, because the pair that is the worst at one epsilon may not be
the worst at another. As a function of e^epsilon the true curve is convex, and it is 1 at e^epsilon
= 0. So the chords between points of the curve are upper bounds too.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral
from typing import Any

from mixtally.accounting.composition.convolve import LossSum
from mixtally.accounting.composition.losses import LossDistribution
from mixtally.accounting.composition.pld import (
    CLOSE,
    Curve,
    Tightness,
    choose_points,
    loss_distribution,
    prove_points,
)
from mixtally.accounting.divergence.matrix import Randomizer
from mixtally.errors import DataError, EffortError, ParameterError, pluralize
from mixtally.model.guarantee import MOST_EPSILON

_SLACK = 1.0 + 1e-12
_RISE = 1.003
"""Factor between neighboring deltas that is accepted as rounding."""
_CLOSE = 1e-6
"""Relative distance of an epsilon from the least one that satisfies delta."""
_MOST_STEPS = 200
_STRIDE = 1.5
"""Factor between the epsilons of a search until both sides of the result are known."""
_IMPORTED = 512
"""Points at which an imported distribution is evaluated."""
_LEAST = 1e-15
_PAIRS = "give pairs of epsilon and delta with ascending epsilon"
MOST_ROUNDS = 1_000_000


@dataclass(frozen=True, slots=True, repr=False)
class PrivacyCurve:
    """Upper bounds of delta at several epsilons.

    Parameters
    ----------
    epsilons : tuple of float
        Ascending privacy losses in nats, at least 0.
    upper : tuple of float
        The upper bound of delta at each epsilon.
    lower : tuple of float
        The delta of one known crowd at each epsilon; 0 where none is known.

    Examples
    --------
    >>> import mixtally
    >>> curve = mixtally.PrivacyCurve.from_profile([(0.0, 0.3), (1.0, 1e-3), (2.0, 1e-6)])
    >>> curve.delta(1.0) < 1.0001e-3
    True
    >>> round(curve.epsilon(1e-3), 3)
    1.0
    """

    epsilons: tuple[float, ...]
    upper: tuple[float, ...]
    lower: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for where, (low, high) in enumerate(pairwise((-1.0, *self.epsilons))):
            if not low < high < math.inf or high < 0.0:
                raise _point_error(where, "an epsilon above the one before", high)
        for where, (before, delta) in enumerate(pairwise((1.0, *self.upper))):
            if not 0.0 <= delta <= before * _RISE or delta > 1.0:
                raise _point_error(where, "a delta from 0 to 1 that falls", delta)
        if not self.epsilons or len(self.epsilons) != len(self.upper):
            raise DataError(
                "privacy curve",
                expected="at least one epsilon, and one delta for every epsilon",
                got=f"{pluralize(len(self.epsilons), 'epsilon')} and "
                f"{pluralize(len(self.upper), 'delta')}",
                do=_PAIRS,
            )

    def __repr__(self) -> str:
        """Return both ends of the curve, as a curve may have hundreds of points."""
        first, last = (
            f"delta <= {self.upper[place]!r} at epsilon {self.epsilons[place]!r}"
            for place in (0, -1)
        )
        return f"PrivacyCurve of {pluralize(len(self.epsilons), 'point')}: {first}, to {last}"

    @classmethod
    def from_profile(cls, points: Iterable[tuple[float, float]]) -> "PrivacyCurve":
        """Return the curve through the points of a privacy profile, as OpenDP has them.

        Parameters
        ----------
        points : iterable of (float, float)
            Epsilon and an upper bound of delta, in any order.

        Returns
        -------
        PrivacyCurve
            The curve. It is an upper bound if the profile is one.
        """
        try:
            pairs = sorted((float(epsilon), float(delta)) for epsilon, delta in points)
        except (TypeError, ValueError) as error:
            raise DataError(
                "privacy curve", expected="pairs of two numbers", got=error, do=_PAIRS
            ) from error
        return cls(tuple(one for one, _ in pairs), tuple(one for _, one in pairs))

    @classmethod
    def from_dp_accounting(cls, losses: Any) -> "PrivacyCurve":
        """Return the curve of a privacy loss distribution of the dp-accounting library.

        Parameters
        ----------
        losses : dp_accounting.pld.privacy_loss_distribution.PrivacyLossDistribution
            A distribution with a pessimistic estimate.

        Returns
        -------
        PrivacyCurve
            Both directions are in its deltas. It is an upper bound if the estimate is pessimistic.
        """
        if not hasattr(losses, "get_delta_for_epsilon"):
            raise DataError(
                "losses",
                expected="a privacy loss distribution of dp-accounting",
                got=f"an object of type {type(losses).__name__}",
                do="make one with dp_accounting.pld.privacy_loss_distribution",
            )

        def compute_delta(epsilon: float) -> float:
            # The library's transforms may leave tiny negative numbers.
            return min(1.0, max(0.0, float(losses.get_delta_for_epsilon(epsilon))) + _LEAST)

        end = find_epsilon(compute_delta, 4.0 * _LEAST, 4.0 * MOST_EPSILON)
        end = min(end, 4.0 * MOST_EPSILON)
        points = [end * i / _IMPORTED for i in range(_IMPORTED + 1)] if end > 0.0 else [0.0]
        deltas, least = [], 1.0
        for point in points:
            least = min(least, compute_delta(point))
            deltas.append(least)
        return cls(tuple(points), tuple(deltas))

    def profile(self) -> list[tuple[float, float]]:
        """Return the points as a privacy profile: pairs of epsilon and upper bound of delta.

        Returns
        -------
        list of (float, float)
            The points with ascending epsilon.
        """
        return list(zip(self.epsilons, self.upper, strict=True))

    def delta(self, epsilon: float) -> float:
        """Return an upper bound of delta.

        Parameters
        ----------
        epsilon : float
            Privacy loss in nats, at least 0.

        Returns
        -------
        float
            The chord between the neighboring points. Above the last point, its delta.
        """
        at = bisect_left(self.epsilons, epsilon)
        if at == len(self.epsilons):
            return self.upper[-1]
        if self.epsilons[at] == epsilon:
            return self.upper[at]
        # Differences of exponentials are computed without cancellation: next to a point far below
        # its neighbor, the weight of the neighbor decides.
        right, after = self.epsilons[at], self.upper[at]
        if at == 0:  # the chord begins at delta = 1, where e^epsilon is 0
            rest, share = -math.expm1(epsilon - right), math.exp(epsilon - right)
            return min(1.0, (rest + share * after) * _SLACK)
        left, before = self.epsilons[at - 1], self.upper[at - 1]
        span = -math.expm1(left - right)
        rest = -math.expm1(epsilon - right) / span
        share = math.exp(epsilon - right) * -math.expm1(left - epsilon) / span
        return min(1.0, (rest * before + share * after) * _SLACK)

    def epsilon(self, delta: float) -> float:
        """Return the least epsilon at which the bound is at most ``delta``.

        Parameters
        ----------
        delta : float
            The delta of the guarantee.

        Returns
        -------
        float
            Epsilon in nats; infinite if no point satisfies delta.
        """
        return find_epsilon(self.delta, delta, self.epsilons[-1])

    def compose(self, rounds: int) -> "PrivacyCurve":
        """Return the curve of several rounds with new randomness, also if they are adaptive.

        Parameters
        ----------
        rounds : int
            The number of rounds, 1 to 10^6.

        Returns
        -------
        PrivacyCurve
            Upper bounds for all rounds together.

        Raises
        ------
        ParameterError
            If the number of rounds is not an integer in this range.
        """
        if not isinstance(rounds, Integral) or not 1 <= rounds <= MOST_ROUNDS:
            raise ParameterError(
                "rounds",
                expected=f"an integer in [1, {MOST_ROUNDS:,}]",
                got=rounds,
                do="1 for a single round",
            )
        rounds = int(rounds)
        total = LossSum([(self.losses(), rounds)])
        return trace_curve(total.delta, MOST_EPSILON)

    def losses(self, tightness: Tightness = CLOSE) -> LossDistribution:
        """Return a privacy loss distribution that dominates every mechanism below this curve.

        Parameters
        ----------
        tightness : Tightness
            How closely the chords of the distribution follow the curve.

        Returns
        -------
        LossDistribution
            The distribution on a lattice. The last delta of the curve is the probability of an
            infinite loss.
        """
        return loss_distribution(self.delta, self.epsilons[-1], tightness)

    def to_dp_accounting(self) -> Any:
        """Return a privacy loss distribution of the dp-accounting library that dominates the curve.

        Returns
        -------
        dp_accounting.pld.privacy_loss_distribution.PrivacyLossDistribution
            A pessimistic distribution, which is the same for both directions.
        """
        from dp_accounting.pld import pld_pmf, privacy_loss_distribution

        losses = self.losses()
        places, chances = losses.expand_both_sides(losses.step)
        law = dict(zip(map(int, places), map(float, chances), strict=True))
        return privacy_loss_distribution.PrivacyLossDistribution(
            pld_pmf.create_pmf(law, losses.step, losses.infinite, pessimistic_estimate=True)
        )


def _point_error(where: int, expected: str, got: object) -> DataError:
    return DataError(
        f"privacy curve, point {where + 1}",
        expected=expected,
        got=got,
        do=_PAIRS,
    )


def trace_curve(curve: Curve, reach: float) -> PrivacyCurve:
    """Return as many points of the upper bound ``curve`` as a composition needs.

    Parameters
    ----------
    curve : callable
        An upper bound of delta at any epsilon in [0, 20].
    reach : float
        The largest finite privacy loss, or infinity.
    """
    return _make_curve(*choose_points(curve, reach, CLOSE))


def _make_curve(step: float, points: dict[int, float]) -> PrivacyCurve:
    places, deltas, least = sorted(points), [], 1.0
    for place in places:
        least = min(least, points[place])  # still an upper bound, because the true curve falls
        deltas.append(least)
    return PrivacyCurve(tuple(place * step for place in places), tuple(deltas))


def trace_randomizer(one: Randomizer, reach: float) -> PrivacyCurve:
    """Return points of the curve that bounds delta for all pairs of values and all crowds.

    Parameters
    ----------
    one : Randomizer
        The randomizer, among other people and fakes.
    reach : float
        The local epsilon of the randomizer.
    """
    if one.exact_bit is not None:
        with suppress(EffortError):
            return _make_curve(*prove_points(one.expect, one.prove, reach, CLOSE))
    return trace_curve(lambda epsilon: one.upper(epsilon).value, reach)


def find_epsilon(
    upper: Callable[[float], float], delta: float, most: float, start: float = 1.0
) -> float:
    """Return the least epsilon in [0, ``most``] whose bound is at most ``delta``, to a millionth.

    Parameters
    ----------
    upper : callable
        An upper bound of delta that falls with epsilon.
    delta : float
        The delta of the guarantee.
    most : float
        The largest epsilon that is tried.
    start : float
        Where the search begins.

    Returns
    -------
    float
        An epsilon that was evaluated and satisfies delta; infinite if ``most`` does not.
    """
    if upper(0.0) <= delta:
        return 0.0
    low, high = 0.0, min(start, most)
    value = upper(high)
    while value > delta:
        if high >= most:
            return math.inf
        low, high = high, min(_STRIDE * high, most)
        value = upper(high)
    while low == 0.0:
        point = high / _STRIDE
        if (value := upper(point)) > delta:
            low = point
        else:
            high = point
    below, above = (_log_ratio(upper(end), delta) for end in (low, high))
    for step in range(_MOST_STEPS):
        if high - low <= _CLOSE * high:
            break
        # A secant in log delta; every third step halves the bracket.
        secant = low + (high - low) * below / (below - above)
        edge = 0.4 * _CLOSE * high
        inner = min(max(secant + edge, low + edge), high - edge)
        point = 0.5 * (low + high) if step % 3 == 2 else inner
        if (value := upper(point)) > delta:
            low, below = point, _log_ratio(value, delta)
        else:
            high, above = point, _log_ratio(value, delta)
    return high


def _log_ratio(value: float, delta: float) -> float:
    """Return log(value / delta), but at least -50, because a bound of zero has no logarithm."""
    return max(-50.0, math.log(max(value, 1e-300) / delta))
