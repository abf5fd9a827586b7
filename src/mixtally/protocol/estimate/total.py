"""Totals of groups of bins, each with its standard error and interval.

The total of a group G is the sum of the unbiased counts of its bins. ``conclude.totals`` calls
``group_total`` for the bins of a group that one stream of messages counts. Symbols: G has g bins, W
is the sum of their tallied counts, and Z is the true total, in which a person counts once for each
of their bins in G. N messages were tallied, m of which are fakes of people. With ``gain`` and
``offset`` of one bin (``Shuffled``), (W - g offset) / gain is an unbiased estimate of Z. The noise
is W - Z.

*Bins in clear.* Let D be the number of cells: the bins and, for sets, the pads. A uniform fake is
in G with probability g / D, so the noise is Bin(m, g / D). If h mixes send shaped fakes, the noise
is a sum of g h independent draws from their table.

*Replaced values.* A message of a person is replaced with probability r by a uniform one of D cells.
So the noise is Bin(N - m - Z, r g / D) + Bin(m, g / D) - Bin(Z, r (1 - g / D)). For sets, there is
a message for each member, and members are replaced independently. So the formula is the same.

*Flips.* Each of the N g bits is flipped with probability q. With blank fakes the noise is
Bin(N g - k Z, q) - Bin(k Z, q) + (k - 1) Z for records that are sent k times. A uniform fake sets
one of d bits before its flips. With probability g / d this bit is in G. So the g bits of the fake
in G are like g - 1 bits of a blank fake, and one bit that is shown with probability
q + (1 - 2 q) g / d. So Bin(m, q + (1 - 2 q) g / d) replaces m trials of the first binomial.

All of these are sums of independent binomials and draws, whose distribution depends on the unknown
counts only by Z. The interval inverts the exact test, as the interval of one bin does. If the
distribution has too many values, the interval uses the cumulants.

*Known sums.* If the estimates of d bins use their known sum, the number of people n, the total of g
of these bins uses it as well. So the total is the sum of the reported estimates.
``protocol.estimate.projection`` has the derivation.

*Planes.* Let g_L be the number of points of G in plane L. A message that names plane L adds g_L to
W, and messages are independent. Let p be the number of planes in a direction, kappa the collision
probability of ``Planes``, and r as above (0 if nothing is replaced). The mean of g_L is

    g / p                                         for a fake,
    (1 - r) g kappa + r g / p                     for a person without a value in G,
    (1 - r) (1 + (g - 1) kappa) + r g / p         for one of the Z people with a value in G.

Var W is the sum over messages of E g_L^2, minus the sum of the squares of these means. The received
messages yield an unbiased estimate of the first sum, and the estimate of Z yields one of the
second. Averaged over all planes, E g_L^2 = g / p + g (g - 1) kappa / p, because two points lie in a
common plane for a share kappa of all directions. So a uniform fake adds the variance
g (1 - kappa) / p - g^2 (1 / p^2 - kappa / p). The estimate of Var W is raised to m times this if it
is smaller. The interval uses the normal approximation.

For sets over planes, the planes that a person's messages name avoid the person's other points. The
covariance of these messages depends on the unknown sets, so a total is refused.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import ParameterError
from mixtally.model.estimates import Tally
from mixtally.model.mechanism import Shuffled
from mixtally.model.mechanism.base import Noise
from mixtally.model.planes import bin_points
from mixtally.protocol.estimate.cumulants import cornish_fisher_ends, sum_cumulants
from mixtally.protocol.estimate.intervals import EXACT, MOST_EXACT_ONES, NORMAL, least_reaching
from mixtally.protocol.estimate.noise import (
    TAIL_ROUNDING,
    KnownTotal,
    NoiseDistribution,
    noise_given_total,
    noise_of_parts,
    sum_of_draws,
)
from mixtally.protocol.estimate.planes import sum_named_points
from mixtally.protocol.estimate.projection import is_informative, projected_cumulants, use_total

_MOST_DRAWN = 1 << 22
"""The maximum length of a distribution of shaped fakes that a Fourier transform computes."""


@dataclass(frozen=True, slots=True)
class GroupTotal:
    """The total of a group in one stream of messages, with the cumulants of its estimate.

    ``most`` is the largest possible total. ``exact`` is a function from a tail probability to the
    ends of the exact interval; it is None if the distribution has too many values or is unknown.
    """

    estimate: float
    most: int
    variance: float
    third: float = 0.0
    fourth: float = 0.0
    exact: Callable[[float], tuple[float, float]] | None = None


def group_total(
    mechanism: Shuffled,
    tally: Tally,
    bins: NDArray[np.int64],
    people: int,
    total: KnownTotal | None = None,
) -> GroupTotal:
    """Estimate the total of ``bins`` in one stream of messages of ``people`` people.

    ``mechanism`` has the fakes that arrived. ``tally`` has what messages name: over planes, the
    count of each plane. ``bins`` are distinct bins of the stream, or points of an open domain.
    ``total`` is the known sum of a group that includes these bins; it is None if no such sum is
    known or used. Raises ParameterError for sets over planes.
    """
    size = len(bins)
    if total is None:
        certain = mechanism.max_set == 1 and not is_informative(mechanism, tally.messages)
        everybody = certain and size == mechanism.bins
    else:
        everybody = size == total.bins
    if everybody:
        return GroupTotal(float(people), people, 0.0, exact=lambda _: (people, people))
    most = people * min(size, mechanism.most_set)
    if mechanism.planes is not None:
        return _total_over_planes(mechanism, tally, bins, most)
    tallied = int(tally.counts[bins].sum())
    found = (tallied - size * mechanism.offset(tally.messages)) / mechanism.gain
    if total is not None:
        return _conditional_total(mechanism, tally.messages, size, tallied, found, total)
    return _independent_total(mechanism, tally.messages, size, tallied, found, most)


def total_interval(several: list[GroupTotal], tail: float) -> tuple[float, float, str]:
    """Return the lower end and the upper end of the interval of a sum of totals, and the method.

    Each end misses the true sum with probability ``tail``. The totals are independent, because they
    count different streams of messages.
    """
    most, found = sum(one.most for one in several), sum(one.estimate for one in several)
    exact = several[0].exact
    if len(several) == 1 and exact is not None:
        low, high = exact(tail)
        return low, high, EXACT
    variance, third, fourth = (
        np.asarray(sum(getattr(one, name) for one in several))
        for name in ("variance", "third", "fourth")
    )
    least, furthest = cornish_fisher_ends(variance, third, fourth, tail)
    low, high = math.floor(found - float(furthest)), math.ceil(found - float(least))
    return min(max(low, 0), most), min(max(high, 0), most), NORMAL


def _independent_total(
    mechanism: Shuffled, messages: int, size: int, counted: int, found: float, most: int
) -> GroupTotal:
    """Estimate the total of bins whose noise is a sum of independent parts."""
    total, gain = round(min(max(found, 0.0), float(most))), mechanism.gain
    noise = mechanism.noise_of_bins(messages, size, total)
    second, third, fourth = sum_cumulants(noise)
    exact: Callable[[float], tuple[float, float]] | None = None
    if noise.tables:
        exact = _intervals_by_table(noise, counted, most)
    elif not mechanism.noise_by_count:
        exact = _intervals_in_clear(noise_of_parts(noise), counted, most, 0.0)
    elif sum(trials * chance for trials, chance in noise.gained) <= MOST_EXACT_ONES:
        spread = math.sqrt(second) / gain

        def law(holders: int) -> NoiseDistribution:
            return noise_of_parts(mechanism.noise_of_bins(messages, size, holders))

        exact = _intervals_by_inversion(law, mechanism.repeats, counted, found, spread, most)
    return GroupTotal(found, most, second / gain**2, third / gain**3, fourth / gain**4, exact)


def _conditional_total(
    mechanism: Shuffled, messages: int, size: int, counted: int, found: float, total: KnownTotal
) -> GroupTotal:
    """Estimate the total of some bins of a known total, given the noise of all bins together."""
    found = float(use_total(mechanism, np.array([found]), messages, total, size)[0])
    most = total.people
    clipped = np.array([min(max(found, 0.0), float(most))])
    noise = projected_cumulants(mechanism, messages, clipped, total, size)
    variance, third, fourth = (
        float(np.ravel(one)[0]) for one in (noise.variance, noise.third, noise.fourth)
    )

    def law(holders: int) -> NoiseDistribution:
        return noise_given_total(mechanism, messages, holders, total, size)

    # Uniform fakes in a group are not independent of those in other bins. So there is no exact
    # interval among flipped uniform fakes and for sampled slots, whose fakes are uniform.
    exact: Callable[[float], tuple[float, float]] | None = None
    if not mechanism.noise_by_count:
        if _is_short(mechanism.noise_of_bins(messages, size, 0)):
            exact = _intervals_in_clear(law(0), counted, most, TAIL_ROUNDING)
    elif not mechanism.uniform_fakes and size * mechanism.offset(messages) <= MOST_EXACT_ONES:
        exact = _intervals_by_inversion(
            law, mechanism.repeats, counted, found, math.sqrt(variance), most
        )
    return GroupTotal(found, most, variance, third, fourth, exact)


def _is_short(noise: Noise) -> bool:
    """Return whether a Fourier transform of the sum of draws is fast enough and exact enough."""
    ((weights, draws),) = noise.tables
    return draws * len(weights) <= _MOST_DRAWN


def _intervals_by_table(
    noise: Noise, counted: int, most: int
) -> Callable[[float], tuple[float, float]] | None:
    """Return a function that computes exact intervals of a total whose noise is shaped fakes.

    The argument of the function is the tail probability. Return None if the noise has too many
    values.
    """
    ((weights, draws),) = noise.tables
    if not _is_short(noise):
        return None
    return _intervals_in_clear(sum_of_draws(weights, draws), counted, most, TAIL_ROUNDING)


def _intervals_in_clear(
    noise: NoiseDistribution, counted: int, most: int, rounding: float
) -> Callable[[float], tuple[float, float]]:
    """Return a function for intervals of a total whose noise does not depend on the total.

    The argument of the function is the tail probability. It is reduced by ``rounding``, so that
    errors of a transform only widen the interval.
    """

    def ends_of(tail: float) -> tuple[float, float]:
        within = max(0.0, tail - rounding)
        low, high = counted - noise.highest(within), counted - noise.lowest(within)
        return min(max(low, 0), most), min(max(high, 0), most)

    return ends_of


def _intervals_by_inversion(
    law: Callable[[int], NoiseDistribution],
    times: int,
    counted: int,
    found: float,
    spread: float,
    most: int,
) -> Callable[[float], tuple[float, float]]:
    """Return a function that computes the interval of totals that an exact test accepts.

    The argument of the function is the tail probability. The method is that of ``intervals`` for
    one bin. ``law`` returns the distribution of the noise for a true total. Records are sent
    ``times`` times. The search begins at the estimate ``found``, whose standard error is
    ``spread``.
    """

    def ends_of(tail: float) -> tuple[float, float]:
        half = math.ceil(-NormalDist().inv_cdf(tail) * spread)
        start = math.floor(found) - half, math.ceil(found) + half

        @cache
        def reach(holders: int) -> tuple[int, int]:
            noise, more = law(holders), (times - 1) * holders
            return noise.lowest(tail) - more, noise.highest(tail) - more

        seen = np.array([counted])
        low = least_reaching(seen, lambda z: reach(z)[1], times, start, most)
        high = least_reaching(seen + 1, lambda z: reach(z)[0], times, start, most + 1) - 1
        low, high = np.clip(low, 0, most), np.clip(high, 0, most)
        return float(low[0]), float(high[0])

    return ends_of


def _total_over_planes(
    mechanism: Shuffled, tally: Tally, bins: NDArray[np.int64], most: int
) -> GroupTotal:
    """Estimate the total over planes, with an unbiased estimate of its variance."""
    planes = mechanism.planes
    assert planes is not None
    if mechanism.most_set > 1:
        raise ParameterError(
            "totals",
            expected="records of one value, or bins that messages name themselves",
            got="sets over planes, whose covariances depend on the unknown sets",
            do="leave the totals out, or make the group a label of the question",
        )
    size, meeting, share = len(bins), mechanism.collision_probability, 1.0 / planes.prime
    kept = mechanism.keep_probability
    fakes, replaced = mechanism.fakes_sent, (1.0 - kept) * size * share
    people = tally.messages - fakes
    outside = kept * size * meeting + replaced
    inside = kept * (1.0 + (size - 1) * meeting) + replaced
    points = bin_points(planes.device_planes, bins, mechanism.bins)
    tallied, squares = sum_named_points(planes, tally, points)
    found = (tallied - size * mechanism.offset(tally.messages)) / mechanism.gain
    known = fakes * (size * share) ** 2 + (people - found) * outside**2 + found * inside**2
    least = size * (1.0 - meeting) * share - size**2 * (share**2 - meeting * share)
    spread = max(squares - known, fakes * least)
    return GroupTotal(found, most, spread / mechanism.gain**2)
