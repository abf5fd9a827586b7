"""Binomial probabilities to 13 digits at any size, with proved bounds for truncated tails."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_CUT_NATS = 64.0
CUT_TAIL = math.exp(-_CUT_NATS)
"""Upper bound, 1.7e-28, of the probability that is cut off at each side of a window."""

# Below this number log n! is tabulated: the Stirling series is not accurate enough there.
_EXACT_FACTORIALS = 16
_LOG_FACTORIALS = np.array([math.lgamma(n + 1.0) for n in range(_EXACT_FACTORIALS)])
# Largest relative error of one rounding.
_UNIT = 2.0**-53
_POINT_ERROR = 1e-12
"""Upper bound of the relative error of ``half_pmf`` for values above 1e-60. The measured error is
below 1e-13."""
# Terms smaller than e^-40 of the largest one are below its last bit and are left out.
_NATS_OF_A_DOUBLE = 40.0
_CELLS = 1 << 16
"""Largest number of array elements in memory when the terms of several sums are computed at once.
"""


class Window(NamedTuple):
    """The integers ``first`` to ``last``; each side beyond has probability at most ``CUT_TAIL``."""

    first: int
    last: int


def window(trials: int, probability: float) -> Window:
    """Return the likely range of Bin(trials, probability), by Bernstein's inequality.

    P(X - mean >= t) and P(mean - X >= t) are at most exp(-t^2 / (2 (variance + t/3))). The range
    ends at the t for which this bound equals ``CUT_TAIL``.

    Parameters
    ----------
    trials : int
        The number of trials n.
    probability : float
        The probability of each trial, in [0, 1].
    """
    mean = trials * probability
    variance = mean * (1.0 - probability)
    third = _CUT_NATS / 3.0
    reach = third + math.sqrt(third * third + 2.0 * _CUT_NATS * variance)
    return Window(max(0, math.ceil(mean - reach)), min(trials, math.floor(mean + reach) + 1))


def pmf(trials: int, probability: float, first: int, last: int) -> Floats:
    """Return the binomial probabilities P(X = k) for k = ``first`` .. ``last``.

    Loader's form uses deviances instead of differences of large logarithms. So the relative error
    stays near 1e-13 even at 10^10 trials.

    Parameters
    ----------
    trials : int
        The number of trials.
    probability : float
        The probability of success in each trial, in (0, 1).
    first, last : int
        The range of k, both ends included.

    Returns
    -------
    array of float64, shape (last - first + 1,)

    References
    ----------
    .. [1] Loader, "Fast and Accurate Computation of Binomial Probabilities", 2000, section 3.
    """
    k = np.arange(first, last + 1, dtype=np.float64)
    inner = k[first == 0 : len(k) - (last == trials)]  # Loader's form excludes k = 0 and k = trials
    rest = trials - inner
    # The mean is split into integer and fraction: one double would lose five digits at 10^10.
    numerator, denominator = probability.as_integer_ratio()
    whole, part = divmod(trials * numerator, denominator)
    gap = (inner - whole) - part / denominator
    # Ones and zeros share one call, because the overhead of a call dominates for short arrays.
    means = np.array([[trials * probability], [trials * (1.0 - probability)]])
    ones, zeros = _deviance(np.stack((inner, rest)), means, np.stack((gap, -gap)))
    errors = _stirling_error(np.concatenate(([trials], inner, rest)))
    whole_error, ones_error, zeros_error = np.split(errors, (1, 1 + len(inner)))
    log_p = whole_error - ones_error - zeros_error - ones - zeros
    out: Floats = np.exp(log_p) * np.sqrt(trials / (2.0 * np.pi * inner * rest))
    if first == 0:
        out = np.concatenate([[math.exp(trials * math.log1p(-probability))], out])
    if last == trials and trials > 0:
        out = np.concatenate([out, [math.exp(trials * math.log(probability))]])
    return out


def upper_half_tail(trials: Floats, first: Floats, cells: int = _CELLS) -> Floats:
    """Return P(Bin(trials, 1/2) >= first) for arrays with trials / 2 < first <= trials.

    The probability of ``first`` is multiplied by a sum of products of ratios of neighboring
    probabilities; see ``_terms``. The relative error is that of ``half_pmf`` plus two roundings per
    unit of sqrt(trials).

    Parameters
    ----------
    trials : array of float64, shape (n,)
        The numbers of trials, whole numbers of at least 1.
    first : array of float64, shape (n,)
        The least number of successes of each tail, a whole number in (trials / 2, trials].
    cells : int
        The approximate number of floats that may be in memory at once.

    Returns
    -------
    array of float64, shape (n,)
        The tails. A tail below the least double is 0.
    """
    points = np.exp2(-trials)
    inner = first < trials
    points[inner] = half_pmf(trials[inner], first[inner])
    reach = int(_terms(trials, first).max(initial=0.0))
    step = max(1, cells // (reach + 1))
    sums = [
        _falling_sum(trials[start : start + step], first[start : start + step], reach)
        for start in range(0, len(trials), step)
    ]
    out: Floats = points * np.concatenate([np.ones(0), *sums])
    return out


def _falling_sum(trials: Floats, first: Floats, reach: int) -> Floats:
    """Return the sums of P(X = first + i) / P(X = first) over i = 0..reach."""
    i = np.arange(float(reach))
    ratios = np.maximum(trials[:, None] - first[:, None] - i, 0.0) / (first[:, None] + 1.0 + i)
    sums: Floats = 1.0 + np.cumprod(ratios, axis=1).sum(axis=1)
    return sums


def _terms(trials: Floats, first: Floats) -> Floats:
    """Return an upper bound of the number of terms that exceed e^-40 times the largest term.

    The terms are the probabilities of ``first`` and of the integers after it.

    The ratios r_i = (trials - first - i) / (first + 1 + i) < 1 decrease. The product of the first i
    is at most r_0^i e^{-2 i (i-1) / (trials+1)}.
    """
    remaining = trials - first
    slope = np.log((first + 1.0) / np.maximum(remaining, 0.5))
    curve = 2.0 / (trials + 1.0)
    reach = (np.sqrt(slope * slope + 4.0 * curve * _NATS_OF_A_DOUBLE) - slope) / (2.0 * curve)
    return np.minimum(remaining, np.ceil(reach) + 2.0)


def half_pmf(trials: Floats, k: Floats) -> Floats:
    """Return P(Bin(trials, 1/2) = k), in the form that ``pmf`` uses.

    Parameters
    ----------
    trials : Floats
        The numbers of trials.
    k : Floats
        The numbers of successes, in [1, trials - 1].
    """
    rest, half = trials - k, 0.5 * trials
    whole, ones, zeros = _stirling_error(np.stack((trials, k, rest)))
    heads, tossed = _deviance(np.stack((k, rest)), half, np.stack((k - half, half - k)))
    log_p = whole - ones - zeros - heads - tossed
    out: Floats = np.exp(log_p) * np.sqrt(trials / (2.0 * np.pi * k * rest))
    return out


class Walk(NamedTuple):
    """Probabilities of counts of heads in m fair coin tosses, for consecutive m.

    Each m has a number k. ``points`` are P(Bin(m, 1/2) = k), with a relative error of at most
    ``share``. ``tails`` are P(Bin(m, 1/2) > k), with absolute errors of at most ``errors``.
    """

    points: Floats
    tails: Floats
    errors: Floats
    share: float


def half_walk(trials: Floats, k: Floats) -> Walk | None:
    """Return points and tails for consecutive ascending ``trials`` m, by Pascal's rule.

    Let p(m, k) = P(Bin(m, 1/2) = k) be the point and S(m, k) = P(Bin(m, 1/2) > k) the tail. Then

        p(m, k) = p(m+1, k) 2 (m+1-k) / (m+1) = p(m+1, k+1) 2 (k+1) / (m+1),
        S(m, k) = S(m+1, k) - p(m, k) / 2     = S(m+1, k+1) + p(m, k+1) / 2,
        S(m, k) = S(m+2, k+1) - p(m, k) (2k+1-m) / (4 (k+1))
                = S(m+2, k+2) + p(m, k+1) (1/2 + (m+1) / (4 (k+2))).

    The tails are computed downwards in steps of two, because the absolute values of single steps
    add up to far more than their sum. The bound of the error counts the absolute value of every
    term. Points restart from ``half_pmf`` at regular intervals, which limits their error.

    Parameters
    ----------
    trials : array of float64, shape (n,)
        Consecutive ascending whole numbers m; the caller checks this.
    k : array of float64, shape (n,)
        A whole number for each m.

    Returns
    -------
    Walk or None
        Arrays of shape (n,). None unless n >= 3 and 1 <= k < m <= 2 k, and k rises by 0 or 1 from
        one m to the next, and by 1 or 2 over two.
    """
    rises, pairs = np.diff(k), k[2:] - k[:-2]
    if not (
        len(pairs) and np.all((2.0 * k >= trials) & (k < trials)) and _by_steps(k, rises, pairs)
    ):
        return None
    width = math.isqrt(len(k)) + 1
    share = _POINT_ERROR + 8.0 * _UNIT * width
    points = _points_by_rows(trials, k, rises, width)
    beyond: Floats = points * ((trials - k) / (k + 1.0))  # p(m, k+1)
    m, j = trials[:-2], k[:-2]
    single = np.where(rises > 0.0, 0.5 * beyond[:-1], -0.5 * points[:-1])[::-2]
    double = np.where(
        pairs > 1.0,
        beyond[:-2] * (0.5 + 0.25 * (m + 1.0) / (j + 2.0)),
        points[:-2] * (0.25 * (m - 2.0 * j - 1.0) / (j + 1.0)),
    )[::-2]
    last, last_error = _first_tail(float(trials[-1]), float(k[-1]), float(points[-1]))
    # Descending order: every second tail from the last one, then those between by single steps.
    steps: Floats = np.concatenate([[last], double])
    tails, moved = np.empty_like(k), np.empty_like(k)
    tails[::2], moved[::2] = _running_sum(steps), _running_sum(np.abs(steps))
    tails[1::2] = tails[:-1:2] + single
    moved[1::2] = moved[:-1:2] + np.abs(single)
    errors: Floats = (share + 8.0 * _UNIT * width) * moved + last_error
    return Walk(points, tails[::-1], errors[::-1], share)


def _by_steps(k: Floats, rises: Floats, pairs: Floats) -> bool:
    """Return whether k is at least 1 and rises in the steps that Pascal's rule allows.

    ``rises`` are the increases from each entry to the next one, 0 or 1. ``pairs`` are the increases
    over two entries, 1 or 2.
    """
    single = np.all((rises == 0.0) | (rises == 1.0))
    return bool(k[0] >= 1.0 and single and np.all((pairs == 1.0) | (pairs == 2.0)))


def _points_by_rows(trials: Floats, k: Floats, rises: Floats, width: int) -> Floats:
    """Return the probabilities P(Bin(m, 1/2) = k) for all ``trials`` m.

    The ratios of neighboring probabilities are multiplied. Every ``width`` entries the product
    restarts from ``half_pmf``.
    """
    count = len(k)
    ratios: Floats = np.ones(-(-count // width) * width)
    ratios[1:count] = (2.0 * np.where(rises > 0.0, k[1:], trials[1:] - k[1:]) / trials[1:])[::-1]
    rows = ratios.reshape(-1, width)
    heads = count - 1 - width * np.arange(len(rows))
    rows[:, 0] = half_pmf(trials[heads], k[heads])
    points: Floats = np.cumprod(rows, axis=1, dtype=np.float64).ravel()[:count][::-1]
    return points


def _first_tail(trials: float, k: float, point: float) -> tuple[float, float]:
    """Return P(Bin(trials, 1/2) > k) and a bound of its error, from P(Bin(trials, 1/2) = k).

    A geometric series bounds the terms that are left out.
    """
    i = np.arange(float(_terms(np.array(trials), np.array(k))))
    ratios = (trials - k - i) / (k + 1.0 + i)
    terms = np.cumprod(ratios)
    total = float(terms.sum())
    omitted = float(terms[-1]) / (1.0 - float(ratios[-1]))
    # Term i is a product of i + 1 ratios, so it contains 2 (i + 1) roundings.
    roundings = 4.0 * _UNIT * (float((terms * i).sum()) + 32.0 * total)
    return point * total, point * (total * _POINT_ERROR + roundings + omitted)


def _running_sum(terms: Floats) -> Floats:
    """Return the sums of the first 1, 2, .., n terms, each with at most 2 sqrt(n) + 3 roundings.

    Summing rows of sqrt(n) terms first keeps the number of roundings this small.
    """
    width = math.isqrt(len(terms)) + 1
    rows = np.zeros(-(-len(terms) // width) * width)
    rows[: len(terms)] = terms
    within = np.cumsum(rows.reshape(-1, width), axis=1)
    before = np.cumsum(np.concatenate([[0.0], within[:-1, -1]]))
    sums: Floats = (within + before[:, None]).ravel()[: len(terms)]
    return sums


def log_factorials(k: NDArray[np.int64]) -> Floats:
    """Return log(k!) for k >= 0, by Stirling's formula and its error term."""
    n = np.maximum(k, 1).astype(np.float64)
    out: Floats = (n + 0.5) * np.log(n) - n + 0.5 * math.log(2.0 * math.pi) + _stirling_error(n)
    return out


