"""Comparison of a binomial number of fakes with a Poisson number.

``set_in_clear`` needs the average of a falling function g over the number H of fakes in some bins,
with values in [0, 1]. H is binomial or a sum of independent binomial numbers. Poisson numbers X are
easier, because the Poisson numbers of disjoint bins are independent.

*Bounds.* A falling g is a mixture of indicators of {H <= t}. With R(t) = P(H <= t) / P(X <= t) and
X ~ Poisson(mean), therefore

    (min R) E g(X) <= E g(H) <= (max R) E g(X).

*Shape of R.* H is a sum of independent events, so P(H = t) / P(X = t) is log-concave by Newton's
inequalities. R(t) is the average of this ratio up to t. So R rises to one maximum and then falls to
its limit 1. If R(t) < 1, then R is smaller still before t.

*Place of the maximum.* For one binomial number Bin(n, q) and mean = n q, the maximum lies at some t
>= floor(n q). The ratio of neighbors, (n - t) q / ((1 - q) mean), is at least 1 up to there, and it
is larger for a smaller mean. For a larger mean, R >= 1 from the first t on where that is so, and
the values below t change E g(X) by at most P(X < t).

*Size.* max R is at most the largest ratio of probabilities. For q = 1 that ratio has no bound, but
max R is at most 2: H is closer to its mean than X. If many messages are composed, each with its own
H, their factors are multiplied; a mean of X that is half a standard deviation lower keeps max R
near 1. Several binomial numbers may also be bounded one after the other.

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
"""Relative rounding error of the cumulative sums, with a margin."""
_MANY = 500
"""Count from which on two terms of Stirling's series give ten digits."""
_HALVINGS = 10
"""Bisection steps in the search for the mean."""
_FAR, _NEARLY = 4.0, 1.0 + 2.0**-13
"""Standard deviations below the mean at which the factor is about 1, and a factor that is
negligible.

The factor is negligible even when a thousand messages multiply it.
"""

Binomials = Sequence[tuple[int, float]]
"""Trials and probabilities of independent binomial numbers."""


class UpperPoissonBound(NamedTuple):
    """An upper bound: E g(H) <= share E g(X) with X ~ Poisson(mean).

    H is the number of fakes in some bins. The bound is valid for every falling g with values in [0,
    1].
    """

    mean: float
    share: float


class LowerPoissonBound(NamedTuple):
    """A lower bound: E g(H) >= share E g(X) - additive_loss with X ~ Poisson(mean).

    H is the number of fakes in some bins. The bound is valid for every falling g with values in [0,
    1].
    """

    mean: float
    share: float
    additive_loss: float


def poisson_window(mean: float) -> tails.Window:
    """Return integers that Poisson(mean) leaves with probability ``CUT_TAIL`` on either side.

    The window is from Bernstein's inequality.
    """
    third = -math.log(tails.CUT_TAIL) / 3.0
    reach = third + math.sqrt(third * third + 6.0 * third * mean)
    return tails.Window(max(0, math.ceil(mean - reach)), math.floor(mean + reach) + 1)


