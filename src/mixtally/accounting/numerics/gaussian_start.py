"""Where a search for composed messages starts: as if every loss were Gaussian.

One message is summed up in its distance delta(0) = erf(mu / (2 sqrt 2)), mu the Gaussian of the
same distance; of ``times`` messages mu grows by sqrt(times). A composed distribution takes a
hundred divergences, its start a handful. The start decides how long a search takes, never where it
ends.

Source: Dong, Roth, Su, Gaussian Differential Privacy (2022), corollaries 2.13 and 3.3.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

from mixtally.accounting.numerics.search import Axis

_STEPS = 14
_NEAR = 2e-3
_HALVINGS = 40
_LEAST_MU, _MOST_MU = 1e-6, 100.0
_FAR = 4.0
_INSIDE = 0.05
_SAME = 1e-6
_LEAST_POWER, _MOST_POWER = 0.25, 64.0


class Start(NamedTuple):
    """Where a search starts.

    where
      x       the place
      power   of its axis to which what hides a person grows there: one over the distance
      miss    the logarithm of the distance over the one that was sought
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
    """The x in [low, high] at which ``times`` Gaussians of this ``distance`` meet ``delta``.

    None where the distance is not seen to fall as x grows.
    """
    expected = math.erf(gaussian_mu(epsilon, delta) / math.sqrt(8.0 * times))
    points: list[tuple[float, float]] = []  # logarithms of places and misses
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
    """delta(epsilon) of ``times`` Gaussians of this ``distance``."""
    mu = _largest_mu(lambda mu: math.erf(mu / math.sqrt(8.0)) <= distance)
    return max(0.0, _gaussian_delta(epsilon, mu * math.sqrt(times)))


def _next(points: list[tuple[float, float]], left: float, right: float) -> float:
    """Where the line through the last two points meets what is sought: between ``left`` and
    ``right``, and not far from the last.
    """
    (place, miss), most, fall = points[-1], math.log(_FAR), _fall(points)
    step = miss / fall if fall > 0.0 else math.copysign(most, miss)
    moved = place + min(max(step, -most), most)
    if left < right < math.inf and left > -math.inf:
        inside = _INSIDE * (right - left)
        moved = min(max(moved, left + inside), right - inside)
    return moved


def _fall(points: list[tuple[float, float]]) -> float:
    """How fast the distance falls along the line through the last two points."""
    if len(points) < 2:
        return 1.0
    (one, before), (other, after) = points[-2:]
    return (before - after) / (other - one) if other != one else 0.0


def gaussian_mu(epsilon: float, delta: float) -> float:
    """The mu of the Gaussian that has exactly this delta."""
    return _largest_mu(lambda mu: _gaussian_delta(epsilon, mu) <= delta)


def _largest_mu(small: Callable[[float], bool]) -> float:
    """The largest mu that is ``small``, by halving its logarithm."""
    low, high = _LEAST_MU, _MOST_MU
    for _ in range(_HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if small(middle) else (low, middle)
    return low


def _gaussian_delta(epsilon: float, mu: float) -> float:
    return _normal(-epsilon / mu + mu / 2.0) - math.exp(epsilon) * _normal(-epsilon / mu - mu / 2.0)


def _normal(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2.0))
