"""Where a search for composed messages starts: as if every loss were Gaussian.

One message is summed up in its distance delta(0) = erf(mu / (2 sqrt 2)), mu the Gaussian of the
same distance; of ``times`` messages mu grows by sqrt(times). A composed distribution takes a
hundred divergences, its start a handful. The start decides how long a search takes, never where it
ends.

Source: Dong, Roth, Su, Gaussian Differential Privacy (2022), corollaries 2.13 and 3.3.
"""

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import NamedTuple

from mixtally.privacy.numerics.search import place_of, placed

_STEPS = 6
_NEAR = 2e-3
_HALVINGS = 40
_LEAST_MU, _MOST_MU = 1e-6, 100.0
_USUAL_FALL = 0.5
"""A distance falls as one over the square root of what hides."""
_LONGEST = 3.0
_MOST_DISTANCE = 1.0 - 1e-12


class GaussianStart(NamedTuple):
    """Where to start, and how steeply log(-log delta) rises there with the place of x."""

    start: int
    power: float


def gaussian_start(
    distance: Callable[[int], float],
    times: int,
    epsilon: float,
    delta: float,
    low: int,
    high: int,
    *,
    start: int,
    limit: int | None = None,
) -> GaussianStart | None:
    """The x in [low, high] at which ``times`` Gaussians of this ``distance`` meet ``delta``.

    By secants of log mu, nearly a line in the place of x; ``limit`` as ``least_meeting`` has it.
    None where the distance is not seen to fall as x grows.
    """
    mu = _mu(epsilon, delta)
    wanted = math.log(mu / math.sqrt(times))
    x, fall = min(max(start, low), high), _USUAL_FALL
    at = _log_mu(distance(x))
    for _ in range(_STEPS):
        if at is None:
            return None
        if abs(at - wanted) < _NEAR:
            break
        stride = max(-_LONGEST, min(_LONGEST, (at - wanted) / fall))
        u = place_of(x, limit)
        moved = min(max(placed(u + stride, limit), low), high)
        if moved == x:
            break
        after = _log_mu(distance(moved))
        if after is None:
            return None
        found = (at - after) / (place_of(moved, limit) - u)
        if not found > 0.0:
            return None
        x, at, fall = moved, after, found
    more = math.log(_gaussian_delta(epsilon, 1.01 * mu)) / math.log(delta)
    return GaussianStart(x, fall * -math.log(more) / math.log(1.01))


def _log_mu(distance: float) -> float | None:
    """Of the Gaussian of this distance; None for none."""
    if not 0.0 < distance < 1.0:
        return None
    half = 0.5 + 0.5 * min(distance, _MOST_DISTANCE)
    return math.log(2.0 * NormalDist().inv_cdf(half)) if half > 0.5 else None


def _mu(epsilon: float, delta: float) -> float:
    """The Gaussian that has exactly this delta."""
    low, high = _LEAST_MU, _MOST_MU
    for _ in range(_HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if _gaussian_delta(epsilon, middle) > delta else (middle, high)
    return low


def _gaussian_delta(epsilon: float, mu: float) -> float:
    return _normal(-epsilon / mu + mu / 2.0) - math.exp(epsilon) * _normal(-epsilon / mu - mu / 2.0)


def _normal(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2.0))
