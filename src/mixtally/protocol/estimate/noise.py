"""The exact distribution of the noise: the tally of a bin minus its true count.

Intervals and significance tests call this module for the quantiles of the noise.
"""

import math
from functools import reduce
from typing import NamedTuple

import numpy as np

from mixtally.errors import ParameterError
from mixtally.model.mechanism import Shuffled
from mixtally.model.mechanism.base import Noise
from mixtally.primitives import tails
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.memo import Memo

# Bytes of quantiles that a cache keeps.
_MOST_BYTES = 32_000_000
# A transform spans this number of standard deviations on either side; the rest is negligible.
_DEVIATIONS = 12.0
TAIL_ROUNDING = 1e-9
"""An upper bound of the rounding error of a Fourier transform in the probability of a tail."""


class NoiseDistribution(NamedTuple):
    """A distribution on whole numbers: P(noise = first + i) = pmf[i]."""

    first: int
    pmf: tails.Floats

    def highest(self, chance: float) -> int:
        """Return the largest x with P(noise >= x) > chance."""
        upper = np.cumsum(self.pmf[::-1])
        return self.first + len(self.pmf) - 1 - int(np.searchsorted(upper, chance, side="right"))

    def lowest(self, chance: float) -> int:
        """Return the smallest x with P(noise <= x) > chance."""
        return self.first + int(np.searchsorted(np.cumsum(self.pmf), chance, side="right"))


class KnownTotal(NamedTuple):
    """The known sum of the true counts of a group of ``bins`` bins.

    ``people`` is this sum: everyone has exactly one of the bins. ``tallied`` is the sum of the
    tallied counts of the bins.
    """

    people: int
    bins: int
    tallied: int


class NoiseCache:
    """A cache of noise quantiles, to be shared by estimates with the same mechanism."""

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._memo = Memo(most_bytes)

    def reach(
        self,
        mechanism: Shuffled,
        messages: int,
        count: int,
        chance: float,
        total: KnownTotal | None = None,
    ) -> tuple[int, int]:
        """Return the result of the module's function ``reach``, from the cache if possible."""
        asked = mechanism, messages, count, chance, total
        return self._memo.get(asked, lambda: reach(*asked))


def reach(
    mechanism: Shuffled,
    messages: int,
    count: int,
    chance: float,
    total: KnownTotal | None = None,
) -> tuple[int, int]:
    """Return the lower and the upper quantile of the noise of a bin with ``count`` people.

    These are the smallest x with P(noise <= x) > chance and the largest x with P(noise >= x) >
    chance. If a ``total`` is known, the probabilities are conditioned on the sum of the noise of
    all its bins.
    """
    noise = noise_distribution(mechanism, messages, count, total)
    return noise.lowest(chance), noise.highest(chance)


def noise_distribution(
    mechanism: Shuffled, messages: int, count: int, total: KnownTotal | None = None
) -> NoiseDistribution:
    """Return the distribution of the tallied count minus the true ``count`` of a bin.

    If a ``total`` is known, the distribution is conditioned on the sum of the noise of its bins.
    """
    if total is not None:
        return noise_given_total(mechanism, messages, count, total)
    return noise_of_parts(mechanism.noise(messages, count))


def noise_given_total(
    mechanism: Shuffled, messages: int, count: int, total: KnownTotal, size: int = 1
) -> NoiseDistribution:
    """Return the distribution of the noise of ``size`` bins, given the noise of ``total``.

    The noise of a total is the sum of the noise of all its bins, which is known. Of the n people of
    the total, ``count`` have one of the ``size`` bins, and all others have one of the other bins.
    The other bins are treated as one sum. ``protocol.estimate.projection`` has the derivation.
    """
    parts = _noise_of_bins(mechanism, messages, size, count)
    own = _draws_distribution(parts) if parts.tables else noise_of_parts(parts)
    whole = total.tallied - total.people
    last = own.first + len(own.pmf) - 1
    rest = _noise_of_bins(mechanism, messages, total.bins - size, total.people - count)
    rest_chances = probabilities(rest, whole - last, whole - own.first)[::-1]
    pmf = own.pmf * rest_chances
    return NoiseDistribution(own.first, pmf / pmf.sum())


def _noise_of_bins(mechanism: Shuffled, messages: int, size: int, people: int) -> Noise:
    """Return the noise of the sum of ``size`` bins, if each of ``people`` people has one of them.

    The noise of a bin is a sum of parts, and the number of draws in every part is linear in the
    number of people who have the bin. The noise of different bins is independent.
    """
    none, one = (mechanism.noise(messages, holders) for holders in (0, 1))

    def scale_parts(
        zero: tuple[tuple[int, float], ...], single: tuple[tuple[int, float], ...]
    ) -> tuple[tuple[int, float], ...]:
        return tuple(
            (size * a + people * (b - a), chance)
            for (a, chance), (b, _) in zip(zero, single, strict=True)
        )

    return Noise(
        size * none.constant + people * (one.constant - none.constant),
        scale_parts(none.gained, one.gained),
        scale_parts(none.lost, one.lost),
        tuple((weights, size * draws) for weights, draws in none.tables),
    )


