"""The least that several messages tell whose distance is known: whether more need be asked.

Two distributions at a distance t are told apart by some event whose chances differ by t. The coins
that show one of two answers with chances (1 + t) / 2 and (1 - t) / 2 tell the least of all that do:
their delta at every epsilon is below that of others, and so it is found, not proved, of several.
"""

import math

import numpy as np

from mixtally.primitives import tails

_MAX_BIAS = 1.0 - 1e-12


def composed_lower_bound(times: int, distance: float, epsilon: float) -> float:
    """delta(epsilon) of ``times`` such coins, nearly; ``distance`` in [0, 1]."""
    told = min(0.5 * (1.0 + distance), _MAX_BIAS)
    low, high = tails.window(times, told)
    losses = (2.0 * np.arange(low, high + 1) - times) * math.log(told / (1.0 - told))
    gains = -np.expm1(np.minimum(epsilon - losses, 0.0))
    return float((tails.pmf(times, told, low, high) * gains).sum())
