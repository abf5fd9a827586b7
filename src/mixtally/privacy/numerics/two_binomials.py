"""The sum of two binomial numbers, Bin(ones, p) + Bin(zeros, q), p = 1 - q, by its recurrence.

Its generating function G = (q + p x)^ones (p + q x)^zeros has G' / G rational, so that the chances
g_k = P(k) of n = ones + zeros bits meet

    p q (k + 1) g_{k+1} = (c - (p^2 + q^2) k) g_k + p q (n - k + 1) g_{k-1},
    c = ones p^2 + zeros q^2,

and their ratios r_k = g_k / g_{k-1} meet r_{k+1} = A_k + B_k / r_k with B_k >= 0. Up to
k = c / (p^2 + q^2) A_k is not negative either, so that nothing cancels: an error of r_k comes into
r_{k+1} times theta_k = (B_k / r_k) / r_{k+1} < 1 at most, relatively, and with e for the roundings
of a step no ratio is wrong by more than e / (1 - theta), theta the largest so far. Above, the same
holds of the bits counted backwards, with ones and zeros exchanged. The g_k themselves are solved
for, a system of a band of three: the sums are of the same positive terms, whose roundings are as
if A_k and B_k had them. A step takes two products; to convolve the two takes as many as there are
pairs.

A window that does not begin at 0 is come to from some steps before: A_k < r_{k+1} < r with
r = A_k + B_k / r, as the ratios fall, and what lies between two numbers lies between what follows
from them.
"""

import math
from typing import NamedTuple

import numpy as np

from mixtally.ground import tails
from mixtally.ground.fixed import MOST_THRESHOLD, SCALE
from mixtally.ground.memo import Memo
from mixtally.ground.tails import Floats
from mixtally.privacy.numerics.binomial_pairs import CONVOLVED, flipped_bits

_UNIT = 2.0**-53
_FORGOTTEN_NATS = 45.0
"""What a start was wrong by is e^-45 of it when the window begins."""
_SLOW = 1e-9
_ROUNDINGS = 8.0
"""Of A_k five, of B_k one, of a product and the sum; at the end a quotient."""
_PRODUCTS, _MOST_PRODUCTS = 1 << 20, 1 << 24
"""So many are quicker than a step for every integer; so many are spent on coins."""


class _Bits(NamedTuple):
    """Ones and zeros that are flipped with probability ``threshold`` / 2^64.

    where
      turn    c / (p^2 + q^2), its whole part and the rest
      slope   (p^2 + q^2) / (p q)
    """

    total: int
    turn: tuple[int, float]
    slope: float

    @classmethod
    def of(cls, ones: int, zeros: int, threshold: int) -> "_Bits":
        """In integers, so that the difference of ``turn`` and k keeps all of its digits."""
        kept = SCALE - threshold
        both = kept * kept + threshold * threshold
        whole, rest = divmod(ones * kept * kept + zeros * threshold * threshold, both)
        return cls(ones + zeros, (whole, rest / both), both / (kept * threshold))

    def coefficients(self, k: Floats) -> tuple[Floats, Floats]:
        """A_k and B_k."""
        whole, rest = self.turn
        a = self.slope * ((whole - k) + rest) / (k + 1.0)
        return a, (self.total + 1.0 - k) / (k + 1.0)

    def likely(self, k: int) -> tuple[float, float]:
        """About r_{k+1}, were A and B the same for all, and 1 - theta then."""
        a, b = (float(found[0]) for found in self.coefficients(np.array([float(k)])))
        ratio = 0.5 * (a + math.sqrt(a * a + 4.0 * b))
        return ratio, a / ratio


class Chances(NamedTuple):
    """Chances of consecutive integers, all but ``cut``, each wrong by at most ``error`` of it."""

    pmf: Floats
    cut: float
    error: float


def flipped_sum(ones: int, zeros: int, threshold: int, memo: Memo | None = None) -> Chances:
    """The distribution of the sum of flipped bits, ``ones`` of which were one."""
    q = threshold / SCALE
    lengths = [last - first for first, last in (tails.window(ones, q), tails.window(zeros, q))]
    if lengths[0] * lengths[1] < _PRODUCTS:
        return Chances(*flipped_bits(ones, zeros, threshold, memo), CONVOLVED)
    return by_recurrence(ones, zeros, threshold)


