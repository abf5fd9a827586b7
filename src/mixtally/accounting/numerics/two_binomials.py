"""The distribution of Bin(ones, h) + Bin(zeros, l) by a three-term recurrence.

The bits of n = ones + zeros people are summed: ``ones`` of them are 1 with probability h and
``zeros`` of them with probability l. The divergences of two outputs need this distribution. For
large crowds the recurrence is much faster than a convolution: two products per integer, instead of
one for each pair of integers.

*The recurrence.* Write h' = 1 - h, l' = 1 - l and g_k for the probability of the sum k. The
generating function G(x) = (h' + h x)^ones (l' + l x)^zeros has a rational G' / G. Comparing
coefficients gives

    h' l' (k + 1) g_{k+1} = (c - (h l' + h' l) k) g_k + h l (n - k + 1) g_{k-1},
    c = ones h l' + zeros h' l.

The ratios r_k = g_k / g_{k-1} therefore satisfy r_{k+1} = A_k + B_k / r_k with B_k >= 0.

*Stability.* Up to the turn k = c / (h l' + h' l), A_k is not negative either, so nothing cancels. A
relative error of r_k enters r_{k+1} multiplied by at most theta_k = (B_k / r_k) / r_{k+1} < 1. If
each step rounds by at most e, no ratio has a relative error above e / (1 - theta), where theta is
the largest theta_k so far. Above the turn the same is true of the bits counted backwards: ones and
zeros are exchanged, and h, l become l', h'. Flipped bits have l = h'.

*Solution.* The g_k are solved for directly, as a triangular system with three bands. The solver
adds the same positive terms, so its roundings act like roundings of A_k and B_k.

*Start.* A window that does not begin at 0 is entered from some steps before. The ratios fall, so
A_k < r_{k+1} < r with r = A_k + B_k / r. If r_k lies between two numbers, r_{k+1} lies between the
numbers that follow from them, and the interval shrinks with every step.
"""

import math
from typing import NamedTuple

import numpy as np

from mixtally.accounting.numerics.binomial_pairs import (
    CONVOLUTION_ERROR,
    BitChances,
    convolve_flipped_bits,
    flip_count_pmf,
)
from mixtally.primitives import tails
from mixtally.primitives.memo import Memo
from mixtally.primitives.tails import Floats

_UNIT = 2.0**-53
_FORGOTTEN_NATS = 45.0
"""The error of the start is multiplied by e^-45 before the window begins."""
_SLOW = 1e-9
"""Least contraction that is assumed when the number of steps before the window is chosen."""
_ROUNDINGS = 8.0
"""Roundings of a step: five of A_k, one of B_k, one product and one sum, and a final quotient."""
_PRODUCTS, _MOST_PRODUCTS = 1 << 20, 1 << 24
"""Products below which a convolution is faster than the recurrence, and most products for coins."""


class _Recurrence(NamedTuple):
    """The coefficients of the recurrence for ``total`` bits.

    ``turn`` is c / (h l' + h' l), as its integer part and the rest. ``slope`` is (h l' + h' l) /
    (h' l'), and ``weight`` is h l / (h' l'), which is 1 for flipped bits.
    """

    total: int
    turn: tuple[int, float]
    slope: float
    weight: float

    @classmethod
    def of(cls, ones: int, zeros: int, chances: BitChances) -> "_Recurrence":
        """Compute the coefficients in integers, so that the turn minus k keeps its digits."""
        low, high, lost = chances.low, chances.high, chances.high_complement
        kept = chances.scale - low
        up, down = high * kept, lost * low
        whole, rest = divmod(ones * up + zeros * down, up + down)
        turn = whole, rest / (up + down)
        return cls(ones + zeros, turn, (up + down) / (lost * kept), high * low / (lost * kept))

    def coefficients(self, k: Floats) -> tuple[Floats, Floats]:
        """Return A_k and B_k."""
        whole, rest = self.turn
        a = self.slope * ((whole - k) + rest) / (k + 1.0)
        return a, (self.total + 1.0 - k) / (k + 1.0) * self.weight

    @property
    def roundings(self) -> float:
        """The number of roundings in one step of the recurrence; a weight other than 1 adds two."""
        return _ROUNDINGS if self.weight == 1.0 else _ROUNDINGS + 2.0

    def approximate_ratio(self, k: int) -> tuple[float, float]:
        """Return r_{k+1} and 1 - theta as if A and B were the same for all k."""
        a, b = (float(found[0]) for found in self.coefficients(np.array([float(k)])))
        ratio = 0.5 * (a + math.sqrt(a * a + 4.0 * b))
        return ratio, a / ratio


class Chances(NamedTuple):
    """Probabilities of consecutive integers.

    The integers left out have a probability of at most ``cut``. The relative error of each
    probability is at most ``error``.
    """

    pmf: Floats
    cut: float
    error: float


def sum_flipped_bits(
    ones: int, zeros: int, chances: BitChances, memo: Memo | None = None
) -> Chances:
    """Return the distribution of Bin(ones, high) + Bin(zeros, low)."""
    windows = _windows(ones, zeros, chances)
    lengths = [last - first for first, last in windows]
    if lengths[0] * lengths[1] < _PRODUCTS:
        return Chances(*convolve_flipped_bits(ones, zeros, chances, memo), CONVOLUTION_ERROR)
    return sum_by_recurrence(ones, zeros, chances)


