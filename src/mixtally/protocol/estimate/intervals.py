"""Confidence intervals for true counts by inversion of an exact test.

The estimators call ``intervals`` for the bins of a tally. Let S be the tally of a bin with z
people, s the observed tally, and P_z the exact distribution of S. The interval contains each z for
which P_z(S >= s) and P_z(S <= s) both exceed half the allowed error probability. The first
probability increases with z and the second decreases, so the accepted z form an interval. As z
grows, the quantiles of the noise change only a few times. Bisection over z therefore finds the ends
for all bins at once.
"""

import math
from collections.abc import Callable
from functools import partial
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import strictly_within
from mixtally.model.estimates import Intervals, Tally
from mixtally.model.mechanism import Shuffled
from mixtally.primitives.tails import Floats
from mixtally.protocol.estimate.cumulants import cornish_fisher_ends
from mixtally.protocol.estimate.noise import KnownTotal, NoiseCache, reach
from mixtally.protocol.estimate.projection import count_cumulants, slope_of, use_total

EXACT = "exact test inversion"
NORMAL = "normal approximation"
MOST_EXACT_ONES = 2000.0
"""Intervals are exact up to this expected number of flipped bits in a bin. Above it, the normal
approximation with ``cumulants`` is as good and much faster."""
_MOST_DISTINCT = 32
"""With sampled slots, intervals are exact up to this number of different tallies. The exact test
needs a distribution for nearly every possible count, because the number of people who send a bin
varies."""
_STEPS = 30
"""The maximum number of iterations for the ends of sampled slots. Each divides the error by two or
more."""
_PRECISION = 1e-3
"""The iteration for the ends of sampled slots stops if no end moves by this number of counts."""


def check_level(level: float) -> float:
    """Return ``level``; raise ParameterError unless it lies in (0, 1)."""
    strictly_within("confidence level", level, 0.0, 1.0, "0.95 is common")
    return level


def intervals(
    mechanism: Shuffled,
    tally: Tally,
    level: float,
    *,
    simultaneous_over: int,
    exact_ones: float | None = None,
    noises: NoiseCache | None = None,
    total: KnownTotal | None = None,
) -> Intervals:
    """Return equal-tailed intervals for the true count of each bin, as integers, shape (bins,).

    Parameters
    ----------
    mechanism, tally : Shuffled, Tally
        The mechanism of the messages, fakes included, and their tally.
    level : float
        The confidence level, in (0, 1).
    simultaneous_over : int
        The number of intervals among which the error probability 1 - ``level`` is divided
        (Bonferroni, valid for dependent bins).
    exact_ones : float, optional
        Intervals are exact up to this expected number of flipped bits in a bin; ``MOST_EXACT_ONES``
        by default.
    noises : NoiseCache, optional
        A cache of quantiles, shared by several calls.
    total : KnownTotal, optional
        The known sum of the true counts of a group that includes the bins of the tally. It narrows
        the intervals (``projection``).
    """
    most = mechanism.people_among(tally.messages)
    if total is not None:
        most = min(most, total.people)
    tail = (1.0 - level) / 2.0 / simultaneous_over
    if not mechanism.noise_by_count:
        method = EXACT
        lower, upper = invert_in_clear(
            mechanism, tally.counts, reach(mechanism, tally.messages, 0, tail, total)
        )
    elif mechanism.sent_share < 1.0 and (
        total is not None or len(np.unique(tally.counts)) > _MOST_DISTINCT
    ):
        method = NORMAL
        lower, upper = _sampled_ends(mechanism, tally, tail, most, total)
    elif mechanism.flip_threshold is None or (
        mechanism.offset(tally.messages) <= (MOST_EXACT_ONES if exact_ones is None else exact_ones)
        and not (total is not None and mechanism.uniform_fakes)
    ):
        method = EXACT
        lower, upper = _invert_test(mechanism, tally, tail, most, noises or NoiseCache(), total)
    else:
        method = NORMAL
        lower, upper = _normal_ends(mechanism, tally, tail, most, total)
    return Intervals(
        lower=np.clip(lower, 0, most),
        upper=np.clip(upper, 0, most),
        level=level,
        method=method,
    )


_Ends = tuple[NDArray[np.int64], NDArray[np.int64]]


