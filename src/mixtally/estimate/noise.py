"""The exact distribution of what a tally adds to a bin's true count."""

from functools import reduce
from typing import NamedTuple

import numpy as np

from mixtally.ground import tails
from mixtally.ground.fixed import SCALE
from mixtally.ground.memo import Memo
from mixtally.records.mechanism import Shuffled
from mixtally.records.mechanism.base import Noise

_MOST_BYTES = 32_000_000


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


class Noises:
    """How far noise reaches, each looked up once; hand one to all estimates that are alike."""

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._memo = Memo(most_bytes)

    def reach(
        self, mechanism: Shuffled, messages: int, count: int, chance: float
    ) -> tuple[int, int]:
        """(smallest x with P(noise <= x) > chance, largest x with P(noise >= x) > chance)."""

        def made() -> tuple[int, int]:
            return reach(mechanism, messages, count, chance)

        found: tuple[int, int] = self._memo.get((mechanism, messages, count, chance), made)
        return found


def reach(mechanism: Shuffled, messages: int, count: int, chance: float) -> tuple[int, int]:
    """(smallest x with P(noise <= x) > chance, largest x with P(noise >= x) > chance)."""
    noise = noise_distribution(mechanism, messages, count)
    return noise.lowest(chance), noise.highest(chance)


def noise_distribution(mechanism: Shuffled, messages: int, count: int) -> NoiseDistribution:
    """Of (tallied - true) for a bin of ``count`` people among ``messages`` messages."""
    return distribution_of(mechanism.noise(messages, count))


def distribution_of(parts: Noise) -> NoiseDistribution:
    """Of a sum of independent parts."""
    gained = [_binomial(*each) for each in parts.gained]
    for weights, draws in parts.tables:
        one = np.array([weight / SCALE for weight in weights])
        gained += [NoiseDistribution(0, one)] * draws
    found = reduce(_sum, gained)
    for each in parts.lost:
        found = _difference(found, _binomial(*each))
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


def _sum(one: NoiseDistribution, other: NoiseDistribution) -> NoiseDistribution:
    return NoiseDistribution(one.first + other.first, np.convolve(one.pmf, other.pmf))


def _difference(gained: NoiseDistribution, lost: NoiseDistribution) -> NoiseDistribution:
    return NoiseDistribution(
        gained.first - lost.first - len(lost.pmf) + 1, np.convolve(gained.pmf, lost.pmf[::-1])
    )