def poisson_pmf(mean: float) -> Floats:
    """Return P(X = c) for c in the window of X ~ Poisson(mean), with mean > 0.

    Ratios of neighbors are multiplied from the middle outwards and divided by their sum, which
    lacks two tails. Raises AccountingError if the largest probability differs from Stirling's
    series.
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
    """Return P(X = count) for X ~ Poisson(mean), where ``count`` is ``mean`` rounded down.

    For large counts Stirling's series is used.
    """
    if count < _MANY:
        return math.exp(count * math.log(mean) - mean - math.lgamma(count + 1.0))
    more = mean - count
    series = 1.0 / (12.0 * count) - 1.0 / (360.0 * count**3)
    exponent = count * math.log1p(more / count) - more - series
    return math.exp(exponent) / math.sqrt(2.0 * math.pi * count)


def upper_factor(binomials: Binomials) -> float:
    """Return an upper bound of max R if X has the same mean as H; 1 if there are no trials."""
    return _combine_bounds(binomials, lambda some: _BinomialSum(some).bound_above(0.0)).share


def bound_above(binomials: Binomials) -> UpperPoissonBound:
    """Return an upper bound with a factor near 1, for a Poisson number of smaller mean."""
    return _combine_bounds(binomials, lambda some: _BinomialSum(some).bound_nearly_one())


def _combine_bounds(
    binomials: Binomials, found: Callable[[Binomials], UpperPoissonBound | None]
) -> UpperPoissonBound:
    """Return the bound of all binomial numbers jointly or, if there is none, of each separately."""
    some = [(trials, chance) for trials, chance in binomials if trials * chance > 0.0]
    if (joint := found(some) if some else UpperPoissonBound(0.0, 1.0)) is not None:
        return joint
    each = [one for one in (found([binomial]) for binomial in some) if one is not None]
    return UpperPoissonBound(
        math.fsum(one.mean for one in each), math.prod(one.share for one in each)
    )


class _BinomialSum:
    """A sum of binomial numbers, compared with Poisson numbers of no larger mean."""

    def __init__(self, binomials: Binomials) -> None:
        self.mean = math.fsum(trials * chance for trials, chance in binomials)
        self.deviation = math.sqrt(self.mean)
        self.low, self.sums = _cumulate_binomials(binomials)
        start = self.mean * (1.0 - _SLACK) - (self.deviation if len(binomials) > 1 else 0.0)
        self.start, self.is_single = math.floor(start), len(binomials) == 1

    def bound_above(self, less: float) -> UpperPoissonBound | None:
        """Return the bound for a mean decreased by ``less``; None if no maximum of R is certain."""
        mean = self.mean - less
        first, last = poisson_window(mean)
        ours = _slice_sums(self.low, self.sums, first, last)
        ratios = ours / np.cumsum(poisson_pmf(mean))
        # R rises up to ``start`` (checked next for several numbers), so its maximum is not earlier.
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
        """Return the bound for the largest mean of X at which the factor max R is near 1.

        If the factor is near 1 at none of the tried means, return the bound for the least of them,
        which is at least half the mean of H. Return None if no maximum of R is certain.
        """
        low, high = 0.0, min(self.deviation, 0.5 * self.mean)
        found = self.bound_above(high)
        if found is None or found.share > _NEARLY:  # nearly all events are certain
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
    """Return a lower bound of E g(H) whose additive loss is about ``most``, a number in (0, 1)."""
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
    """Return the lower bound for one mean of X.

    The values of X whose probabilities sum to at most ``most`` are left out and become the loss.
    """
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
    """Return the first t and upper bounds of P(H <= t) from there on.

    Each bound exceeds the probability by at most ``CUT_TAIL`` per binomial number.
    """
    begin, pmf = 0, np.ones(1)
    for trials, chance in binomials:
        low, high = tails.window(trials, chance) if chance < 1.0 else (trials, trials)
        own = tails.pmf(trials, chance, low, high) if chance < 1.0 else np.ones(1)
        begin, pmf = begin + low, _convolve(pmf, own)
    sums: Floats = np.minimum(np.cumsum(pmf) + len(binomials) * tails.CUT_TAIL, 1.0)
    return begin, sums


def _convolve(one: Floats, other: Floats) -> Floats:
    """Return the distribution of a sum; its errors are far below its likelier probabilities."""
    if min(len(one), len(other)) == 1:
        return one * other
    count = len(one) + len(other) - 1
    length = 1 << (count - 1).bit_length()
    found = np.fft.irfft(np.fft.rfft(one, length) * np.fft.rfft(other, length), length)
    # The Fourier transform may leave tiny negative numbers.
    made: Floats = np.maximum(found[:count], 0.0)
    return made


def _slice_sums(low: int, sums: Floats, first: int, last: int) -> Floats:
    """Return ``sums``, which begin at ``low``, for t = first..last."""
    places = np.clip(np.arange(first, last + 1) - low, -1, len(sums) - 1)
    found: Floats = np.where(places < 0, tails.CUT_TAIL, sums[np.maximum(places, 0)])
    return found