def _windows(ones: int, zeros: int, chances: BitChances) -> tuple[tails.Window, tails.Window]:
    """Return the windows of the number of ones that become 0, and of zeros that become 1."""
    lost = tails.window(ones, chances.high_complement / chances.scale)
    return lost, tails.window(zeros, chances.low / chances.scale)


def add_certain_coins(
    ones: int,
    zeros: int,
    coins: int,
    chances: BitChances,
    memo: Memo | None = None,
    *,
    most_products: int = _MOST_PRODUCTS,
) -> Chances:
    """Return the distribution of the sum with ``coins`` certain coins added to the bits.

    The coins are those of ``count_certain_coins``. They are left out if adding them would take more
    than ``most_products`` products. Leaving out messages of other people never decreases delta.
    """
    found = sum_flipped_bits(ones, zeros, chances, memo)
    either, scale = chances.low, chances.low + chances.high_complement
    first, last = tails.window(coins, either / scale)
    if not coins or len(found.pmf) * (last - first) > most_products:
        return found
    return add_binomial(found, coins, either, scale, memo)


def add_binomial(
    found: Chances, trials: int, chance: int, scale: int, memo: Memo | None = None
) -> Chances:
    """Return the distribution of ``found`` plus an independent Bin(trials, chance / scale)."""
    if not trials:
        return found
    rarer = min(chance, scale - chance)
    more = flip_count_pmf(trials, rarer, memo, scale)
    more = more if rarer == chance else more[::-1]
    cut, error = found.cut + 3.0 * tails.CUT_TAIL, found.error + CONVOLUTION_ERROR
    return Chances(np.convolve(found.pmf, more), cut, error)


def count_certain_coins(people: int, chances: BitChances) -> int:
    """Return a number of people who almost surely send an output that ignores their value.

    For every value, output 1 has a probability of at least ``low``, and output 0 of at least 1 -
    ``high``. So with a probability equal to the sum of both numbers, a message is drawn from a
    distribution that is the same for all values. For flipped bits such a message is a fair coin.
    The result is 0 if it is less than half of ``people``.
    """
    share = (chances.low + chances.high_complement) / chances.scale
    certain = tails.window(people, share).first if people > 0 else 0
    return certain if 2 * certain >= people else 0


def sum_by_recurrence(ones: int, zeros: int, chances: BitChances) -> Chances:
    """Return the distribution of Bin(ones, high) + Bin(zeros, low), for at least one bit."""
    kept, risen = _windows(ones, zeros, chances)
    first, last = risen.first + ones - kept.last, risen.last + ones - kept.first
    bits = _Recurrence.of(ones, zeros, chances)
    backwards = _Recurrence.of(zeros, ones, chances.mirror())
    # Both halves run outwards from the turn, where the recurrence of each is stable.
    middle = min(max(bits.turn[0], first), last)
    below, less = _outwards(bits, first, middle)
    above, more = _outwards(backwards, bits.total - last, bits.total - middle)
    pmf: Floats = np.concatenate([below[::-1], [1.0], above])
    pmf /= pmf.sum()
    return Chances(pmf, 4.0 * tails.CUT_TAIL, 2.0 * (less + more) + _UNIT * len(pmf))


def _outwards(bits: _Recurrence, first: int, last: int) -> tuple[Floats, float]:
    """Return g_{last-1}, .., g_first divided by g_last, and a bound on their relative error.

    ``last`` is at most ``bits.turn``.
    """
    if first >= last:
        return np.zeros(0), 0.0
    pad = math.ceil(_FORGOTTEN_NATS / max(bits.approximate_ratio(first)[1], _SLOW))
    start = max(0, first - pad)
    a, b = bits.coefficients(np.arange(start, last, dtype=np.float64))
    low = high = float(a[0])
    if start > 0:
        high = bits.approximate_ratio(start)[0]
    skipped = first - start
    for add, times in zip(a[1 : skipped + 1].tolist(), b[1 : skipped + 1].tolist(), strict=True):
        low, high = add + times / high, add + times / low
    g = _solve_recurrence(high, a[skipped + 1 :], b[skipped + 1 :])
    theta = 1.0 - a[skipped:] * g[:-1] / g[1:]
    slow = np.maximum(1.0 - np.maximum.accumulate(theta), 1.0 / len(theta))
    error = _UNIT * bits.roundings * float((1.0 / slow).sum()) + len(theta) * (high / low - 1.0)
    return g[-2::-1] / g[-1], error


def _solve_recurrence(ratio: float, a: Floats, b: Floats) -> Floats:
    """Return 1, ``ratio`` and the following terms of x_{j+2} = a_j x_{j+1} + b_j x_j."""
    from scipy.linalg import blas  # imported late: slow, and only large crowds need it

    band = np.empty((3, len(a) + 2), order="F")
    band[1, 0], band[1, 1:-1], band[2, :-2] = -ratio, -a, -b
    start = np.zeros(len(a) + 2)
    start[0] = 1.0
    solved: Floats = blas.dtbsv(2, band, start, lower=1, diag=1, overwrite_x=1)
    return solved
