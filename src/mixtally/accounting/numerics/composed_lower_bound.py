"""A quick lower estimate of a composed delta, from the total variation distance of one message.

``calibrate`` uses the estimate to decide whether an exact composition is worth computing. If two
distributions have the total variation distance t, some event has probabilities that differ by t. A
coin that shows one of two sides with probabilities (1 + t) / 2 and (1 - t) / 2 is the least
informative pair of this distance: its delta at every epsilon is the smallest. For the composition
of several messages this was found numerically, not proved.
"""

import math

import numpy as np

from mixtally.primitives import tails

_MAX_BIAS = 1.0 - 1e-12
"""Largest probability of a side, so that its loss is finite."""


def composed_lower_bound(times: int, distance: float, epsilon: float) -> float:
    """Return about the delta of ``times`` such coins of the given distance, in [0, 1]."""
    told = min(0.5 * (1.0 + distance), _MAX_BIAS)
    low, high = tails.window(times, told)
    losses = (2.0 * np.arange(low, high + 1) - times) * math.log(told / (1.0 - told))
    gains = -np.expm1(np.minimum(epsilon - losses, 0.0))
    return float((tails.pmf(times, told, low, high) * gains).sum())
