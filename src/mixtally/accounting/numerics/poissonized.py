"""Averages of a falling function over a number of fakes, against those over a Poisson number.

With g falling from at most 1 to at least 0 and H fakes in some cells, a binomial number or the sum
of several, g is a mixture of indicators of H <= t, so that with R(t) = P(H <= t) / P(X <= t),
X ~ Poisson(mean),

    (min R) E g(X) <= E g(H) <= (max R) E g(X).

P(H = t) / P(X = t) is log-concave (Newton's inequalities, as H is a sum of independent events);
R(t) is its average up to t, so R rises to one maximum and then falls to its limit, 1. Before a t at
which R < 1 it is less still. Of one binomial number and mean = n q the maximum lies at
t >= floor(n q): the ratio of neighbors, (n - t) q / ((1 - q) mean), is 1 or more until there, and
larger for a smaller mean. Of a larger mean, R >= 1 from the first t on where it is, and what lies
below changes E g(X) by P(X < t) at most.

(max R is at most the largest ratio of chances, and at most 2 for q = 1, where that has no bound.)
H is closer to its mean than X. Where many messages are composed, each with an H of its own, their
factors are multiplied: half a standard deviation off the mean of X leaves max R near 1.
Each of several binomials may also be bounded for itself, one after the other.

Source: proved here; Newton's inequalities as in Hardy, Littlewood, Polya, Inequalities, 2.22.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from mixtally.errors import AccountingError
from mixtally.primitives import tails
from mixtally.primitives.tails import Floats

_SLACK = 1e-9
_MANY = 500
"""Stirling's series is known to ten digits and more by two terms."""
_HALVINGS = 10
_FAR, _NEARLY = 4.0, 1.0 + 2.0**-13
"""So many standard deviations off its mean a Poisson number has no factor to speak of; and what is
none, for a thousand messages together."""

Binomials = Sequence[tuple[int, float]]
"""Trials and chances of independent numbers."""


class UpperPoissonBound(NamedTuple):
    """E g(H) <= share E g(X), X ~ Poisson(mean)."""

    mean: float
    share: float


class LowerPoissonBound(NamedTuple):
    """E g(H) >= share E g(X) - lost, X ~ Poisson(mean)."""

    mean: float
    share: float
    additive_loss: float


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
    expected = _chance(middle, mean)
    if not abs(float(chances[middle - first]) - expected) <= _SLACK * expected:
        raise AccountingError(
            f"Poisson: expected {expected} for the likeliest of mean {mean}, got "
            f"{chances[middle - first]}; nothing may be promised from it"
        )
    return chances


def _chance(count: int, mean: float) -> float:
    """P(X = count) for the integer below ``mean``; of many by Stirling's series."""
    if count < _MANY:
        return math.exp(count * math.log(mean) - mean - math.lgamma(count + 1.0))
    more = mean - count
    series = 1.0 / (12.0 * count) - 1.0 / (360.0 * count**3)
    exponent = count * math.log1p(more / count) - more - series
    return math.exp(exponent) / math.sqrt(2.0 * math.pi * count)


def upper_factor(binomials: Binomials) -> float:
    """The largest R for the Poisson number of the same mean, 1 for no trials; 0 <= chance <= 1."""
    return _combine_bounds(binomials, lambda some: _BinomialSum(some).bound_above(0.0)).share


def bound_above(binomials: Binomials) -> UpperPoissonBound:
    """The same with hardly a factor, for a smaller mean."""
    return _combine_bounds(binomials, lambda some: _BinomialSum(some).bound_nearly_one())


def _combine_bounds(
    binomials: Binomials, found: Callable[[Binomials], UpperPoissonBound | None]
) -> UpperPoissonBound:
    """What is found of all together or, where that is nothing, of each for itself."""
    some = [(trials, chance) for trials, chance in binomials if trials * chance > 0.0]
    if (together := found(some) if some else UpperPoissonBound(0.0, 1.0)) is not None:
        return together
    each = [one for one in (found([binomial]) for binomial in some) if one is not None]
    return UpperPoissonBound(
        math.fsum(one.mean for one in each), math.prod(one.share for one in each)
    )