def invert_in_clear(
    mechanism: Shuffled, counted: NDArray[np.int64], noise: tuple[int, int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return lower and upper bounds of the true counts from the tallies ``counted``.

    ``noise`` has a lower and an upper bound of the noise in every tally. Every person is counted
    ``repeats`` times. If no whole number of people explains a tally, the bounds are the nearest
    whole numbers below and above.
    """
    times, (least, most) = mechanism.repeats, noise
    lower, upper = -((most - counted) // times), (counted - least) // times
    return np.minimum(lower, upper), np.maximum(lower, upper)


def _normal_ends(
    mechanism: Shuffled, tally: Tally, tail: float, people: int, total: KnownTotal | None
) -> _Ends:
    """Return approximate ends by the Cornish-Fisher expansion.

    The normal distribution alone is not accurate enough: for simultaneous intervals, the true tail
    probability can be 1.6 times the normal one.
    """
    unbiased = mechanism.debias_counts(tally.counts, tally.messages)
    counts = use_total(mechanism, unbiased, tally.messages, total)
    noise = count_cumulants(mechanism, tally.messages, np.clip(counts, 0.0, people), total)
    spread, flat = (np.asarray(each) for each in (noise.variance, noise.fourth))
    least, most = cornish_fisher_ends(spread, noise.third, flat, tail)
    return np.floor(counts - most).astype(np.int64), np.ceil(counts - least).astype(np.int64)


def _sampled_ends(
    mechanism: Shuffled, tally: Tally, tail: float, most: int, total: KnownTotal | None
) -> _Ends:
    """Return approximate ends for sampled slots, by the Cornish-Fisher expansion.

    Whether an end z is accepted depends on the noise of a bin with z people, as in the exact test.
    So the ends are found by iteration. With a total, the estimate minus z equals L_j divided by the
    slope; ``projection`` defines both.
    """
    unbiased = mechanism.debias_counts(tally.counts, tally.messages)
    counts = use_total(mechanism, unbiased, tally.messages, total)
    slope = 1.0 if total is None else slope_of(mechanism, tally.messages, total)

    def deviations(end: Floats) -> tuple[Floats, Floats]:
        noise = count_cumulants(mechanism, tally.messages, np.clip(end, 0.0, most), total)
        spread, flat = np.asarray(noise.variance), np.asarray(noise.fourth)
        least, furthest = cornish_fisher_ends(spread, noise.third, flat, tail)
        return least / slope, furthest / slope

    half = 0.5 / mechanism.gain / slope  # tallies are whole numbers
    lower, upper = counts - half, counts + half
    for _ in range(_STEPS):
        before = np.concatenate([lower, upper])
        lower, upper = counts - half - deviations(lower)[1], counts + half - deviations(upper)[0]
        if np.abs(np.concatenate([lower, upper]) - before).max(initial=0.0) < _PRECISION:
            break
    return np.ceil(lower).astype(np.int64), np.floor(upper).astype(np.int64)


def _invert_test(
    mechanism: Shuffled,
    tally: Tally,
    tail: float,
    most: int,
    noises: NoiseCache,
    total: KnownTotal | None,
) -> _Ends:
    """Return the exact ends: the smallest and the largest z that the test accepts.

    The tally of a bin with z people is ``repeats`` z plus noise. As z grows, the upper quantile of
    the noise does not increase: one person more in the bin has ones, which flips may clear, in
    place of zeros, which flips may set. The upper quantile of the tally does not decrease.
    ``least_reaching`` relies on both facts.
    """
    seen, place = np.unique(tally.counts, return_inverse=True)
    if not len(seen):
        return seen, seen
    # The search begins at the ends of a normal interval.
    error = math.sqrt(mechanism.variance(tally.messages))
    half = math.ceil(-NormalDist().inv_cdf(tail) * error)
    counts = mechanism.debias_counts(seen[[0, -1]], tally.messages)
    start = math.floor(float(counts[0])) - half, math.ceil(float(counts[1])) + half
    times = mechanism.repeats

    def reach_of(z: int, side: int) -> int:
        return noises.reach(mechanism, tally.messages, z, tail, total)[side] - (times - 1) * z

    lower = least_reaching(seen, partial(reach_of, side=1), times, start, most)
    upper = least_reaching(seen + 1, partial(reach_of, side=0), times, start, most + 1) - 1
    return lower[place], upper[place]


def least_reaching(
    targets: NDArray[np.int64],
    reach_of: Callable[[int], int],
    times: int,
    start: tuple[int, int],
    most: int,
) -> NDArray[np.int64]:
    """Return for each target t the smallest z in [0, ``most``] with ``times`` z + reach_of(z) >= t.

    If there is none, the result for t is ``most``. ``reach_of(z)`` must not increase with z, and
    ``times`` z + reach_of(z) must not decrease. So if ``reach_of`` is equal at both ends of a span,
    it is constant in between, and a division finds z. ``targets`` are ascending. ``start`` is a
    span that is expected to contain most results, with which the search begins.
    """
    found = np.full(len(targets), most, dtype=np.int64)
    before, after = min(max(start[0], -1), most - 1), min(max(start[1], 0), most)
    stride = 1
    while before >= 0 and times * before + reach_of(before) >= targets[0]:
        before, stride = max(before - stride, -1), 2 * stride
    stride = 1
    while after < most and times * after + reach_of(after) < targets[-1]:
        after, stride = min(after + stride, most), 2 * stride
    spans = [(before, max(after, before + 1), 0, len(targets))]
    while spans:
        low, high, first, last = spans.pop()
        if first == last:
            continue
        if high - low == 1:
            found[first:last] = high
        elif low >= 0 and high < most and reach_of(low) == reach_of(high):
            found[first:last] = -((reach_of(low) - targets[first:last]) // times)
        else:
            middle = (low + high) // 2
            shown = times * middle + reach_of(middle)
            split = first + int(np.searchsorted(targets[first:last], shown, side="right"))
            spans += [(low, middle, first, split), (middle, high, split, last)]
    return found
