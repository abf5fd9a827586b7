"""A curve delta(epsilon) laid through a few of its points: for searches, whose end is proved.

sqrt(-log delta) is nearly a line in epsilon. It is laid through four neighbors as a cubic that
stays between the two next to it; where the curve lies elsewhere halfway between two points, that
is one more of them.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import NormalDist

import numpy as np

from mixtally.ground.tails import Floats
from mixtally.privacy.composition.pld import Curve, Curves
from mixtally.records.guarantee import MOST_EPSILON

_FIRST = 6
_MOST_POINTS = 48
_CLOSE = 2e-3
"""Halfway between two points, relatively: what is left then is a sixteenth of it."""
_FAINT = 1e4
"""So many times what does not matter is added to a delta before it is compared."""
_MOST_DISTANCE, _LEAST_DISTANCE = 1.0 - 1e-12, 1e-12
_FARTHER = 1.5
_CEILING = 1.0 - 1e-16


def interpolated(one: Curve, reach: float, least: float) -> Curves:
    """``one`` as a curve, from a few of its values.

    where
      reach   no loss is larger; math.inf when nothing is known
      least   a delta that does not matter, where the curve may end
    """
    known = {0.0: one(0.0)}
    if not known[0.0] > 0.0 or reach <= 0.0:
        return lambda epsilons: [known[0.0] for _ in epsilons]
    most = min(reach, MOST_EPSILON)
    end = min(most, _gaussian_end(known[0.0], least))
    known[end] = one(end)
    while known[end] > least and end < most:
        end = min(most, _FARTHER * end)
        known[end] = one(end)
    known |= {end * i / _FIRST: one(end * i / _FIRST) for i in range(1, _FIRST)}
    _halve(one, known, least)

    def curve(epsilons: Sequence[float]) -> list[float]:
        at = np.asarray(epsilons, dtype=np.float64)
        return [float(delta) for delta in _laid(known, at, least)]

    return curve


def _gaussian_end(distance: float, least: float) -> float:
    """Where a Gaussian of this distance has come down to ``least``, about."""
    half = 0.5 + 0.5 * min(max(distance, _LEAST_DISTANCE), _MOST_DISTANCE)
    mu = 2.0 * NormalDist().inv_cdf(half)
    return mu * math.sqrt(-2.0 * math.log(least)) + 0.5 * mu * mu


def _halve(one: Curve, known: dict[float, float], least: float) -> None:
    """Adds points until the curve lies where it is laid."""
    places = sorted(known)
    open_ = list(pairwise(places))
    while open_ and len(known) < _MOST_POINTS:
        middles = [(a + b) / 2.0 for a, b in open_]
        guesses, halves = _laid(known, np.array(middles), least), []
        for (a, b), middle, guess in zip(open_, middles, guesses, strict=True):
            known[middle] = one(middle)
            if abs(guess - known[middle]) > _CLOSE * (known[middle] + _FAINT * least):
                halves += [(a, middle), (middle, b)]
        open_ = halves


def _laid(known: dict[float, float], epsilons: Floats, least: float) -> Floats:
    """The curve through ``known`` at ``epsilons``, the last of it beyond; none below ``least``."""
    places = np.array(sorted(known))
    heights = np.sqrt(-np.log(np.clip([known[place] for place in places], least, _CEILING)))
    x = np.minimum(epsilons, places[-1])
    after = np.clip(np.searchsorted(places, x), 1, len(places) - 1)
    first = np.clip(after - 2, 0, len(places) - 4)
    around = first[:, None] + np.arange(4)
    at, height = places[around], np.zeros(len(x))
    for i in range(4):
        weight = heights[around[:, i]]
        for j in range(4):
            if j != i:
                weight = weight * (x - at[:, j]) / (at[:, i] - at[:, j])
        height += weight
    height = np.clip(height, heights[after - 1], np.maximum(heights[after - 1], heights[after]))
    return np.asarray(np.exp(-height * height), dtype=np.float64)
