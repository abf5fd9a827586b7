"""The saddle point of M(z)^N / z^order, through which the line of integration passes.

``saddle_line`` calls this module. The saddle point decides how many frequencies an integral takes,
never which side of the truth its bounds lie on.
"""

import math

from mixtally.accounting.numerics.draws import Draws, Spread
from mixtally.accounting.numerics.small_support import moments, tilt_distribution
from mixtally.primitives.tails import Floats

_MOST_STEPS = 100
_LEAST = 1e-290
_STRIDE = 4.0
"""Factor by which the bracket of the saddle point grows."""
_CLOSE = 1e-9
"""Relative step at which Newton's iteration stops."""


def sum_moments(draws: Draws, log_m: float, weights: Floats, values: Floats) -> Spread:
    """Return the mean and variance of a sum of a random number of tilted draws.

    ``weights`` are the tilted probabilities of ``values``. ``log_m`` is the logarithm of the
    transform M at the tilt, which also tilts the number of draws.
    """
    number, (mean, variance) = draws.spread(log_m), moments(weights, values)
    return Spread(number.mean * mean, number.mean * variance + number.variance * mean**2)


def find_saddle(values: Floats, chances: Floats, draws: Draws, order: int) -> float:
    """Return the minimum of the convex function N log M(t) - order log t over t > 0.

    ``values`` must be ascending. Where no value dominates, the minimum is near that of a Gaussian
    with mean m and variance v, which solves N (m + v t) = order / t.
    """

    def slopes(t: float) -> tuple[float, float]:
        """Return the first and second derivative of the function with respect to log t."""
        mean, variance = sum_moments(draws, *tilt_distribution(values, chances, t), values)
        return t * mean - order, t * (mean + t * variance)

    low = high = t = _initial_tilt(values, sum_moments(draws, 0.0, chances, values), order)
    if slopes(t)[0] >= 0.0:
        while low > _LEAST and slopes(low)[0] >= 0.0:
            low /= _STRIDE
    else:
        while high < 1.0 / _LEAST and slopes(high)[0] <= 0.0:
            high *= _STRIDE
    for _ in range(_MOST_STEPS):
        # Newton's method in log t, safeguarded by the bracket.
        slope, bend = slopes(t)
        low, high = (t, high) if slope < 0.0 else (low, t)
        step = -slope / bend if bend > 0.0 else math.inf
        if abs(step) < _CLOSE:
            break
        newton = t * math.exp(step) if abs(step) < 2.0 else math.inf
        t = newton if low < newton < high else math.sqrt(low) * math.sqrt(high)
    return t


def _initial_tilt(values: Floats, whole: Spread, order: int) -> float:
    """Return the saddle point of a Gaussian, or a smaller t where the largest value dominates."""
    heavy = 2.0 / float(values[-1])
    if whole.variance <= 0.0:
        return min(max(heavy, _LEAST), 1.0 / _LEAST)
    root = math.sqrt(whole.mean**2 + 4.0 * order * whole.variance)
    gaussian = (
        2.0 * order / (whole.mean + root)
        if whole.mean > 0.0
        else (root - whole.mean) / (2.0 * whole.variance)
    )
    return min(max(min(heavy, gaussian), _LEAST), 1.0 / _LEAST)
