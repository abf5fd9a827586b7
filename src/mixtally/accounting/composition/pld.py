"""The privacy loss distribution of a mechanism, constructed from its curve delta(epsilon).

``messages``, ``plans.honest_part`` and the planner use this module to compose mechanisms of which
only upper bounds of delta are known. The constructed distribution dominates the true one.

*Construction.* As a function of e^epsilon the true curve is convex, so the chord between two of its
points lies above it. A curve of chords is the curve of a distribution whose losses are exactly the
end points of the chords. The given delta is the larger one of both orders of the neighbors. So the
curve is its own mirror image,

    delta(-x) = 1 - e^-x + e^-x delta(x),   P[loss = -x] = e^-x P[loss = x],

and the losses above zero determine the distribution. With the points x_0 = 0 < x_1 < .. < x_n and
d_i = delta(x_i),

    P[loss = x_i] = (d_{i-1} - d_i) / (1 - e^-(x_i - x_{i-1}))
                    - (d_i - d_{i+1}) / (e^(x_{i+1} - x_i) - 1),
    P[loss = 0]   = 1 - d_0 - 2 (d_0 - d_1) / (e^{x_1} - 1),   P[loss infinite] = d_n.

A probability that rounding makes negative is replaced by zero, which only adds mass.

*Choice of points.* Every choice of points gives a valid distribution, so few points suffice if they
lie where the curve bends most. Suppose that the chords exceed the curve by at most f. By the mirror
image this is so at negative epsilons too. Replacing one of several composed distributions adds an
expectation of this excess, so a composition of ``times`` of them gains at most ``times f``. The
prolonged chords of both neighbors lie below a convex curve. So the known points bound the excess of
a chord.

Source: Doroshenko, Ghazi, Kamath, Kumar, Manurangsi, Connect the Dots (2022), algorithm 1; its
symmetric form by the identity above.
"""

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
"""Finest step of a lattice."""
_STEPS_A_DISTANCE = 64.0
"""Usual number of lattice steps into which delta(0) is divided."""
_MOST_POINTS = 1 << 15
"""Largest number of lattice points up to the end of a curve."""
_FIRST_POINTS = 8
_MOST_PIECES = 3
"""Largest number of pieces into which one pass divides a chord."""
_MOST_PASSES = 64
_TINY = 1e-300
_FLAT = 1e-5
"""Relative excess over its last value at which the curve counts as constant."""
_NOTHING = 1e-22
"""Excess that is always accepted."""
_ROUNDING_NOISE, _ROUNDING_NOISE_SHARE = 1e-16, 1e-12
"""Rise of delta from one epsilon to the next that is accepted, absolute and as a share of delta(0).

Bounds of worst datasets and of rare values may rise this much. Every bound is valid, so the least
one so far is used.
"""
_LARGE_DELTA = 0.5
"""Delta from which on bounds are loose, so that a rise indicates no error."""
_SLACK = 1.003
"""Accepted factor by which a bound may exceed the bound at a smaller epsilon, because worst
datasets are proved up to 1e-3.
"""
_DEEP, _DEEP_BEND = 1e-15, 1e-2
"""Delta below which the second number is an accepted relative excess."""


class Tightness(NamedTuple):
    """Limits of the excess of chords over the curve; a chord that meets one limit is not divided.

    Attributes
    ----------
    bend
        Excess relative to delta. Where delta is below 1e-15, a relative excess of 1e-2 is always
        accepted.
    shift
        Excess, measured as a shift of the curve to larger epsilons: relative to the larger of
        epsilon and the spread of the losses.
    rise
        Factor by which a delta may exceed the delta of a smaller epsilon.
    grain
        Approximate number of lattice steps into which delta(0) is divided.
    floor
        Absolute excess that is accepted for one distribution. The excess of a composition of
        ``times`` distributions is at most ``times`` this number.
    share
        Share of the target delta from which ``adapt_to_delta`` computes ``floor``.
    """

    bend: float
    shift: float
    rise: float = _SLACK
    grain: float = _STEPS_A_DISTANCE
    floor: float = _NOTHING
    share: float = 0.0

    def adapt_to_delta(self, delta: float, times: int) -> "Tightness":
        """Return the tightness for ``times`` composed messages whose delta is about ``delta``.

        The floor is a power of two, so that similar deltas share their points.
        """
        floor = self.share * delta / times
        if floor <= self.floor:
            return self
        return self._replace(floor=2.0 ** math.floor(math.log2(floor)))


FINE = Tightness(bend=5e-4, shift=0.0)
"""Every delta above 1e-15 within 1e-3, or as tight as the lattice allows, with hundreds of points.
"""
CLOSE = Tightness(bend=0.0, shift=1e-3, share=3e-4)
"""Every composed epsilon within one part in a thousand, with about two hundred points."""
CLOSER = Tightness(bend=0.0, shift=2.5e-4)
"""Every composed epsilon with a quarter of the error of ``CLOSE``, for a part that is composed
again."""
ROUGH = Tightness(bend=0.0, shift=5e-3, rise=1.05, share=3e-3)
"""Every composed epsilon within half a percent, with less than a hundred points for most plans.

For searches, whose deltas are estimates and not proved: a worse dataset is sometimes overlooked.
"""


