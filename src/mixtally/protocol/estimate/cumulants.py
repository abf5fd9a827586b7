"""How far a weighted sum of the bins' noises may be off: the normal approximation, bent to its
third and fourth cumulants.

Noise in flips and in shaped fakes is independent from bin to bin given the truth, so the cumulants
of sum_j w_j X_j are sum_j w_j^r kappa_r(X_j). Uniform fakes are a multinomial, which is a product
of Poisson ones of mean K/d once the sum is given: where the w_j add up to nothing the sum does not
matter, and the second and third cumulants are those of the product exactly, the fourth but for
3 / K of the variance squared, where fakes are flipped 2 / N more: the lean of their flips follows
how many there are. So every sum here takes weights that add up to nothing.

One bin's shaped fakes have Laplace's tails, and a count of few flipped ones leans to one side: the
normal approximation alone holds 97.9 % of a 99 % interval for a number cut in two.

Source: Cornish and Fisher, Moments and Cumulants in the Specification of Distributions (1938).
"""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from mixtally.model.mechanism import Shuffled
from mixtally.model.mechanism.base import Noise
from mixtally.primitives.fixed_point import SCALE

Floats = NDArray[np.float64]
_MOST_SKEW = 1.0
"""The expansion turns on itself beyond it: fewer than one flipped one is expected there."""
_MUCH_SKEW = 0.5
"""Fewer than four flipped ones are expected beyond it."""


@dataclass(frozen=True, slots=True, eq=False)
class Cumulants:
    """Of the noise of every unbiased count, as sums whose weights add up to nothing see it.

    where
      variance   in counts squared; a number where it is the same for every bin, or shape (bins,)
      third      shape (bins,)
      fourth     as ``variance``
    """

    variance: float | Floats
    third: Floats
    fourth: float | Floats


def cornish_fisher_ends(
    variance: Floats, third: Floats, fourth: Floats, tail: float
) -> tuple[Floats, Floats]:
    """What a number with these cumulants exceeds its mean by at least and at most.

    Each end is passed with chance ``tail``; any shape, and two arrays of that shape.
    """
    z = -NormalDist().inv_cdf(tail)
    deviation = np.sqrt(variance)
    some = np.where(deviation > 0.0, deviation, 1.0)
    skew = np.clip(third / some**3, -_MOST_SKEW, _MOST_SKEW)
    excess = fourth / some**4
    shift = skew * (z * z - 1.0) / 6.0
    width = z + excess * (z**3 - 3.0 * z) / 24.0 - skew**2 * (2.0 * z**3 - 5.0 * z) / 36.0
    width = np.maximum(width, z)  # tails that are lighter than normal are not counted on
    least, most = shift - width, shift + width
    rare = np.abs(skew) > _MUCH_SKEW  # there the expansion may turn the lighter tail over
    least = np.where(rare, np.minimum(least, -z), least)
    most = np.where(rare, np.maximum(most, z), most)
    return deviation * least, deviation * most


def cumulants(mechanism: Shuffled, messages: int, counts: Floats) -> Cumulants:
    """Those of ``protocol`` among so many messages; flips lean by how many hold a bit.

    ``counts`` are the estimates, shape (bins,), clipped to what can be.
    """
    if mechanism.replaced is not None:
        return _replacement_cumulants(mechanism, messages, counts)
    if mechanism.flip_threshold is None and mechanism.noise_by_count:
        return binomial_cumulants(mechanism, messages, counts)
    level = np.zeros(len(counts))
    rate, variance, times = mechanism.true_fakes, mechanism.variance(messages), mechanism.repeats
    if mechanism.flip_threshold is not None:
        q = mechanism.flip_probability
        ones = np.clip(times * counts + rate, 0.0, messages)
        both, scale = q * (1.0 - q), mechanism.gain
        return Cumulants(
            variance
            + rate / times**2 / mechanism.bins,  # a multinomial's variance is below its product's
            (messages - 2.0 * ones) * both * mechanism.contrast / scale**3 + rate / times**3,
            messages * both * (1.0 - 6.0 * both) / scale**4 + rate / times**4,
        )
    if mechanism.uniform_fakes:
        return Cumulants(rate / times**2, level + rate / times**3, rate / times**4)
    third = fourth = 0.0
    for weights, draws in mechanism.noise(messages, 0).tables:
        second, skew, kurtosis = _moments(weights)
        third += draws * skew
        fourth += draws * (kurtosis - 3.0 * second * second)
    return Cumulants(variance, level + third / mechanism.gain**3, fourth / mechanism.gain**4)


