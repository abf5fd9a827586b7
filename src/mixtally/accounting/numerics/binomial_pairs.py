"""Divergences of pairs of distributions with a monotone likelihood ratio, and of their products.

A pair (P, Q) on the integers has a monotone ratio if P / Q never falls. Then the divergence sum [P
- e^epsilon Q]_+ is a difference of two tails. Sums of binomial numbers with one more bit are such
pairs; ``single_bit``, ``one_hot``, ``two_outputs`` and the published formulas in ``lab.formulas``
use this module.
"""

from typing import NamedTuple

import numpy as np

from mixtally.accounting.numerics.bracket import BoundArrays, Bracket, bracket, brackets
from mixtally.primitives import tails
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.memo import Memo
from mixtally.primitives.tails import Floats

CONVOLUTION_ERROR = 1e-12
"""Bound on the relative error that convolving ``flip_count_pmf`` makes in P and in e^epsilon Q."""

_STEP_ERROR = 2.0**-51
"""Relative error for each integer of a tail: one rounding for P and one for Q, with a margin."""

_NO_MASS = 1e-290
"""Probability below which digits may be lost, so that a ratio of two such numbers means nothing."""

_MOST_CELLS = 1 << 20
"""Largest array of intermediate results when many divergences are computed."""

_LONGEST_RUN = 2048
"""Most ratios of neighbors that are multiplied; each has an error of at most 2.3e-16."""


class BitChances(NamedTuple):
    """Probabilities of output 1 for two values of a person, as integers over ``scale``.

    ``low``, above 0, is the probability for the value that sends a 1 less often. ``high``, below
    ``scale``, is the probability for the other value.
    """

    low: int
    high: int
    scale: int = SCALE

    @property
    def high_complement(self) -> int:
        """The probability of output 0 for the value that sends a 1 more often."""
        return self.scale - self.high

    @property
    def is_symmetric(self) -> bool:
        """Whether both values send their rarer output with the same probability."""
        return self.low == self.high_complement

    def mirror(self) -> "BitChances":
        """Return the probabilities of output 0, for the same values in reversed order."""
        return BitChances(self.high_complement, self.scale - self.low, self.scale)


def flip_chances(threshold: int) -> BitChances:
    """Return the probabilities of a bit that is flipped with probability ``threshold`` / 2^64."""
    return BitChances(threshold, SCALE - threshold)


class Pair(NamedTuple):
    """Two distributions P and Q on the same integers, with P / Q nondecreasing.

    The integers left out have a probability of at most ``cut`` under either. The relative error of
    each probability is at most ``error``.
    """

    p: Floats
    q: Floats
    cut: float
    error: float = CONVOLUTION_ERROR

    def swap(self) -> "Pair":
        """Return the pair of the other order, with integers reversed so that the ratio rises."""
        return Pair(self.q[::-1], self.p[::-1], self.cut, self.error)


def flip_count_pmf(
    trials: int, threshold: int, memo: Memo | None = None, scale: int = SCALE
) -> Floats:
    """Return the probabilities of Bin(trials, threshold / scale) on ``tails.window``.

    They are accurate to 3e-13. Ratios of neighbors are multiplied, and the products are divided
    by their sum. The probability outside the window is far below the rounding, so no factorial is
    needed. For long windows Loader's form is used instead.
    """
    q = threshold / scale
    first, last = tails.window(trials, q)
    if last - first > _LONGEST_RUN:
        return tails.pmf(trials, q, first, last)
    odds = threshold / (scale - threshold)
    if memo is None:
        return _pmf_by_ratios(trials, odds, first, last)
    pmf: Floats = memo.get(
        ("flips", trials, threshold, scale), lambda: _pmf_by_ratios(trials, odds, first, last)
    )
    return pmf


def _pmf_by_ratios(trials: int, odds: float, first: int, last: int) -> Floats:
    """Return the distribution on a short window; it is read-only, as the memo shares it."""
    k = np.arange(first + 1.0, last + 1.0)
    pmf = np.empty(last - first + 1)
    pmf[0] = 1.0
    np.cumprod((trials + 1.0 - k) / k * odds, out=pmf[1:])
    pmf /= pmf.sum()
    pmf.setflags(write=False)
    return pmf


def convolve_flipped_bits(
    ones: int, zeros: int, chances: BitChances, memo: Memo | None = None
) -> tuple[Floats, float]:
    """Return the distribution of Bin(ones, high) + Bin(zeros, low), and the probability cut off.

    The result begins at the sum of the first integers of both windows. A divergence does not depend
    on this start. The rarer output of each value is counted, because a probability near one, once
    rounded, would spoil its complement.
    """
    pmf, cut = np.ones(1), 0.0
    if zeros > 0:
        pmf, cut = _value_pmf(zeros, chances.low, chances.scale, memo), 2.0 * tails.CUT_TAIL
    if ones > 0:
        pmf = np.convolve(pmf, _value_pmf(ones, chances.high, chances.scale, memo))
        cut += 2.0 * tails.CUT_TAIL
    return pmf, cut


