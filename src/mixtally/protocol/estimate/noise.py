"""The exact distribution of what a tally adds to a bin's true count."""

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

_MOST_BYTES = 32_000_000
_DEVIATIONS = 12.0


class NoiseDistribution(NamedTuple):
    """P(noise = first + i) = pmf[i]."""

    first: int
    pmf: tails.Floats

    def highest(self, chance: float) -> int:
        """The largest x with P(noise >= x) > chance."""
        upper = np.cumsum(self.pmf[::-1])
        return self.first + len(self.pmf) - 1 - int(np.searchsorted(upper, chance, side="right"))

    def lowest(self, chance: float) -> int:
        """The smallest x with P(noise <= x) > chance."""
        return self.first + int(np.searchsorted(np.cumsum(self.pmf), chance, side="right"))


class KnownTotal(NamedTuple):
    """Counts of bins that truly add up to a known number.

    Parameters
    ----------
    people : int
        What the true counts add up to.
    bins : int
        How many bins there are.
    tallied : int
        What the tallied counts of these bins add up to.
    """

    people: int
    bins: int
    tallied: int


class NoiseCache:
    """How far noise reaches, each looked up once; hand one to all estimates that are alike."""

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
        """(smallest x with P(noise <= x) > chance, largest x with P(noise >= x) > chance)."""

        def compute_reach() -> tuple[int, int]:
            return reach(mechanism, messages, count, chance, total)

        found: tuple[int, int] = self._memo.get(
            (mechanism, messages, count, chance, total), compute_reach
        )
        return found


def reach(
    mechanism: Shuffled,
    messages: int,
    count: int,
    chance: float,
    total: KnownTotal | None = None,
) -> tuple[int, int]:
    """(smallest x with P(noise <= x) > chance, largest x with P(noise >= x) > chance).

    Where a ``total`` is known, the probabilities are those given the sum of all noise.
    """
    if total is None:
        noise = noise_distribution(mechanism, messages, count)
    else:
        noise = noise_given_total(mechanism, messages, count, total)
    return noise.lowest(chance), noise.highest(chance)


def noise_distribution(mechanism: Shuffled, messages: int, count: int) -> NoiseDistribution:
    """Of (tallied - true) for a bin of ``count`` people among ``messages`` messages."""
    return noise_of_parts(mechanism.noise(messages, count))


def noise_given_total(
    mechanism: Shuffled, messages: int, count: int, total: KnownTotal, size: int = 1
) -> NoiseDistribution:
    """Return the distribution of the noise of ``size`` bins, given that of all bins of a total.

    ``count`` people hold one of these bins. ``protocol.estimate.projection`` has the derivation.
    The noise of the other bins is that of their sum, which n - ``count`` people hold.
    """
    parts = _noise_of_bins(mechanism, messages, size, count)
    own = _draws_distribution(parts) if parts.tables else noise_of_parts(parts)
    whole = total.tallied - total.people
    last = own.first + len(own.pmf) - 1
    rest = _noise_of_bins(mechanism, messages, total.bins - size, total.people - count)
    likely = probabilities(rest, whole - last, whole - own.first)[::-1]
    pmf = own.pmf * likely
    return NoiseDistribution(own.first, pmf / pmf.sum())


def _noise_of_bins(mechanism: Shuffled, messages: int, size: int, people: int) -> Noise:
    """Return the noise of the sum of ``size`` bins that ``people`` hold, one bin each.

    Every part of the noise is linear in the people who hold a bin, and bins are independent.
    """
    none, one = (mechanism.noise(messages, held) for held in (0, 1))

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
    """Return P(X = first..last), X the sum of one binomial less another, or of one table's draws.

    Of tables the error is about 1e-16 a draw, in each probability.
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
    """Return the distribution of draws from one table, but for far tails of a chance below 1e-9."""
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
    """Return the probabilities of a sum of draws by a Fourier transform that spans its mass."""
    one = np.array([weight / SCALE for weight in weights])
    mean, spread = _moments_of_draws(weights, draws)
    middle = round(mean)
    wide = max(abs(first - middle), abs(last - middle)) + _DEVIATIONS * spread + len(one)
    size = 1 << math.ceil(math.log2(2.0 * wide + 2.0))
    folded = np.bincount(np.arange(len(one)) % size, weights=one, minlength=size)
    pmf = np.fft.irfft(np.fft.rfft(folded) ** draws, size)
    return np.maximum(pmf[np.arange(first, last + 1) % size], 0.0)


def noise_of_parts(parts: Noise) -> NoiseDistribution:
    """Of a sum of independent parts."""
    gained = [_binomial(*each) for each in parts.gained]
    for weights, draws in parts.tables:
        one = np.array([weight / SCALE for weight in weights])
        gained += [NoiseDistribution(0, one)] * draws
    found = reduce(_add_noises, gained)
    for each in parts.lost:
        found = _subtract_noises(found, _binomial(*each))
    return found._replace(first=found.first + parts.constant)


def sum_of_draws(weights: tuple[int, ...], draws: int) -> NoiseDistribution:
    """Return the distribution of a sum of many draws from a table on 0, 1, 2, .. over 2^64.

    It is computed by a Fourier transform; probabilities are off by less than 1e-12 each.
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
    """``rate`` itself when it lies in (0, 1/2]; raises ParameterError otherwise."""
    if not 0.0 < rate <= 0.5:
        raise ParameterError(
            "false-positive rate", expected="a number in (0, 0.5]", got=rate, do="0.05 is common"
        )
    return rate


def least_significant(mechanism: Shuffled, messages: int, tests: int, rate: float) -> int:
    """The least count that an empty bin reaches with chance at most rate / tests, exactly.

    With ``tests`` bins looked at, any empty one of them reaches it with chance at most ``rate``
    (Bonferroni: however the bins depend on each other, and also when the later of them are chosen
    by what the earlier ones showed, since every round draws its noise afresh).
    """
    return reach(mechanism, messages, 0, check_rate(rate) / tests)[1] + 1