def loss_distribution(curve: Curve, reach: float, tightness: Tightness = FINE) -> LossDistribution:
    """Return a loss distribution that dominates every pair with a divergence of at most ``curve``.

    ``reach`` is the largest known finite loss, or ``math.inf``. Raises AccountingError if ``curve``
    is not the curve of a divergence.
    """
    return connect_points(*choose_points(curve, reach, tightness), tightness.rise)


def choose_points(
    curve: Curve, reach: float, tightness: Tightness
) -> tuple[float, dict[int, float]]:
    """Choose points of ``curve`` whose chords are as close to the curve as ``tightness`` requires.

    Return a step, and the delta at each chosen multiple of the step. ``reach`` is the largest
    finite loss, or ``math.inf``. If ``curve`` is an estimate, the proved curve needs points at the
    same multiples.
    """
    seen: dict[float, float] = {}

    def evaluate(epsilon: float) -> float:
        if epsilon not in seen:
            seen[epsilon] = _check_delta(curve(epsilon))
        return seen[epsilon]

    distance = evaluate(0.0)
    if distance <= 0.0 or reach <= 0.0:  # delta is zero up to rounding
        return 1.0, {0: distance, 1: distance}
    # A power of two, so that every lattice is a refinement of every coarser one.
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
    """Choose points by an estimated ``curve``, and return the points with their proved deltas.

    ``prove`` is called once. It takes the epsilons of all points, and returns their proved deltas.
    The result is a step, and the proved delta at each chosen multiple of the step.
    """
    step, points = choose_points(curve, reach, tightness)
    return step, dict(zip(points, prove([place * step for place in points]), strict=True))


def connect_points(step: float, points: dict[int, float], rise: float = _SLACK) -> LossDistribution:
    """Return the distribution whose curve consists of chords between ``points``.

    ``points`` maps multiples of ``step``, including 0, to delta. Raises AccountingError if a delta
    is not in [0, 1], or exceeds the delta of a smaller epsilon by more than the factor ``rise``.
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
    deltas = np.minimum.accumulate(deltas)  # still an upper bound: the true curve falls
    gaps, falls = np.diff(places) * step, -np.diff(deltas)
    inner = np.append(falls[1:] / np.expm1(gaps[1:]), 0.0)
    # A negative probability is due to rounding; replacing it by zero only adds mass.
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
    """Return an epsilon at which the curve has nearly fallen to its value at ``most``.

    There the curve exceeds this value by at most ``floor`` and a small share of the value. Only
    multiples of the step are tried, so that no value is computed twice.
    """
    rest = curve(most)
    connect_points(1.0, {0: curve(0.0), 1: rest})  # raises if the curve rises
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
    """Return places inside the chords that may exceed the curve by too much.

    Between two points the curve lies above the prolonged chords of both neighbors. The curve can be
    farthest below its own chord where these prolongations meet. For a smooth curve the excess is a
    quarter of this distance if the neighboring chords have the same width, and half if they are
    very short.
    """
    places = np.array(sorted(points), dtype=np.int64)
    deltas = np.array([points[int(place)] for place in places])
    widths = np.diff(places) * step
    falls, growth, spans = -np.diff(deltas), np.exp(widths), np.expm1(widths)
    # Slopes in e^(epsilon - left end). The mirror image below zero is the first left neighbor.
    chord = -falls / spans
    mirror = (deltas[0] - deltas[1]) / spans[0] + deltas[0] - 1.0
    before = np.concatenate([[mirror], (chord * growth)[:-1]])
    after = np.append(chord[1:], 0.0) / growth
    left, right = np.maximum(chord - before, 0.0), np.maximum(after - chord, 0.0)
    meeting_share = right / np.maximum(left + right, _TINY)
    around = 0.5 * (np.append(widths[:1], widths[:-1]) + np.append(widths[1:], widths[-1:]))
    chord_distance = 0.5 * widths / (widths + around) * left * meeting_share * spans
    bends = np.where(deltas[1:] < _DEEP, max(_DEEP_BEND, tightness.bend), tightness.bend)
    spread = np.maximum(places[1:] * step, WIDTHS_A_DISTANCE * distance)
    allowed = np.maximum(bends * deltas[1:], tightness.shift * spread * falls / widths)
    allowed += tightness.floor
    more: list[int] = []
    for i in np.flatnonzero((chord_distance > allowed) & (np.diff(places) > 1)):
        first, gap = int(places[i]), int(places[i + 1] - places[i])
        pieces = math.ceil(math.sqrt(chord_distance[i] / allowed[i]))
        if pieces > _MOST_PIECES:
            share = math.log1p(float(meeting_share[i]) * float(spans[i])) / float(widths[i])
            more.append(first + min(max(round(gap * min(max(share, 0.1), 0.9)), 1), gap - 1))
        else:
            more += {first + max(1, gap * j // pieces) for j in range(1, pieces)}
    return more
