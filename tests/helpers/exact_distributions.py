"""Distributions in rational numbers, by another way than the product: outcome by outcome,
polynomials.
"""

from collections import defaultdict
from fractions import Fraction
from itertools import pairwise, product


def flipped(held, seen, bits, q):
    """The chance that ``held`` is sent as ``seen``, bit by bit."""
    chance = Fraction(1)
    for bit in range(bits):
        chance *= 1 - q if held >> bit & 1 == seen >> bit & 1 else q
    return chance


def bags(held, bits, q):
    """Chances of histograms, from every way in which the vectors of ``held`` can be sent."""
    pmf = defaultdict(Fraction)
    for sent in product(range(1 << bits), repeat=len(held)):
        chance = Fraction(1)
        for vector, seen in zip(held, sent, strict=True):
            chance *= flipped(vector, seen, bits, q)
        pmf[tuple(sent.count(v) for v in range(1 << bits))] += chance
    return dict(pmf)


def sums(ones, zeros, q):
    """P(sum = 0..n): the coefficients of (q + p x)^ones (p + q x)^zeros."""
    pmf = [Fraction(1)]
    for rise in [1 - q] * ones + [q] * zeros:
        padded = [Fraction(0), *pmf, Fraction(0)]
        pmf = [(1 - rise) * here + rise * before for before, here in pairwise(padded)]
    return pmf


def delta(first, second, grow):
    """Both directions, at e^epsilon = ``grow``."""
    pairs = [(first[key], second[key]) for key in first]
    return max(
        sum(max(0, a - grow * b) for a, b in pairs),
        sum(max(0, b - grow * a) for a, b in pairs),
    )
