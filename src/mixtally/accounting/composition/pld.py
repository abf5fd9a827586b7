"""The distribution of one plan's privacy loss, rounded so that it dominates the true one.

From the curve delta(epsilon) alone, its upper bounds: between two points of the curve in the variable
e^epsilon the true curve is convex, so the chord lies above it, and a curve made of chords is the
curve of a distribution whose losses sit exactly at the points. The true delta is the larger of both
directions, which makes the curve its own mirror image,

    delta(-x) = 1 - e^-x + e^-x delta(x),   P[loss = -x] = e^-x P[loss = x],

so losses above zero say everything: with points x_0 = 0 < x_1 < .. < x_n, d_i = delta(x_i),

    P[loss = x_i] = (d_{i-1} - d_i) / (1 - e^-(x_i - x_{i-1})) - (d_i - d_{i+1}) / (e^(x_{i+1} - x_i) - 1),
    P[loss = 0]   = 1 - d_0 - 2 (d_0 - d_1) / (e^{x_1} - 1),   P[loss infinite] = d_n.

A chance that rounding makes negative is set to zero, which only adds mass.

Any points give a valid distribution, so they may be few, where the curve bends most. Where they lie
f above the curve at most, so do they at negative epsilons, by the mirror; replacing one of several
distributions adds an expectation of that, so ``times`` of them composed gain ``times f`` at most. Lines through points on
either side lie below a convex curve, so points already known tell how far a chord can be off.

Source: Doroshenko, Ghazi, Kamath, Kumar, Manurangsi, Connect the Dots (2022), algorithm 1; its
symmetric form by the identity above.
"""  # noqa: E501

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from mixtally.accounting.composition.losses import LossDistribution
from mixtally.accounting.numerics.gap import WIDTHS_A_DISTANCE
from mixtally.errors import AccountingError
from mixtally.model.guarantee import MOST_EPSILON

Curve = Callable[[float], float]
"""An upper bound of delta at any epsilon in [0, 20]."""

LEAST_STEP = 2.0**-16
_STEPS_A_DISTANCE = 64.0
_MOST_POINTS = 1 << 15
_FIRST_POINTS = 8
_MOST_PIECES = 3
_MOST_PASSES = 64
_TINY = 1e-300
_FLAT = 1e-5
_NOTHING = 1e-22
_ROUNDING_NOISE, _ROUNDING_NOISE_SHARE = 1e-16, 1e-12
"""Far below any promise, and of delta(0): bounds of worst crowds and of rare values may rise by so
much from one epsilon to the next. All of them hold, and the least so far is what is taken."""
_LARGE_DELTA = 0.5
"""Of a message that tells so much the bounds are not close: a rise says nothing there."""
_SLACK = 1.003
"""Bounds may lie so far apart from one epsilon to the next: worst crowds are proved to 1e-3."""
_DEEP, _DEEP_BEND = 1e-15, 1e-2


class Tightness(NamedTuple):
    """How far chords may lie from the curve before points are added between them; one is enough.

    where
      bend    above the curve, relative to delta; 1e-2 is always enough where delta is below 1e-15
      shift   to its right, relative to epsilon or to the spread of the losses, whichever is larger
      rise    what a delta may exceed one of a smaller epsilon by, as a factor
      grain   into how many steps of the lattice delta(0) is cut, about
      floor   what may be added to any delta besides: to that of ``times`` composed at most so often
      share   of a delta that is aimed at, for that
    """

    bend: float
    shift: float
    rise: float = _SLACK
    grain: float = _STEPS_A_DISTANCE
    floor: float = _NOTHING
    share: float = 0.0

    def adapt_to_delta(self, delta: float, times: int) -> "Tightness":
        """As tight where ``times`` composed have to tell about ``delta``; looser far below it.

        A power of two, so that deltas which are alike need the same points.
        """
        floor = self.share * delta / times
        if floor <= self.floor:
            return self
        return self._replace(floor=2.0 ** math.floor(math.log2(floor)))