def _replacement_cumulants(mechanism: Shuffled, messages: int, counts: Floats) -> Cumulants:
    """Of values of which a share g is replaced by uniform ones.

    A person's message has the weight w with 1 - g and else that of a uniform bin, mean 0: its
    variance is g (1 - g) w^2 and g times the mean of w^2, so that of the sum is the sum of w_j^2
    times what is here, exactly. The higher ones leave out what couples the bins, a term
    1 / root(n g) below the normal approximation.
    """
    g, kept = mechanism.replacement_probability, mechanism.keep_probability
    rate, times = mechanism.offset(messages), mechanism.repeats
    lost = times * np.clip(counts, 0.0, mechanism.people_among(messages)) * g * kept
    third = lost * (2.0 * g - 1.0)
    fourth = lost * (1.0 - 6.0 * g * kept)
    gain = mechanism.gain
    return Cumulants((rate + lost) / gain**2, (rate + third) / gain**3, (rate + fourth) / gain**4)


def binomial_cumulants(mechanism: Shuffled, messages: int, counts: Floats) -> Cumulants:
    """Those of single unbiased counts by binomials, whatever they are summed with.

    Every part of the noise is a binomial whose trials are linear in the count. Of flips variance
    and fourth cumulant are the same for rises and falls, so the third alone changes with the count.
    ``counts`` are the estimates, shape (bins,), clipped to what can be.
    """
    none, one = (_binomial_sum_cumulants(mechanism.noise(messages, count)) for count in (0, 1))
    gain = mechanism.gain
    second, third, fourth = (a + counts * (b - a) for a, b in zip(none, one, strict=True))
    if mechanism.flip_threshold is None:
        return Cumulants(second / gain**2, third / gain**3, fourth / gain**4)
    return Cumulants(none[0] / gain**2, third / gain**3, none[2] / gain**4)


def sum_cumulants(noise: Noise) -> tuple[float, float, float]:
    """Return the second, third and fourth cumulant of a sum of binomials and draws from tables."""
    second, third, fourth = _binomial_sum_cumulants(noise)
    for weights, draws in noise.tables:
        spread, skew, kurtosis = _moments(weights)
        second, third = second + draws * spread, third + draws * skew
        fourth += draws * (kurtosis - 3.0 * spread * spread)
    return second, third, fourth


def _binomial_sum_cumulants(noise: Noise) -> tuple[float, float, float]:
    """The second, third and fourth cumulant of a sum and difference of binomials."""
    second = third = fourth = 0.0
    for sign, parts in ((1.0, noise.gained), (-1.0, noise.lost)):
        for trials, chance in parts:
            each = trials * chance * (1.0 - chance)
            second += each
            third += sign * each * (1.0 - 2.0 * chance)
            fourth += each * (1.0 - 6.0 * chance * (1.0 - chance))
    return second, third, fourth


def _moments(weights: tuple[int, ...]) -> tuple[float, float, float]:
    """Second, third and fourth central moments of a distribution on 0, 1, 2, .. over 2^64."""
    mean = sum(weight * k for k, weight in enumerate(weights)) / SCALE
    gap = np.arange(len(weights)) - mean
    chances = np.array(weights, dtype=np.float64) / SCALE
    second, third, fourth = (float((chances * gap**order).sum()) for order in (2, 3, 4))
    return second, third, fourth
