"""Estimates of the delta of composed messages, from the total variation distance of one message.

``calibrate`` searches for the noise at which the composition of many messages meets a target delta.
One composed distribution takes about a hundred divergences; the start that ``gaussian_start`` finds
takes a handful. The start decides how long a search takes and never where it ends.

The Gaussian mechanism with parameter mu has the total variation distance delta(0) = erf(mu / (2
sqrt 2)). Each message is replaced by the Gaussian mechanism of the same distance. The composition
of ``times`` Gaussian mechanisms is Gaussian with parameter mu sqrt(times).

Nothing here is proved, and nothing here is stated. ``estimate_least_delta`` tells a search whether
a composition is worth computing. If two distributions have the total variation distance t, some
event has probabilities that differ by t. A coin that shows one of two sides with probabilities (1 +
t) / 2 and (1 - t) / 2 is the least informative pair of this distance: at every epsilon, no pair has
a smaller delta in both orders. For the composition of several messages this was found numerically,
not proved.

Source: Dong, Roth, Su, Gaussian Differential Privacy (2022), corollaries 2.13 and 3.3.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from mixtally.accounting.numerics.search import Axis
from mixtally.primitives import tails

_STEPS = 14
"""Largest number of distances that one start may take."""
_NEAR = 2e-3
"""Relative error of the distance at which the iteration stops."""
_HALVINGS = 40
_LEAST_MU, _MOST_MU = 1e-6, 100.0
"""Range of mu that is searched."""
_FAR = 4.0
"""Largest factor between the places of two consecutive steps."""
_INSIDE = 0.05
"""Least distance of a new place from the ends of the bracket, as a share of its width."""
_SAME = 1e-6
"""Tolerance above 1 for a distance that rounding has increased."""
_LEAST_POWER, _MOST_POWER = 0.25, 64.0
"""Range to which the measured power is limited."""
_MAX_BIAS = 1.0 - 1e-12
"""Largest probability of a side of a coin, so that its loss is finite."""


class Start(NamedTuple):
    """The place ``x`` at which a search starts.

    Let t be the total variation distance of one message at ``x``. Near ``x``, 1 / t grows like the
    axis of the search to the power ``power``. ``miss`` is log(t / s), where s is the distance that
    was sought.
    """

    x: int
    power: float
    miss: float


def gaussian_start(
    distance: Callable[[int], float],
    times: int,
    epsilon: float,
    delta: float,
    low: int,
    high: int,
    *,
    start: int,
    axis: Axis,
) -> Start | None:
    """Return the x in [low, high] at which the Gaussian approximation meets the target.

    The target is (``epsilon``, ``delta``) for ``times`` messages. ``distance`` is the total
    variation distance t of one message at x, and 1/t is nearly a power of ``axis.along(x)``. The
    first x is ``start``. None is returned if the distance is not seen to fall as x grows.
    """
    expected = math.erf(gaussian_mu(epsilon, delta) / math.sqrt(8.0 * times))
    points: list[tuple[float, float]] = []  # logarithms of places and of misses
    x, left, right = min(max(start, low), high), -math.inf, math.inf
    for _ in range(_STEPS):
        at, place = distance(x), axis.along(x)
        if not 0.0 < at < 1.0 + _SAME or place <= 0.0:
            return None
        points.append((math.log(place), math.log(at / expected)))
        if abs(points[-1][1]) < _NEAR:
            break
        if points[-1][1] > 0.0:
            left = points[-1][0]
        else:
            right = points[-1][0]
        moved = min(max(round(axis.back(math.exp(_next(points, left, right)))), low), high)
        if moved == x:
            break
        x = moved
    power = _fall(points)
    if not power > 0.0:
        return None
    return Start(x, min(max(power, _LEAST_POWER), _MOST_POWER), points[-1][1])


def approximate_composed_delta(distance: float, times: int, epsilon: float) -> float:
    """Return the delta at ``epsilon`` of ``times`` Gaussian mechanisms of this ``distance``."""
    mu = _largest_mu(lambda mu: math.erf(mu / math.sqrt(8.0)) <= distance)
    return max(0.0, _gaussian_delta(epsilon, mu * math.sqrt(times)))


def estimate_least_delta(times: int, distance: float, epsilon: float) -> float:
    """Estimate the least delta of ``times`` composed messages, from the distance of one.

    The result is the delta of as many coins with the total variation distance ``distance``, up to
    rounding. It is no proved bound for other messages.
    """
    bias = min(0.5 * (1.0 + distance), _MAX_BIAS)
    low, high = tails.window(times, bias)
    losses = (2.0 * np.arange(low, high + 1) - times) * math.log(bias / (1.0 - bias))
    gains = -np.expm1(np.minimum(epsilon - losses, 0.0))
    return float((tails.pmf(times, bias, low, high) * gains).sum())


def _next(points: list[tuple[float, float]], left: float, right: float) -> float:
    """Return the logarithm of the next place, by the secant method.

    The secant through the last two points is followed to the sought distance. The step is limited,
    and the result stays inside the bracket from ``left`` to ``right`` once both ends are known.
    """
    (place, miss), most, fall = points[-1], math.log(_FAR), _fall(points)
    step = miss / fall if fall > 0.0 else math.copysign(most, miss)
    moved = place + min(max(step, -most), most)
    if left < right < math.inf and left > -math.inf:
        inside = _INSIDE * (right - left)
        moved = min(max(moved, left + inside), right - inside)
    return moved


def _fall(points: list[tuple[float, float]]) -> float:
    """Return how fast the logarithm of the distance falls along the last secant."""
    if len(points) < 2:
        return 1.0
    (one, before), (other, after) = points[-2:]
    return (before - after) / (other - one) if other != one else 0.0


def gaussian_mu(epsilon: float, delta: float) -> float:
    """Return the parameter mu of the Gaussian mechanism with the given epsilon and delta.

    Parameters
    ----------
    epsilon : float
        The privacy loss in nats.
    delta : float
        The exact delta at this epsilon, in (0, 1).
    """
    return _largest_mu(lambda mu: _gaussian_delta(epsilon, mu) <= delta)


def _largest_mu(small: Callable[[float], bool]) -> float:
    """Return the largest mu for which ``small`` is true, by bisection of the logarithm of mu."""
    low, high = _LEAST_MU, _MOST_MU
    for _ in range(_HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if small(middle) else (low, middle)
    return low


def _gaussian_delta(epsilon: float, mu: float) -> float:
    """Return the delta at ``epsilon`` of the Gaussian mechanism with parameter ``mu``."""
    return _normal(-epsilon / mu + mu / 2.0) - math.exp(epsilon) * _normal(-epsilon / mu - mu / 2.0)


def _normal(x: float) -> float:
    """Return the standard normal distribution function at ``x``."""
    return 0.5 * math.erfc(-x / math.sqrt(2.0))
