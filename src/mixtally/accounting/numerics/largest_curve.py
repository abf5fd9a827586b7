"""The largest of several divergence curves at many epsilons, with chords to avoid computations.

As a function of e^epsilon a divergence is convex. So the chord between upper bounds at two epsilons
lies above the curve. Where a whole chord is below the largest divergence found for other curves,
nothing between its ends is computed. ``k_hot`` uses this module.
"""

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from mixtally.primitives.tails import Floats

Bound = Callable[[float, float], float]
"""A function of an epsilon and of a number, which returns an upper bound of a divergence at this
epsilon. If a cheaper bound is at most the number, the cheaper bound may be returned.
"""

_SLACK = 1.0 + 1e-12
"""Factor that covers the rounding of every chord."""


def largest_curve(curves: Iterable[Bound], epsilons: Sequence[float]) -> list[float]:
    """Return an upper bound of the largest curve at each of ``epsilons``, in their order.

    Curves that are probably the largest should come first: a chord can rule out a later curve only
    by comparison with earlier ones.
    """
    ascending, places = np.unique(np.asarray(epsilons, dtype=np.float64), return_inverse=True)
    found: Floats = np.zeros(len(ascending))
    for bound in curves:
        _raise_maximum(found, bound, ascending)
    return [float(value) for value in found[places]]


def _raise_maximum(found: Floats, bound: Bound, epsilons: Floats) -> None:
    """Raise ``found`` where this curve may exceed it."""
    known: dict[int, float] = {}

    def evaluate(place: int) -> float:
        if place not in known:
            known[place] = bound(float(epsilons[place]), float(found[place]))
            found[place] = max(found[place], known[place])
        return known[place]

    spans = [(0, len(epsilons) - 1)] if len(epsilons) else []
    while spans:
        first, last = spans.pop()
        chord = _chord(epsilons[first : last + 1], evaluate(first), evaluate(last))
        if np.any(chord > found[first + 1 : last]):
            middle = (first + last) // 2
            spans += [(first, middle), (middle, last)]


def _chord(epsilons: Floats, first: float, last: float) -> Floats:
    """Return the chord between both ends at the inner epsilons, computed without cancellation."""
    inner, span = epsilons[1:-1], math.expm1(epsilons[-1] - epsilons[0])
    before, after = np.expm1(inner - epsilons[0]), np.expm1(epsilons[-1] - inner)
    first_weight = after * np.exp(inner - epsilons[0])
    return np.asarray((first * first_weight + last * before) / span * _SLACK)
