"""The law of one plan's privacy loss, rounded so that it dominates the true one.

From the curve delta(epsilon) alone, its upper ends: between two points of the curve in the variable
e^epsilon the true curve is convex, so the chord lies above it, and a curve made of chords is the
curve of a law whose losses sit exactly at the points. The true delta is the larger of both
directions, which makes the curve its own mirror image,

    delta(-x) = 1 - e^-x + e^-x delta(x),   P[loss = -x] = e^-x P[loss = x],

so losses above zero say everything: with points x_0 = 0 < x_1 < .. < x_n, d_i = delta(x_i),

    P[loss = x_i] = (d_{i-1} - d_i) / (1 - e^-(x_i - x_{i-1})) - (d_i - d_{i+1}) / (e^(x_{i+1} - x_i) - 1),
    P[loss = 0]   = 1 - d_0 - 2 (d_0 - d_1) / (e^{x_1} - 1),   P[loss infinite] = d_n.

A chance that rounding makes negative is set to zero, which only adds mass.

Source: Doroshenko, Ghazi, Kamath, Kumar, Manurangsi, Connect the Dots (2022), algorithm 1; its
symmetric form by the identity above.
"""  # noqa: E501

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import AccountingError
from mixtally.ground.tails import Floats
from mixtally.records.guarantee import MOST_EPSILON

Curve = Callable[[float], float]
"""An upper bound of delta at any epsilon in [0, 20]."""

LEAST_STEP = 2.0**-16
_STEPS_A_DISTANCE = 64.0
_MOST_POINTS = 1 << 15
_FLAT = 1e-5
_NOTHING = 1e-22
_SLACK = 1.001
"""Bounds of rounding may differ from one epsilon to the next by less than this."""
_BENDS = ((1e-4, _FLAT), (1e-15, 5e-4), (0.0, 1e-2))
"""How far a chord may lie above the curve, relatively, while delta is above the first number."""


@dataclass(frozen=True, slots=True, eq=False)
class Law:
    """A law of losses on a lattice; the mirror image below zero is understood.

    where
      step       distance of the lattice's points, a power of two
      places     losses above zero in steps, ascending, shape (n,)
      chances    their probabilities, shape (n,)
      zero       probability of no loss
      infinite   probability of a loss that nothing bounds
    """

    step: float
    places: NDArray[np.int64]
    chances: Floats
    zero: float
    infinite: float

    def delta(self, epsilon: float) -> float:
        """Its own curve at ``epsilon`` >= 0."""
        gap = self.places * self.step - epsilon
        above = gap > 0.0
        return self.infinite + float(np.dot(self.chances[above], -np.expm1(-gap[above])))

    def mirrored(self, step: float) -> tuple[NDArray[np.int64], Floats]:
        """Losses in ``step``, which divides its own, on both sides of zero, and their chances."""
        losses = self.places * self.step
        chances = [(self.chances * np.exp(-losses))[::-1], [self.zero], self.chances]
        places = self.places * round(self.step / step)
        origin = np.zeros(1, dtype=np.int64)
        return np.concatenate([-places[::-1], origin, places]), np.concatenate(chances)

    def coarser(self, step: float) -> "Law":
        """A law on the lattice of ``step`` that dominates this one."""
        if step <= self.step:
            return self
        last = math.ceil(self.places[-1] * self.step / step) if len(self.places) else 1
        return connected(step, {i: self.delta(i * step) for i in range(last + 1)})


def law_of(curve: Curve, reach: float) -> Law:
    """A law that dominates every pair of distributions whose divergences ``curve`` bounds.

    where
      reach   no finite loss is larger, as far as is known; math.inf when nothing is

    Raises AccountingError when the curve is no curve of a divergence.
    """
    distance = _checked(curve(0.0))
    if distance <= 0.0:
        return connected(1.0, {0: 0.0, 1: 0.0})
    end = _end(curve, min(reach, MOST_EPSILON))
    step = 2.0 ** math.ceil(math.log2(max(distance / _STEPS_A_DISTANCE, end / _MOST_POINTS)))
    step = max(step, LEAST_STEP)
    return connected(step, _points(curve, step, max(1, math.ceil(end / step))))


def connected(step: float, points: dict[int, float]) -> Law:
    """The law whose curve is made of chords between ``points``: place -> delta, 0 among them.

    Raises AccountingError for a delta that is no number in [0, 1] or rises.
    """
    places = np.array(sorted(points), dtype=np.int64)
    deltas = np.array([_checked(points[int(place)]) for place in places])
    if np.any(deltas[1:] > deltas[:-1] * _SLACK + _NOTHING):
        worst = int(np.argmax(deltas[1:] - deltas[:-1]))
        raise AccountingError(
            f"composition: wanted a delta that falls with epsilon, got {deltas[worst]} and then "
            f"{deltas[worst + 1]}; nothing may be promised from it"
        )
    deltas = np.minimum.accumulate(deltas)  # the true curve falls, so this bounds it as well
    gaps, falls = np.diff(places) * step, -np.diff(deltas)
    inner = np.append(falls[1:] / np.expm1(gaps[1:]), 0.0)
    chances = np.maximum(falls / -np.expm1(-gaps) - inner, 0.0)
    zero = max(0.0, 1.0 - deltas[0] - 2.0 * falls[0] / math.expm1(gaps[0]))
    keep = chances > 0.0
    return Law(step, places[1:][keep], chances[keep], zero, float(deltas[-1]))


def _checked(delta: float) -> float:
    if not 0.0 <= delta <= 1.0:  # NaN fails every comparison
        raise AccountingError(
            f"composition: wanted a delta in [0, 1], got {delta}; nothing may be promised from it"
        )
    return delta


def _end(curve: Curve, most: float) -> float:
    """Where the curve has come down to nothing, or to what it keeps for ever."""
    rest, end = _checked(curve(most)), most
    connected(1.0, {0: curve(0.0), 1: rest})  # it must not rise
    while end > LEAST_STEP and curve(end / 2.0) <= rest * (1.0 + _FLAT) + _NOTHING:
        end /= 2.0
    low = end / 2.0
    for _ in range(4):
        middle = (low + end) / 2.0
        low, end = (
            (low, middle) if curve(middle) <= rest * (1 + _FLAT) + _NOTHING else (middle, end)
        )
    return end


def _points(curve: Curve, step: float, last: int) -> dict[int, float]:
    """Points of the curve, close together wherever it bends."""
    points = {0: curve(0.0), last: curve(last * step)}
    open_ends = [(0, last)]
    while open_ends:
        a, b = open_ends.pop()
        middle = (a + b) // 2
        if middle in (a, b):
            continue
        points[middle] = curve(middle * step)
        share = math.expm1((b - middle) * step) / math.expm1((b - a) * step)
        chord = points[b] + (points[a] - points[b]) * share * math.exp((middle - a) * step)
        bend = next(bend for least, bend in _BENDS if points[b] >= least)
        if chord - points[middle] > bend * points[b] + _NOTHING:
            open_ends += [(a, middle), (middle, b)]
    return points
