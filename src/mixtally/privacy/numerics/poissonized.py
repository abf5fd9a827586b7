"""Averages of a falling function over a number of fakes, against those over a Poisson number.

With g falling from at most 1 to at least 0 and H ~ Bin(n, q) fakes in some cells, g is a mixture of
indicators of H <= t, so that with R(t) = P(H <= t) / P(X <= t), X ~ Poisson(mean),

    (min R) E g(X) <= E g(H) <= (max R) E g(X).

P(H = t) / P(X = t) is log-concave, as the ratio of neighbors is (n - t) q / ((1 - q) mean); R(t) is
its average up to t, so R rises to one maximum and then falls to its limit, 1. For mean = n q the
maximum lies at t >= floor(n q), as the ratio of chances rises until there. Of a larger mean, R >= 1
from the first t on where it is, and what lies below changes E g(X) by P(X < t) at most.

(max R is at most the largest ratio of chances, and at most 2 for q = 1, where that has no bound.)
The sum of two binomials is bounded by both factors, one after the other.

Source: proved here.
"""

import math
from typing import NamedTuple

import numpy as np

from mixtally.errors import AccountingError
from mixtally.ground import tails
from mixtally.ground.tails import Floats

_SLACK = 1e-9
_UNIT = 2.0**-53
_HALVINGS = 10


class Below(NamedTuple):
    """E g(H) >= share E g(X) - lost, X ~ Poisson(mean)."""

    mean: float
    share: float
    lost: float


def poisson_window(mean: float) -> tails.Window:
    """Where Poisson(mean) lives, all but ``CUT_TAIL`` on either side, by Bernstein's inequality."""
    third = -math.log(tails.CUT_TAIL) / 3.0
    reach = third + math.sqrt(third * third + 6.0 * third * mean)
    return tails.Window(max(0, math.ceil(mean - reach)), math.floor(mean + reach) + 1)


def poisson_pmf(mean: float) -> Floats:
    """P(X = c) for c in the window of X ~ Poisson(mean), mean > 0: by ratios from the middle on.

    They are divided by their sum, which lacks two tails. Raises AccountingError when the largest is
    not what Stirling's series says.
    """
    first, last = poisson_window(mean)
    middle = min(max(math.floor(mean), first), last)
    rising = np.cumprod(mean / np.arange(middle + 1, last + 1, dtype=np.float64))
    falling = np.cumprod(np.arange(middle, first, -1, dtype=np.float64) / mean)
    chances: Floats = np.concatenate([falling[::-1], [1.0], rising])
    chances /= chances.sum()
    expected = math.exp(middle * math.log(mean) - mean - math.lgamma(middle + 1.0))
    if (
        not abs(float(chances[middle - first]) - expected)
        <= (_SLACK + 64.0 * _UNIT * mean) * expected
    ):
        raise AccountingError(
            f"Poisson: wanted {expected} for the likeliest of mean {mean}, got "
            f"{chances[middle - first]}; nothing may be promised from it"
        )
    return chances


def factor(trials: int, chance: float) -> float:
    """The largest R for the Poisson number of the same mean, 1 for no trials; 0 <= chance <= 1."""
    mean = trials * chance
    if not trials or not chance:
        return 1.0
    first, last = poisson_window(mean)
    start = math.floor(mean * (1.0 - _SLACK))
    ours = _up_to(trials, chance, first, last)
    theirs = np.cumsum(poisson_pmf(mean))
    found = float((ours / theirs)[max(0, start - first) :].max()) * (1.0 + _SLACK)
    if not 1.0 <= found < 3.0:
        raise AccountingError(
            f"number of fakes: wanted a factor in [1, 3), got {found}; nothing may be promised"
        )
    return found


def below(trials: int, chance: float, most: float) -> Below:
    """The same from below, with no more than about ``most`` lost, in (0, 1)."""
    mean = trials * chance
    if not trials or not chance:
        return Below(0.0, 1.0, 0.0)
    far = math.sqrt(-2.0 * math.log(most) * mean)
    low, high = 0.0, 4.0 * far + 8.0 * far * far / mean
    found = _below(trials, chance, mean + high, most)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        tried = _below(trials, chance, mean + middle, most)
        if tried.share >= 1.0 - _SLACK * 2.0:
            high, found = middle, tried
        else:
            low = middle
    return found


def _below(trials: int, chance: float, mean: float, most: float) -> Below:
    first, last = poisson_window(mean)
    theirs = np.cumsum(poisson_pmf(mean))
    place = int(np.searchsorted(theirs, most, side="right"))
    lost = float(theirs[place - 1]) if place else 0.0
    lost = lost * (1.0 + _SLACK) + tails.CUT_TAIL
    ours = _up_to(trials, chance, first, last)[place] - tails.CUT_TAIL
    share = ours * (1.0 - _SLACK) / (float(theirs[place]) + tails.CUT_TAIL)
    return Below(mean, max(0.0, min(1.0, share)), lost)


def _up_to(trials: int, chance: float, first: int, last: int) -> Floats:
    """P(H <= t) for t = first..last, plus at most ``CUT_TAIL``."""
    if chance >= 1.0:
        return np.where(np.arange(first, last + 1) >= trials, 1.0, 0.0)
    low, high = tails.window(trials, chance)
    sums = np.minimum(np.cumsum(tails.pmf(trials, chance, low, high)) + tails.CUT_TAIL, 1.0)
    places = np.clip(np.arange(first, last + 1) - low, -1, high - low)
    found: Floats = np.where(places < 0, tails.CUT_TAIL, sums[np.maximum(places, 0)])
    return found