FINE = Tightness(bend=5e-4, shift=0.0)
"""Every delta above 1e-15 within 1e-3, or as close as the lattice lets it: hundreds of points."""
CLOSE = Tightness(bend=0.0, shift=1e-3, share=3e-4)
"""Every composed epsilon within one part in a thousand: some two hundred points."""
CLOSER = Tightness(bend=0.0, shift=2.5e-4)
"""Every composed epsilon within a quarter of that: for a part of what is to be composed again."""
ROUGH = Tightness(bend=0.0, shift=5e-3, rise=1.05, share=3e-3)
"""Every composed epsilon within half a percent: less than a hundred points for most plans.

For searches, whose deltas are expected and not proved: now and then a worse crowd is overlooked.
"""


def loss_distribution(curve: Curve, reach: float, tightness: Tightness = FINE) -> LossDistribution:
    """A distribution that dominates every pair of distributions whose divergences ``curve`` bounds.

    where
      reach   no finite loss is larger, as far as is known; math.inf when nothing is

    Raises AccountingError when the curve is no curve of a divergence.
    """
    return connect_points(*choose_points(curve, reach, tightness), tightness.rise)


def choose_points(
    curve: Curve, reach: float, tightness: Tightness
) -> tuple[float, dict[int, float]]:
    """Where ``curve`` has to be known for such a distribution: a step, and its multiples -> deltas.

    Another curve, of which this one is a good guess, needs points in the same places.
    """
    seen: dict[float, float] = {}

    def evaluate(epsilon: float) -> float:
        if epsilon not in seen:
            seen[epsilon] = _check_delta(curve(epsilon))
        return seen[epsilon]

    distance = evaluate(0.0)
    if distance <= 0.0 or reach <= 0.0:  # nothing is revealed but what rounding may hide
        return 1.0, {0: distance, 1: distance}
    step = max(LEAST_STEP, 2.0 ** math.ceil(math.log2(distance / tightness.grain)))
    end = _find_end(evaluate, step, min(reach, MOST_EPSILON), tightness.floor)
    step = max(step, 2.0 ** math.ceil(math.log2(end / _MOST_POINTS)))
    last = math.ceil(end / step)
    places = {round(epsilon / step) for epsilon in seen if epsilon % step == 0.0}
    places |= {last * i // _FIRST_POINTS for i in range(_FIRST_POINTS + 1)}
    points = {place: evaluate(place * step) for place in places if place <= last}
    for _ in range(_MOST_PASSES):
        more = _choose_more_places(step, points, distance, tightness)
        if not more:
            break
        points |= {place: evaluate(place * step) for place in more}
    return step, points


def prove_points(
    curve: Curve,
    prove: Callable[[list[float]], Sequence[float]],
    reach: float,
    tightness: Tightness,
) -> tuple[float, dict[int, float]]:
    """``chosen`` by what is expected, ``curve``, with what ``prove`` says at all these epsilons."""
    step, points = choose_points(curve, reach, tightness)
    return step, dict(zip(points, prove([place * step for place in points]), strict=True))


def connect_points(step: float, points: dict[int, float], rise: float = _SLACK) -> LossDistribution:
    """The distribution whose curve is made of chords between ``points``: place -> delta, 0 among
    them.

    Raises AccountingError for a delta that is no number in [0, 1] or rises by more than ``rise``.
    """
    places = np.array(sorted(points), dtype=np.int64)
    deltas = np.array([_check_delta(points[int(place)]) for place in places])
    unsure = max(_ROUNDING_NOISE, _ROUNDING_NOISE_SHARE * float(deltas[0]))
    if np.any(deltas[1:] > np.where(deltas[:-1] > _LARGE_DELTA, 1.0, deltas[:-1] * rise + unsure)):
        worst = int(np.argmax(deltas[1:] - deltas[:-1]))
        raise AccountingError(
            f"composition: expected a delta that falls with epsilon, got {deltas[worst]} and then "
            f"{deltas[worst + 1]}; nothing may be promised from it"
        )
    deltas = np.minimum.accumulate(deltas)  # the true curve falls, so this bounds it as well
    gaps, falls = np.diff(places) * step, -np.diff(deltas)
    inner = np.append(falls[1:] / np.expm1(gaps[1:]), 0.0)
    chances = np.maximum(falls / -np.expm1(-gaps) - inner, 0.0)
    zero = max(0.0, 1.0 - deltas[0] - 2.0 * falls[0] / math.expm1(gaps[0]))
    keep = chances > 0.0
    return LossDistribution(step, places[1:][keep], chances[keep], zero, float(deltas[-1]))


def _check_delta(delta: float) -> float:
    if not 0.0 <= delta <= 1.0:  # NaN fails every comparison
        raise AccountingError(
            f"composition: expected a delta in [0, 1], got {delta}; nothing may be promised from it"
        )
    return delta


def _find_end(curve: Curve, step: float, most: float, floor: float) -> float:
    """Where the curve has come down to nothing, or to what it keeps for ever.

    At steps of the lattice wherever it looks, so that nothing is computed twice.
    """
    rest = curve(most)
    connect_points(1.0, {0: curve(0.0), 1: rest})  # it must not rise
    enough = rest * (1.0 + _FLAT) + floor
    low, end = 0.0, 512.0 * step
    while end < most and curve(end) > enough:
        low, end = end, 2.0 * end
    end = min(end, most)
    for _ in range(3):
        middle = math.ceil((low + end) / (2.0 * step)) * step
        if middle >= end:
            break
        low, end = (low, middle) if curve(middle) <= enough else (middle, end)
    return end


def _choose_more_places(
    step: float, points: dict[int, float], distance: float, tightness: Tightness
) -> list[int]:
    """Places to look at next: inside the chords that may lie too far from the curve.

    Between two points the curve lies above the prolonged chords of both neighbors; where these meet
    it can be farthest below its own. A smooth curve is a quarter as far next to chords of the same
    width, half as far next to very short ones: that is what is compared.
    """
    places = np.array(sorted(points), dtype=np.int64)
    deltas = np.array([points[int(place)] for place in places])
    widths = np.diff(places) * step
    falls, growth, spans = -np.diff(deltas), np.exp(widths), np.expm1(widths)
    # Slopes in e^(epsilon - left end): of the mirror image below zero for the first left neighbor.
    chord = -falls / spans
    mirror = (deltas[0] - deltas[1]) / spans[0] + deltas[0] - 1.0
    before = np.concatenate([[mirror], (chord * growth)[:-1]])
    after = np.append(chord[1:], 0.0) / growth
    left, right = np.maximum(chord - before, 0.0), np.maximum(after - chord, 0.0)
    meets = right / np.maximum(left + right, _TINY)
    around = 0.5 * (np.append(widths[:1], widths[:-1]) + np.append(widths[1:], widths[-1:]))
    apart = 0.5 * widths / (widths + around) * left * meets * spans
    bends = np.where(deltas[1:] < _DEEP, max(_DEEP_BEND, tightness.bend), tightness.bend)
    spread = np.maximum(places[1:] * step, WIDTHS_A_DISTANCE * distance)
    allowed = np.maximum(bends * deltas[1:], tightness.shift * spread * falls / widths)
    allowed += tightness.floor
    more: list[int] = []
    for i in np.flatnonzero((apart > allowed) & (np.diff(places) > 1)):
        first, gap = int(places[i]), int(places[i + 1] - places[i])
        pieces = math.ceil(math.sqrt(apart[i] / allowed[i]))
        if pieces > _MOST_PIECES:
            share = math.log1p(float(meets[i]) * float(spans[i])) / float(widths[i])
            more.append(first + min(max(round(gap * min(max(share, 0.1), 0.9)), 1), gap - 1))
        else:
            more += {first + max(1, gap * j // pieces) for j in range(1, pieces)}
    return more
