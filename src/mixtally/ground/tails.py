"""Binomial probabilities to 13 digits at any size, and proved bounds for what is cut away."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]

_CUT_NATS = 64.0
CUT_TAIL = math.exp(-_CUT_NATS)
"""An upper bound, 1.7e-28, for the probability cut off each side of a window."""

_EXACT_FACTORIALS = 16


class Window(NamedTuple):
    """The integers first..last that hold all but ``CUT_TAIL`` on either side."""

    first: int
    last: int


def window(trials: int, probability: float) -> Window:
    """Where Bin(trials, probability) lives, by Bernstein's inequality.

    P(X - mean >= t) and P(mean - X >= t) are at most exp(-t^2 / (2 (variance + t/3))).
    """
    mean = trials * probability
    variance = mean * (1.0 - probability)
    third = _CUT_NATS / 3.0
    reach = third + math.sqrt(third * third + 2.0 * _CUT_NATS * variance)
    return Window(max(0, math.ceil(mean - reach)), min(trials, math.floor(mean + reach) + 1))


def pmf(trials: int, probability: float, first: int, last: int) -> Floats:
    """P(X = k) for k = first..last, X ~ Bin(trials, probability), 0 < probability < 1.

    Loader's form: deviances instead of differences of huge logarithms, so that the relative error
    stays near 1e-13 at 1e10 trials.

    Source: Loader, Fast and Accurate Computation of Binomial Probabilities (2000), section 3.
    """
    k = np.arange(first, last + 1, dtype=np.float64)
    inner = k[(k > 0) & (k < trials)]
    rest = trials - inner
    # The mean in integers: as one double it would cost five digits at 1e10 trials.
    numerator, denominator = probability.as_integer_ratio()
    whole, part = divmod(trials * numerator, denominator)
    gap = (inner - whole) - part / denominator
    log_p = (
        _stirling_error(np.float64(trials))
        - _stirling_error(inner)
        - _stirling_error(rest)
        - _deviance(inner, trials * probability, gap)
        - _deviance(rest, trials * (1.0 - probability), -gap)
    )
    out = np.exp(log_p) * np.sqrt(trials / (2.0 * np.pi * inner * rest))
    if first == 0:
        out = np.concatenate([[math.exp(trials * math.log1p(-probability))], out])
    if last == trials and trials > 0:
        out = np.concatenate([out, [math.exp(trials * math.log(probability))]])
    return out


def upper_half_tail(trials: Floats, first: Floats) -> Floats:
    """P(Bin(trials, 1/2) >= first) for arrays with 1 <= first <= trials."""
    return np.asarray(special.betainc(first, trials - first + 1.0, 0.5), dtype=np.float64)


def half_pmf(trials: Floats, k: Floats) -> Floats:
    """P(Bin(trials, 1/2) = k) for arrays with 1 <= k <= trials - 1.

    Source: as ``pmf``.
    """
    rest = trials - k
    half = 0.5 * trials
    log_p = (
        _stirling_error(trials)
        - _stirling_error(k)
        - _stirling_error(rest)
        - _deviance(k, half, k - half)
        - _deviance(rest, half, half - k)
    )
    return np.exp(log_p) * np.sqrt(trials / (2.0 * np.pi * k * rest))


def _stirling_error(n: NDArray[np.float64] | np.float64) -> Floats:
    """log(n!) minus Stirling's formula for it, n >= 1."""
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
    direct = special.gammaln(low + 1.0) - (
        (low + 0.5) * np.log(low) - low + 0.5 * math.log(2 * np.pi)
    )
    return np.where(small, direct, series)


def _deviance(x: Floats, mean: Floats | float, gap: Floats) -> Floats:
    """Return x log(x / mean) + mean - x with gap = x - mean given exactly, without cancellation."""
    near = np.abs(gap) < 0.1 * (x + mean)
    v = gap / (x + mean)
    square = v * v
    term = 2.0 * x * v
    total = gap * v
    for odd in range(3, 23, 2):
        term = term * square
        total = total + term / odd
    if near.all():
        return total
    return np.where(near, total, x * np.log(x / mean) - gap)
