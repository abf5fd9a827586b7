"""Randomizers of the literature, as matrices of exact entries or of floats."""

import math
from fractions import Fraction
from itertools import combinations, product


def kary(k, local_epsilon):
    """k-ary randomized response."""
    off = 1 / (math.exp(local_epsilon) + k - 1)
    return [[1 - (k - 1) * off if i == j else off for j in range(k)] for i in range(k)]


def thirds():
    """3-ary response with 11/15 and 2/15."""
    return [[Fraction(11 if i == j else 2, 15) for j in range(3)] for i in range(3)]


def hadamard(size, local_epsilon):
    """Hadamard response with ``size`` - 1 values: a row prefers the half of its pattern."""
    high, low = (2 * math.exp(one) / (1 + math.exp(local_epsilon)) / size
                 for one in (local_epsilon, 0))  # fmt: skip
    return [[low if (x & y).bit_count() % 2 else high for y in range(size)] for x in range(1, size)]


def unary(bits, local_epsilon):
    """Optimized unary encoding: the own bit with chance 1/2, the others with q."""
    q = 1 / (1 + math.exp(local_epsilon))
    return [
        [
            math.prod(0.5 if i == own else q if bit else 1 - q for i, bit in enumerate(sent))
            for sent in product((0, 1), repeat=bits)
        ]
        for own in range(bits)
    ]


def subsets(k, size, local_epsilon):
    """Subset selection: sets with the own value are e^epsilon times as likely."""
    sets = list(combinations(range(k), size))
    weights = [[math.exp(local_epsilon) if own in one else 1.0 for one in sets] for own in range(k)]
    return [[one / sum(row) for one in row] for row in weights]


def geometric(most, local_epsilon):
    """Two-sided geometric noise on 0..most, clamped."""
    a = math.exp(-local_epsilon / most)
    rows = []
    for own in range(most + 1):
        row = [(1 - a) / (1 + a) * a ** abs(own - sent) for sent in range(most + 1)]
        row[0], row[most] = a**own / (1 + a), a ** (most - own) / (1 + a)
        rows.append(row)
    return rows
