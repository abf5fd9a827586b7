"""The sum of two binomial numbers, Bin(ones, h) + Bin(zeros, l), by its recurrence.

Let h and l be the two chances of a one, with h' = 1 - h and l' = 1 - l. The generating function
G = (h' + h x)^ones (l' + l x)^zeros has G' / G rational, so that the chances g_k = P(k) of
n = ones + zeros bits meet

    h' l' (k + 1) g_{k+1} = (c - (h l' + h' l) k) g_k + h l (n - k + 1) g_{k-1},
    c = ones h l' + zeros h' l,

and their ratios r_k = g_k / g_{k-1} meet r_{k+1} = A_k + B_k / r_k with B_k >= 0. Up to
k = c / (h l' + h' l) A_k is not negative either, so that nothing cancels: an error of r_k comes
into r_{k+1} times theta_k = (B_k / r_k) / r_{k+1} < 1 at most, relatively, and with e for the
roundings of a step no ratio is wrong by more than e / (1 - theta), theta the largest so far. Above,
the same holds of the bits counted backwards: ones and zeros are exchanged, and h, l become l', h'.
The g_k themselves are solved for, a system of a band of three: the sums are of the same positive
terms, whose roundings are as if A_k and B_k had them. A step takes two products; to convolve the
two takes as many as there are pairs. Flipped bits have l = h'.

A window that does not begin at 0 is come to from some steps before: A_k < r_{k+1} < r with
r = A_k + B_k / r, as the ratios fall, and what lies between two numbers lies between what follows
from them.
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
"""What a start was wrong by is e^-45 of it when the window begins."""
_SLOW = 1e-9
_ROUNDINGS = 8.0
"""Of A_k five, of B_k one, of a product and the sum; at the end a quotient."""
_PRODUCTS, _MOST_PRODUCTS = 1 << 20, 1 << 24
"""So many are quicker than a step for every integer; so many are spent on coins."""


class _Recurrence(NamedTuple):
    """The coefficients of the recurrence.

    where
      turn     c / (h l' + h' l), its whole part and the rest
      slope    (h l' + h' l) / (h' l')
      weight   h l / (h' l'); 1 where bits are flipped
    """

    total: int
    turn: tuple[int, float]
    slope: float
    weight: float

    @classmethod
    def of(cls, ones: int, zeros: int, chances: BitChances) -> "_Recurrence":
        """Compute them in integers, so that the difference of ``turn`` and k keeps its digits."""
        low, high, lost = chances.low, chances.high, chances.high_complement
        kept = chances.scale - low
        up, down = high * kept, lost * low
        whole, rest = divmod(ones * up + zeros * down, up + down)
        turn = whole, rest / (up + down)
        return cls(ones + zeros, turn, (up + down) / (lost * kept), high * low / (lost * kept))

    def coefficients(self, k: Floats) -> tuple[Floats, Floats]:
        """A_k and B_k."""
        whole, rest = self.turn
        a = self.slope * ((whole - k) + rest) / (k + 1.0)
        return a, (self.total + 1.0 - k) / (k + 1.0) * self.weight

    @property
    def roundings(self) -> float:
        """Roundings of a step: of the weight, unless it is 1, two more."""
        return _ROUNDINGS if self.weight == 1.0 else _ROUNDINGS + 2.0

    def approximate_ratio(self, k: int) -> tuple[float, float]:
        """About r_{k+1}, were A and B the same for all, and 1 - theta then."""
        a, b = (float(found[0]) for found in self.coefficients(np.array([float(k)])))
        ratio = 0.5 * (a + math.sqrt(a * a + 4.0 * b))
        return ratio, a / ratio


class Chances(NamedTuple):
    """Chances of consecutive integers, all but ``cut``, each wrong by at most ``error`` of it."""

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
    """Return where ones lose their output 1, and where zeros have it."""
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
    """Return the same with at least ``coins`` of ``sure_coins`` added.

    None are added where that takes more than ``most_products``: fewer never help the person.
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
    """Return the sum of a number distributed as ``found`` and Bin(trials, chance / scale)."""
    if not trials:
        return found
    rarer = min(chance, scale - chance)
    more = flip_count_pmf(trials, rarer, memo, scale)
    more = more if rarer == chance else more[::-1]
    cut, error = found.cut + 3.0 * tails.CUT_TAIL, found.error + CONVOLUTION_ERROR
    return Chances(np.convolve(found.pmf, more), cut, error)


def count_certain_coins(people: int, chances: BitChances) -> int:
    """Return how many of ``people`` send an output that does not depend on their value; 0 if few.

    Whatever the value, output 1 has a chance of at least ``low``, and output 0 one of at least
    1 - ``high``. With the sum of both the message is drawn from these shares; a flipped bit is a
    fair coin then.
    """
    share = (chances.low + chances.high_complement) / chances.scale
    sure = tails.window(people, share).first if people > 0 else 0
    return sure if 2 * sure >= people else 0


def sum_by_recurrence(ones: int, zeros: int, chances: BitChances) -> Chances:
    """Return the same for at least one of both."""
    kept, risen = _windows(ones, zeros, chances)
    first, last = risen.first + ones - kept.last, risen.last + ones - kept.first
    bits = _Recurrence.of(ones, zeros, chances)
    backwards = _Recurrence.of(zeros, ones, chances.mirror())
    middle = min(max(bits.turn[0], first), last)
    below, less = _outwards(bits, first, middle)
    above, more = _outwards(backwards, bits.total - last, bits.total - middle)
    pmf: Floats = np.concatenate([below[::-1], [1.0], above])
    pmf /= pmf.sum()
    return Chances(pmf, 4.0 * tails.CUT_TAIL, 2.0 * (less + more) + _UNIT * len(pmf))


def _outwards(bits: _Recurrence, first: int, last: int) -> tuple[Floats, float]:
    """g_{last-1}, .., g_first over g_last, and a bound on their relative error.

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
    """1, ``ratio`` and what follows: each a times the last plus b times the last but one."""
    from scipy.linalg import blas  # slow to import, and only large crowds need it

    band = np.empty((3, len(a) + 2), order="F")
    band[1, 0], band[1, 1:-1], band[2, :-2] = -ratio, -a, -b
    start = np.zeros(len(a) + 2)
    start[0] = 1.0
    solved: Floats = blas.dtbsv(2, band, start, lower=1, diag=1, overwrite_x=1)
    return solved