def _stirling_error(n: NDArray[np.float64] | np.float64) -> Floats:
    """Return log(n!) minus Stirling's formula for n >= 1."""
    n = np.atleast_1d(np.asarray(n, dtype=np.float64))
    small = n < _EXACT_FACTORIALS
    large = np.where(small, _EXACT_FACTORIALS, n)
    square = large * large
    series = np.full_like(large, 1 / 1188)
    for coefficient in (1 / 1680, 1 / 1260, 1 / 360, 1 / 12):
        series = coefficient - series / square
    series /= large
    if not small.any():
        return series
    low = np.where(small, n, 1.0)
    direct = _LOG_FACTORIALS[low.astype(np.intp)] - (
        (low + 0.5) * np.log(low) - low + 0.5 * math.log(2 * np.pi)
    )
    return np.where(small, direct, series)


def _deviance(x: Floats, mean: Floats | float, gap: Floats) -> Floats:
    """Return x log(x / mean) + mean - x without cancellation; gap = x - mean is exact."""
    near = np.abs(gap) < 0.1 * (x + mean)
    v = gap / (x + mean)
    square = v * v
    term = 2.0 * x * v
    total = gap * v
    for odd in range(3, 23, 2):
        term *= square
        total += term / odd
    if near.all():
        return total
    return np.where(near, total, x * np.log(x / mean) - gap)