def _value_pmf(trials: int, chance: int, scale: int, memo: Memo | None) -> Floats:
    """Return the distribution of the number of ones, computed from the rarer of both outputs."""
    if 2 * chance <= scale:
        return flip_count_pmf(trials, chance, memo, scale)
    return flip_count_pmf(trials, scale - chance, memo, scale)[::-1]


def add_own_bits(
    background: Floats,
    cut: float,
    chances: BitChances,
    copies: int = 1,
    error: float = CONVOLUTION_ERROR,
) -> Pair:
    """Return the distributions P and Q of a sum that includes the person's bits.

    A bit is 1 with probability ``high`` under P and ``low`` under Q. It is sent ``copies`` times.
    """
    scale, one, zero = chances.scale, np.ones(1), np.ones(1)
    high = [chances.high_complement / scale, chances.high / scale]
    low = [(scale - chances.low) / scale, chances.low / scale]
    for _ in range(copies):
        one, zero = np.convolve(one, high), np.convolve(zero, low)
    return Pair(np.convolve(background, one), np.convolve(background, zero), cut, error)


def divergence(pair: Pair, grow: float) -> Bracket:
    """Return the bounds of the divergence, the sum of [P - grow Q]_+.

    Parameters
    ----------
    pair : Pair
        The distributions P and Q.
    grow : float
        The factor e^epsilon.
    """
    gain = pair.p - grow * pair.q
    positive = (gain > 0.0).astype(np.float64)
    # A gain that rounding made negative is at most the error of its probabilities.
    maybe = (gain > -2.0 * pair.error * pair.p).astype(np.float64)
    # Multiplying by zero keeps a nan, which an index by ``gain > 0`` would silently drop.
    value, mass = float((gain * positive).sum()), float((pair.p * maybe).sum())
    return _bounds(value, pair.cut, grow, 2.0 * pair.error * mass)


class PreparedPair(NamedTuple):
    """A pair prepared for products: its ratio P / Q, and the tails of P and Q.

    A tail has the sum from every integer on, and a final zero for the place after the last integer.
    """

    pair: Pair
    ratio: Floats
    tail_p: Floats
    tail_q: Floats

    @property
    def nbytes(self) -> int:
        """The approximate memory of the five arrays, in bytes."""
        return 5 * self.ratio.nbytes


def prepare_pair(pair: Pair) -> PreparedPair:
    """Prepare a pair for products.

    Where neither distribution has mass, the ratio is that of the integer before. Otherwise the end
    of a window that underflows would seem to reveal everything.
    """
    if pair.q.min() > _NO_MASS:
        ratio = pair.p / pair.q
    else:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            none = np.where(pair.p > 1e20 * _NO_MASS, np.inf, 0.0)
            ratio = np.where(pair.q > _NO_MASS, pair.p / pair.q, none)
    np.maximum.accumulate(ratio, out=ratio)  # rounding may break the order
    return PreparedPair(pair, ratio, _tail(pair.p), _tail(pair.q))


def _tail(pmf: Floats) -> Floats:
    """Return the sums from every place on, and a final zero."""
    out = np.zeros(len(pmf) + 1)
    np.cumsum(pmf[::-1], out=out[-2::-1])
    return out


def _tail_error(prepared: PreparedPair) -> float:
    """Return a bound on the relative error of both tails together: one rounding per integer."""
    return 4.0 * prepared.pair.error + _STEP_ERROR * len(prepared.ratio)


class UpperTail(NamedTuple):
    """The part of a pair that its divergences at epsilon >= 0 depend on.

    ``ratio`` is P / Q where it is above one, up to rounding, and the tails of P and Q begin there.
    ``error`` is the relative error of both tails together.
    """

    ratio: Floats
    tail_p: Floats
    tail_q: Floats
    cut: float
    error: float

    @property
    def nbytes(self) -> int:
        """The approximate memory of the three arrays, in bytes."""
        return 3 * self.ratio.nbytes


def upper_tail(pair: Pair) -> UpperTail:
    """Prepare a pair for many epsilons."""
    whole = prepare_pair(pair)
    error = _tail_error(whole)
    start = int(whole.ratio.searchsorted(1.0 - error, side="right"))
    # Copies, because views would keep the whole arrays in memory.
    ratio, tail_p, tail_q = (each[start:].copy() for each in whole[1:])
    return UpperTail(ratio, tail_p, tail_q, pair.cut, error)


