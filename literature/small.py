"""Distributions of a few flipped bits or vectors, whole: for enumeration."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

import numpy as np

from mixtally.lab.formulas.histograms import transition_probability
from mixtally.primitives import tails
from mixtally.primitives.tails import Floats

Bags = dict[tuple[int, ...], float]
"""Chances of histograms: how often each vector came, vectors in the order of their integers."""


class FlippedBits:
    """Sums of bits that are flipped with one probability; each of their binomials is made once."""

    def __init__(self, flip: float) -> None:
        self.flip = flip
        self._binomials: dict[tuple[int, float], Floats] = {}

    def sum_pmf(self, ones: int, zeros: int) -> Floats:
        """P(sum = 0..n) of ``ones`` flipped ones and ``zeros`` flipped zeros."""
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
    """``FlippedBits.sum_pmf`` of one sum alone."""
    return FlippedBits(flip).sum_pmf(ones, zeros)


def bag_distribution(held: Iterable[int], bits: int, flip: float) -> Bags:
    """The distribution of the histogram when people hold these vectors and every bit is flipped."""
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
    """The distribution of how many vectors came with 0..L set bits."""
    found: defaultdict[tuple[int, ...], float] = defaultdict(float)
    for bag, chance in bags.items():
        found[set_bits(bag)] += chance
    return dict(found)


def set_bits(bag: tuple[int, ...]) -> tuple[int, ...]:
    """How many vectors of a histogram have 0..L set bits."""
    counts = [0] * len(bag).bit_length()
    for vector, count in enumerate(bag):
        counts[vector.bit_count()] += count
    return tuple(counts)


def divergence(first: Bags, second: Bags, grow: float) -> float:
    """The delta of two distributions in both directions, at e^epsilon = ``grow``."""
    pairs = [(chance, second[bag]) for bag, chance in first.items()]
    return max(
        sum(max(0.0, a - grow * b) for a, b in pairs), sum(max(0.0, b - grow * a) for a, b in pairs)
    )