class _BinomialSum:
    """The sum of binomial numbers against Poisson numbers of no larger means."""

    def __init__(self, binomials: Binomials) -> None:
        self.mean = math.fsum(trials * chance for trials, chance in binomials)
        self.deviation = math.sqrt(self.mean)
        self.low, self.sums = _cumulate_binomials(binomials)
        start = self.mean * (1.0 - _SLACK) - (self.deviation if len(binomials) > 1 else 0.0)
        self.start, self.is_single = math.floor(start), len(binomials) == 1

    def bound_above(self, less: float) -> UpperPoissonBound | None:
        """For a mean that is so much ``less``; None where no maximum is seen to come."""
        mean = self.mean - less
        first, last = poisson_window(mean)
        ours = _slice_sums(self.low, self.sums, first, last)
        ratios = ours / np.cumsum(poisson_pmf(mean))
        start = min(max(0, self.start - first), len(ratios) - 1)
        if not self.is_single and start and not ratios[start] < 1.0 - _SLACK:
            return None
        found = max(1.0, float(ratios[start:].max())) * (1.0 + _SLACK)
        if not 1.0 <= found < 3.0:
            raise AccountingError(
                f"number of fakes: expected a factor in [1, 3), got {found}; nothing may be "
                f"promised"
            )
        return UpperPoissonBound(mean, found)

    def bound_nearly_one(self) -> UpperPoissonBound | None:
        """For the largest mean of hardly a factor, or half of all."""
        low, high = 0.0, min(self.deviation, 0.5 * self.mean)
        found = self.bound_above(high)
        if found is None or found.share > _NEARLY:  # nearly all of them are certain
            low, high = high, min(_FAR * high, 0.5 * self.mean)
            found = self.bound_above(high)
        for _ in range(_HALVINGS // 2):
            middle = 0.5 * (low + high)
            tried = self.bound_above(middle)
            if tried is not None and tried.share <= _NEARLY:
                high, found = middle, tried
            else:
                low = middle
        return found


def bound_below(trials: int, chance: float, most: float) -> LowerPoissonBound:
    """The same from below, with no more than about ``most`` lost, in (0, 1)."""
    mean = trials * chance
    if not trials or not chance:
        return LowerPoissonBound(0.0, 1.0, 0.0)
    far = math.sqrt(-2.0 * math.log(most) * mean)
    low, high = 0.0, 4.0 * far + 8.0 * far * far / mean
    found = _bound_below(trials, chance, mean + high, most)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        tried = _bound_below(trials, chance, mean + middle, most)
        if tried.share >= 1.0 - _SLACK * 2.0:
            high, found = middle, tried
        else:
            low = middle
    return found


def _bound_below(trials: int, chance: float, mean: float, most: float) -> LowerPoissonBound:
    first, last = poisson_window(mean)
    theirs = np.cumsum(poisson_pmf(mean))
    place = int(np.searchsorted(theirs, most, side="right"))
    lost = float(theirs[place - 1]) if place else 0.0
    lost = lost * (1.0 + _SLACK) + tails.CUT_TAIL
    ours = (
        _slice_sums(*_cumulate_binomials([(trials, chance)]), first, last)[place] - tails.CUT_TAIL
    )
    share = ours * (1.0 - _SLACK) / (float(theirs[place]) + tails.CUT_TAIL)
    return LowerPoissonBound(mean, max(0.0, min(1.0, share)), lost)


def _cumulate_binomials(binomials: Binomials) -> tuple[int, Floats]:
    """P(H <= t) for the t from a first one on, plus at most ``CUT_TAIL`` for each of them."""
    begin, pmf = 0, np.ones(1)
    for trials, chance in binomials:
        low, high = tails.window(trials, chance) if chance < 1.0 else (trials, trials)
        own = tails.pmf(trials, chance, low, high) if chance < 1.0 else np.ones(1)
        begin, pmf = begin + low, _convolve(pmf, own)
    sums: Floats = np.minimum(np.cumsum(pmf) + len(binomials) * tails.CUT_TAIL, 1.0)
    return begin, sums


def _convolve(one: Floats, other: Floats) -> Floats:
    """The distribution of a sum; errors are far below what one of its likelier values has."""
    if min(len(one), len(other)) == 1:
        return one * other
    count = len(one) + len(other) - 1
    length = 1 << (count - 1).bit_length()
    found = np.fft.irfft(np.fft.rfft(one, length) * np.fft.rfft(other, length), length)
    made: Floats = np.maximum(found[:count], 0.0)
    return made


def _slice_sums(low: int, sums: Floats, first: int, last: int) -> Floats:
    """``sums``, which begin at ``low``, for t = first..last."""
    places = np.clip(np.arange(first, last + 1) - low, -1, len(sums) - 1)
    found: Floats = np.where(places < 0, tails.CUT_TAIL, sums[np.maximum(places, 0)])
    return found
