"""The exact law of what a tally adds to a bin's true count."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from mixtally.ground import tails
from mixtally.ground.fixed import SCALE
from mixtally.records.mechanism import BitFlips, Shuffled


class NoiseLaw(NamedTuple):
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


def depends_on_count(mechanism: Shuffled) -> bool:
    """Whether the law changes with the true count: only flips lose true ones."""
    return mechanism.flip_threshold is not None


@lru_cache(maxsize=1 << 16)
def reach(mechanism: Shuffled, messages: int, count: int, chance: float) -> tuple[int, int]:
    """(smallest x with P(noise <= x) > chance, largest x with P(noise >= x) > chance)."""
    law = noise_law(mechanism, messages, count)
    return law.lowest(chance), law.highest(chance)


def noise_law(mechanism: Shuffled, messages: int, count: int) -> NoiseLaw:
    """The law of (tallied - true) for a bin of ``count`` people among ``messages`` messages."""
    match mechanism:
        case BitFlips():
            ones, fakes = count * mechanism.repeats, mechanism.fake_bits
            sent = messages - sum(many for many, _ in fakes)
            noise = _flipped(sent, ones, mechanism.flip_probability)
            for many, shown in fakes:
                noise = _sum(noise, _binomial(many, shown))
            return noise._replace(first=noise.first + ones - count)
        case ClearUniform():
            return _binomial(mechanism.fakes_promised, 1.0 / mechanism.bins)
        case ClearShaped():
            one = law = np.array([w / SCALE for w in mechanism.fakes.weights])
            for _ in range(mechanism.fakes.mixes - 1):
                law = np.convolve(law, one)
            return NoiseLaw(0, law)
    raise TypeError(f"{mechanism.name} has no noise law")


def _binomial(trials: int, probability: float) -> NoiseLaw:
    if trials == 0:
        return NoiseLaw(0, np.ones(1))
    low, high = tails.window(trials, probability)
    return NoiseLaw(low, tails.pmf(trials, probability, low, high))


def _flipped(messages: int, ones: int, flip: float) -> NoiseLaw:
    """How many more of ``messages`` bits are set after their flips, ``ones`` of them before."""
    return _difference(_binomial(messages - ones, flip), _binomial(ones, flip))


def _sum(one: NoiseLaw, other: NoiseLaw) -> NoiseLaw:
    return NoiseLaw(one.first + other.first, np.convolve(one.pmf, other.pmf))


def _difference(gained: NoiseLaw, lost: NoiseLaw) -> NoiseLaw:
    return NoiseLaw(
        gained.first - lost.first - len(lost.pmf) + 1, np.convolve(gained.pmf, lost.pmf[::-1])
    )
