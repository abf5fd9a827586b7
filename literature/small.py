"""Complete distributions of a few flipped bits or vectors, for enumeration."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

import numpy as np

from mixtally.lab.formulas.sufficient import transition_probability
from mixtally.primitives import tails
from mixtally.primitives.tails import Floats

Bags = dict[tuple[int, ...], float]
"""Probabilities of histograms: the count of each vector, in the order of their integers."""


class FlippedBits:
    """Sums of bits with one flip probability; each binomial distribution is computed once."""

    def __init__(self, flip: float) -> None:
        self.flip = flip
        self._binomials: dict[tuple[int, float], Floats] = {}

    def sum_pmf(self, ones: int, zeros: int) -> Floats:
        """Return P(sum = 0..n) of ``ones`` flipped ones and ``zeros`` flipped zeros."""
        pmf: Floats = np.ones(1)
        for bits, chance in ((ones, 1.0 - self.flip), (zeros, self.flip)):
            if bits:
                pmf = np.convolve(pmf, self._binomial(bits, chance))
        return pmf

    def _binomial(self, bits: int, chance: float) -> Floats:
        if (bits, chance) not in self._binomials:
            self._binomials[bits, chance] = tails.pmf(bits, chance, 0, bits)
        return self._binomials[bits, chance]


def sum_pmf(ones: int, zeros: int, flip: float) -> Floats:
    """Return ``FlippedBits.sum_pmf`` for one sum."""
    return FlippedBits(flip).sum_pmf(ones, zeros)


def bag_distribution(held: Iterable[int], bits: int, flip: float) -> Bags:
    """Return the distribution of the histogram of these vectors after every bit is flipped."""
    bags: Bags = {(0,) * (1 << bits): 1.0}
    for vector in held:
        chances = [transition_probability(vector, seen, bits, flip) for seen in range(1 << bits)]
        added: defaultdict[tuple[int, ...], float] = defaultdict(float)
        for bag, chance in bags.items():
            for seen, turn in enumerate(chances):
                added[(*bag[:seen], bag[seen] + 1, *bag[seen + 1 :])] += chance * turn
        bags = dict(added)
    return bags


def by_set_bits(bags: Mapping[tuple[int, ...], float]) -> Bags:
    """Return the distribution of the numbers of vectors with 0..L set bits."""
    found: defaultdict[tuple[int, ...], float] = defaultdict(float)
    for bag, chance in bags.items():
        found[set_bits(bag)] += chance
    return dict(found)


def set_bits(bag: tuple[int, ...]) -> tuple[int, ...]:
    """Return the numbers of vectors of a histogram with 0..L set bits."""
    counts = [0] * len(bag).bit_length()
    for vector, count in enumerate(bag):
        counts[vector.bit_count()] += count
    return tuple(counts)


def divergence(first: Bags, second: Bags, grow: float) -> float:
    """Return the larger delta of two distributions in both directions, at e^epsilon = ``grow``."""
    pairs = [(chance, second[bag]) for bag, chance in first.items()]
    return max(
        sum(max(0.0, a - grow * b) for a, b in pairs), sum(max(0.0, b - grow * a) for a, b in pairs)
    )