def probabilities(parts: Noise, first: int, last: int) -> tails.Floats:
    """Return P(X = x) for x from ``first`` to ``last``, where X is the noise ``parts``.

    X is a difference of two binomials, or a sum of draws from a table. For draws, the error of each
    probability is about 1e-16 times the number of draws.
    """
    first, last = first - parts.constant, last - parts.constant
    if parts.tables:
        ((weights, draws),) = parts.tables
        return _table_probabilities(weights, draws, first, last)
    (gained,), (lost,) = parts.gained, parts.lost
    taken = _binomial(*lost)
    end = taken.first + len(taken.pmf) - 1
    given = _binomial_between(*gained, first + taken.first, last + end)
    found: tails.Floats = np.correlate(given, taken.pmf, "valid")
    return found


def _binomial_between(trials: int, probability: float, first: int, last: int) -> tails.Floats:
    """Return the probabilities of a binomial from ``first`` to ``last``, 0 outside of its range."""
    found = np.zeros(last - first + 1)
    low, high = max(first, 0), min(last, trials)
    if low <= high and trials:
        found[low - first : high - first + 1] = tails.pmf(trials, probability, low, high)
    elif low <= high:
        found[-first] = 1.0
    return found


def _draws_distribution(parts: Noise) -> NoiseDistribution:
    """Return the distribution of a sum of draws, without far tails of probability 1e-9."""
    ((weights, draws),) = parts.tables
    mean, spread = _moments_of_draws(weights, draws)
    reach = _DEVIATIONS * spread + len(weights)
    first = max(0, math.floor(mean - reach))
    last = min(draws * (len(weights) - 1), math.ceil(mean + reach))
    return NoiseDistribution(
        parts.constant + first, _table_probabilities(weights, draws, first, last)
    )


def _moments_of_draws(weights: tuple[int, ...], draws: int) -> tuple[float, float]:
    """Return the mean and the standard deviation of a sum of draws."""
    one = np.array([weight / SCALE for weight in weights])
    at = np.arange(len(one))
    mean = float(one @ at)
    return draws * mean, math.sqrt(draws * float(one @ (at - mean) ** 2))


def _table_probabilities(
    weights: tuple[int, ...], draws: int, first: int, last: int
) -> tails.Floats:
    """Return the probabilities of a sum of draws, from ``first`` to ``last``.

    A Fourier transform computes them. It spans nearly the whole probability.
    """
    one = np.array([weight / SCALE for weight in weights])
    mean, spread = _moments_of_draws(weights, draws)
    middle = round(mean)
    wide = max(abs(first - middle), abs(last - middle)) + _DEVIATIONS * spread + len(one)
    size = 1 << math.ceil(math.log2(2.0 * wide + 2.0))
    folded = np.bincount(np.arange(len(one)) % size, weights=one, minlength=size)
    pmf = np.fft.irfft(np.fft.rfft(folded) ** draws, size)
    return np.maximum(pmf[np.arange(first, last + 1) % size], 0.0)


def noise_of_parts(parts: Noise) -> NoiseDistribution:
    """Return the distribution of ``parts``, a sum of independent binomials and draws."""
    gained = [_binomial(*each) for each in parts.gained]
    for weights, draws in parts.tables:
        one = np.array([weight / SCALE for weight in weights])
        gained += [NoiseDistribution(0, one)] * draws
    found = reduce(_add_noises, gained)
    for each in parts.lost:
        found = _subtract_noises(found, _binomial(*each))
    return found._replace(first=found.first + parts.constant)


def sum_of_draws(weights: tuple[int, ...], draws: int) -> NoiseDistribution:
    """Return the distribution of a sum of many independent draws from a table.

    ``weights`` are the probabilities of 0, 1, 2, .. times 2^64. A Fourier transform computes the
    distribution. Each probability has an error below 1e-12.
    """
    one = np.array(weights, dtype=np.float64) / SCALE
    size = draws * (len(weights) - 1) + 1
    pmf = np.fft.irfft(np.fft.rfft(one, size) ** draws, size)
    return NoiseDistribution(0, np.maximum(pmf, 0.0))


def _binomial(trials: int, probability: float) -> NoiseDistribution:
    if trials == 0:
        return NoiseDistribution(0, np.ones(1))
    low, high = tails.window(trials, probability)
    return NoiseDistribution(low, tails.pmf(trials, probability, low, high))


def _add_noises(one: NoiseDistribution, other: NoiseDistribution) -> NoiseDistribution:
    return NoiseDistribution(one.first + other.first, np.convolve(one.pmf, other.pmf))


def _subtract_noises(gained: NoiseDistribution, lost: NoiseDistribution) -> NoiseDistribution:
    return NoiseDistribution(
        gained.first - lost.first - len(lost.pmf) + 1, np.convolve(gained.pmf, lost.pmf[::-1])
    )


def check_rate(rate: float) -> float:
    """Return ``rate``; raise ParameterError unless it lies in (0, 1/2]."""
    if not 0.0 < rate <= 0.5:
        raise ParameterError(
            "false-positive rate", expected="a number in (0, 0.5]", got=rate, do="0.05 is common"
        )
    return rate


def least_significant(mechanism: Shuffled, messages: int, tests: int, rate: float) -> int:
    """Return the smallest tally that an empty bin reaches with probability at most rate / tests.

    So the probability that any of the tested empty bins reaches this tally is at most ``rate``
    (Bonferroni). This holds for dependent bins, and also if the bins of later rounds are chosen by
    the results of earlier ones, because every round draws new noise.

    Parameters
    ----------
    mechanism : Shuffled
        The mechanism, with the fakes that arrived.
    messages : int
        The number of messages.
    tests : int
        The number of tested bins.
    rate : float
        The error probability for all bins together, in (0, 1/2].
    """
    return reach(mechanism, messages, 0, check_rate(rate) / tests)[1] + 1