def tail_divergence(tail: UpperTail, grow: float) -> Bracket:
    """Return the ``divergence`` of the pair for ``grow`` >= 1, to all but its last digits.

    Every tail gives a lower bound of the exact sum. The tail that is used begins where the computed
    ratio exceeds ``grow``. So it can only omit points whose exact ratio exceeds ``grow`` by less
    than the relative error. The gain of such a point is at most this error times its probability
    under P. Therefore this error, times the tail of P that begins with these points, is the bound
    on the rounding.
    """
    start, near = (
        int(one) for one in tail.ratio.searchsorted(_grow_and_near(grow, tail.error), "right")
    )
    value = float(tail.tail_p[start]) - grow * float(tail.tail_q[start])
    return _bounds(value, tail.cut, grow, tail.error * float(tail.tail_p[near]))


def _grow_and_near(grow: Floats | float, error: float) -> Floats:
    """Return ``grow``, and the least computed ratio whose exact value may exceed ``grow``."""
    return np.array([grow, grow * (1.0 - error)])


def tail_divergences(tail: UpperTail, grows: Floats) -> BoundArrays:
    """Return ``tail_divergence`` for many values of ``grow`` at once.

    Raises AccountingError for a value that no divergence can have.
    """
    start, near = tail.ratio.searchsorted(_grow_and_near(grows, tail.error), side="right")
    values = tail.tail_p[start] - grows * tail.tail_q[start]
    return _ends(values, tail.cut, grows, tail.error * tail.tail_p[near])


def exchange_divergence(first: PreparedPair, second: PreparedPair, grow: float) -> Bracket:
    """Return the sum over (s, t) of [P1(s) Q2(t) - grow Q1(s) P2(t)]_+.

    Parameters
    ----------
    first : PreparedPair
        The prepared pair (P1, Q1), whose ratio P1 / Q1 rises.
    second : PreparedPair
        The prepared pair (P2, Q2), whose ratio P2 / Q2 rises.
    grow : float
        The factor e^epsilon.
    """
    (bounds,) = exchange_divergences(first, second, np.array([grow])).to_list()
    return bounds


def exchange_divergences(first: PreparedPair, second: PreparedPair, grows: Floats) -> BoundArrays:
    """Return ``exchange_divergence`` for many values of ``grow`` at once.

    For every t, the s with a positive gain are those from some s* on, and s* rises with t. Raises
    AccountingError for a value that no divergence can have.
    """
    p2, q2, cut = second.pair[:3]
    # A term is a tail of the first times a probability of the second. The error of the latter
    # counts twice for P and grow Q, and twice because it can move s*.
    error = _tail_error(first) + 4.0 * second.pair.error
    masses, values = np.empty(len(grows)), np.empty(len(grows))
    for at in range(0, len(grows), rows := max(1, _MOST_CELLS // len(p2))):
        some = slice(at, at + rows)
        least = np.multiply.outer(grows[some], second.ratio)
        start = first.ratio.searchsorted(least, "right")
        # Not np.dot: for long arrays it starts threads and waits for them.
        masses[some] = (q2 * first.tail_p[start]).sum(axis=1)
        values[some] = masses[some] - grows[some] * (p2 * first.tail_q[start]).sum(axis=1)
        least *= 1.0 - error
        if np.any((first.ratio[start - 1] > least) & (start > 0)):
            # The error counts for the points that ``tail_divergence`` names too.
            near = first.ratio.searchsorted(least, "right")
            masses[some] = (q2 * first.tail_p[near]).sum(axis=1)
    return _ends(values, cut + first.pair.cut, grows, error * masses)


def product_divergence(first: Pair, second: Pair, grow: float) -> Bracket:
    """Return the sum over (s, t) of [P1(s) P2(t) - grow Q1(s) Q2(t)]_+, both ratios rising."""
    return exchange_divergence(prepare_pair(first), prepare_pair(second.swap()), grow)


def _bounds(value: float, cut: float, grow: float, rounding: float) -> Bracket:
    """Return both bounds of a divergence.

    The probability cut off from Q may have been subtracted ``grow`` times, so the lower bound
    decreases.
    """
    rounding += 1e20 * grow * _NO_MASS
    if -rounding <= value < 0.0:
        value = 0.0
    bounds = bracket(value, cut=cut, rounding=rounding)
    return Bracket(max(0.0, bounds.lower - grow * cut), bounds.upper)


def _ends(values: Floats, cut: float, grows: Floats, rounding: Floats) -> BoundArrays:
    """Return ``_bounds`` of many divergences."""
    rounding = rounding + 1e20 * grows * _NO_MASS
    values = np.where((values < 0.0) & (values >= -rounding), 0.0, values)
    lower, upper = brackets(values, cut=cut, rounding=rounding)
    return BoundArrays(np.maximum(0.0, lower - grows * cut), upper)