def with_coins(
    ones: int,
    zeros: int,
    coins: int,
    threshold: int,
    memo: Memo | None = None,
    *,
    most_products: int = _MOST_PRODUCTS,
) -> Chances:
    """The same with at least ``coins`` of ``sure_coins`` added, or none where that takes more than
    ``most_products``: fewer never help the person.
    """
    pmf, cut, error = flipped_sum(ones, zeros, threshold, memo)
    first, last = tails.window(coins, MOST_THRESHOLD / SCALE)
    if not coins or len(pmf) * (last - first) > most_products:
        return Chances(pmf, cut, error)
    fair = flipped_sum(0, coins, MOST_THRESHOLD, memo)
    cut += fair.cut + tails.CUT_TAIL
    return Chances(np.convolve(pmf, fair.pmf), cut, error + fair.error)


def sure_coins(flipped: int, threshold: int) -> int:
    """So many of ``flipped`` bits are fair coins for certain; 0 where that is few.

    A bit flipped with q is a coin with probability 2 q, and shows what it was otherwise.
    """
    sure = tails.window(flipped, 2.0 * threshold / SCALE).first if flipped > 0 else 0
    return sure if 2 * sure >= flipped else 0


def by_recurrence(ones: int, zeros: int, threshold: int) -> Chances:
    """The same of at least one of both."""
    q = threshold / SCALE
    flipped, kept = tails.window(zeros, q), tails.window(ones, q)
    first, last = flipped.first + ones - kept.last, flipped.last + ones - kept.first
    bits, backwards = _Bits.of(ones, zeros, threshold), _Bits.of(zeros, ones, threshold)
    middle = min(max(bits.turn[0], first), last)
    below, less = _outwards(bits, first, middle)
    above, more = _outwards(backwards, bits.total - last, bits.total - middle)
    pmf: Floats = np.concatenate([below[::-1], [1.0], above])
    pmf /= pmf.sum()
    return Chances(pmf, 4.0 * tails.CUT_TAIL, 2.0 * (less + more) + _UNIT * len(pmf))


def _outwards(bits: _Bits, first: int, last: int) -> tuple[Floats, float]:
    """g_{last-1}, .., g_first over g_last, and a bound on their relative error.

    ``last`` is at most ``bits.turn``.
    """
    if first >= last:
        return np.zeros(0), 0.0
    pad = math.ceil(_FORGOTTEN_NATS / max(bits.likely(first)[1], _SLOW))
    start = max(0, first - pad)
    a, b = bits.coefficients(np.arange(start, last, dtype=np.float64))
    low = high = float(a[0])
    if start > 0:
        high = bits.likely(start)[0]
    skipped = first - start
    for add, times in zip(a[1 : skipped + 1].tolist(), b[1 : skipped + 1].tolist(), strict=True):
        low, high = add + times / high, add + times / low
    g = _solved(high, a[skipped + 1 :], b[skipped + 1 :])
    theta = 1.0 - a[skipped:] * g[:-1] / g[1:]
    slow = np.maximum(1.0 - np.maximum.accumulate(theta), 1.0 / len(theta))
    error = _UNIT * _ROUNDINGS * float((1.0 / slow).sum()) + len(theta) * (high / low - 1.0)
    return g[-2::-1] / g[-1], error


def _solved(ratio: float, a: Floats, b: Floats) -> Floats:
    """1, ``ratio`` and what follows: each a times the last plus b times the last but one."""
    from scipy.linalg import blas  # slow to import, and only large crowds need it

    band = np.empty((3, len(a) + 2), order="F")
    band[1, 0], band[1, 1:-1], band[2, :-2] = -ratio, -a, -b
    start = np.zeros(len(a) + 2)
    start[0] = 1.0
    solved: Floats = blas.dtbsv(2, band, start, lower=1, diag=1, overwrite_x=1)
    return solved
