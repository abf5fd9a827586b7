"""Where a search for composed messages starts: as if every loss were Gaussian.

One message is summed up in its distance delta(0) = erf(mu / (2 sqrt 2)), mu the Gaussian of the
same distance; of ``times`` messages mu grows by sqrt(times). A composed distribution takes a
hundred divergences, its start a handful. The start decides how long a search takes, never where it
ends.

Source: Dong, Roth, Su, Gaussian Differential Privacy (2022), corollaries 2.13 and 3.3.
"""

import math
from collections.abc import Callable

_STEPS = 6
_NEAR = 2e-3
_HALVINGS = 40
_LEAST_MU, _MOST_MU = 1e-6, 100.0
_USUAL_FALL = 0.5
"""A distance falls as one over the square root of what hides."""


def gaussian_start(
    distance: Callable[[int], float],
    times: int,
    epsilon: float,
    delta: float,
    low: int,
    high: int,
    *,
    start: int,
) -> int | None:
    """The x in [low, high] at which ``times`` Gaussians of this ``distance`` meet ``delta``.

    None where the distance is not seen to fall as x grows.
    """
    mu = _mu(epsilon, delta)
    wanted = math.erf(mu / math.sqrt(8.0 * times))
    x, fall = min(max(start, low), high), _USUAL_FALL
    at = distance(x)
    for _ in range(_STEPS):
        if not 0.0 < at < 1.0:
            return None
        miss = math.log(at / wanted)
        if abs(miss) < _NEAR:
            break
        moved = min(max(round(x * math.exp(max(-3.0, min(3.0, miss / fall)))), low), high)
        if moved == x:
            break
        after = distance(moved)
        if not 0.0 < after < 1.0:
            return None
        found = -math.log(after / at) / math.log(moved / x) if x > 0 and moved > 0 else 0.0
        if not found > 0.0:
            return None
        x, at, fall = moved, after, found
    return x


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
