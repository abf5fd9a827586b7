"""Formulas of Notes 004 (2020) for flipped bits and one-hot records, with and without fakes.

``catalogue`` and ``literature`` use these formulas. Every formula is based on a Chernoff bound for
the sum of the flips, so it requires more noise than the exact distribution does. Equation (5.12)
also assumes that only sums are seen. Values are as printed, even above 1/2.

Source: notes 004; equation numbers at each function.
"""

import math

import numpy as np

from mixtally.lab.formulas.parameter_ranges import check_count, check_flip, check_promise
from mixtally.primitives import tails


def single_bit_cover(epsilon: float, delta: float) -> float:
    """Return the expected number n q of flips that all bits together need.

    Source: notes 004 (4.48), also printed as (4.57).
    """
    check_promise(epsilon, delta)
    part = -math.expm1(-epsilon)
    return 3.0 * math.log(2.0 / delta) / part**2 + 4.0 / part


def single_bit(epsilon: float, delta: float, users: int, fakes: int = 0) -> float:
    """Return the flip probability of one bit per person, among ``fakes`` fake zeros.

    Source: notes 004 (4.48); with fakes section 4.4.
    """
    check_count("users", users)
    check_count("fakes", fakes, least=0)
    return single_bit_cover(epsilon, delta) / (users + fakes)


def single_bit_error_as_printed(epsilon: float, delta: float, flip: float) -> float:
    """Return the standard error of the count of ones as printed, where a square root is missing.

    Source: notes 004 (4.62).
    """
    check_flip(flip)
    return math.sqrt(1.0 - flip) / (1.0 - 2.0 * flip) * single_bit_cover(epsilon, delta)


def single_bit_error(epsilon: float, delta: float, flip: float) -> float:
    """Return the standard error of the count of ones, with the root that (4.62) lacks.

    Source: notes 004 (4.60) times n, (4.61).
    """
    check_flip(flip)
    return math.sqrt((1.0 - flip) * single_bit_cover(epsilon, delta)) / (1.0 - 2.0 * flip)


def tail_as_printed(epsilon: float, bits: int, flip: float) -> float:
    """Return the quantity that (4.10) requires to be at most delta, with the factor as printed.

    The quantity is a maximum over all sums k. ``bits`` is the number of other people, who all hold
    zeros. The printed factor 2 p e^eps - 1 is wrong; the algebra gives p (1 + e^eps) - 1.

    Source: notes 004 (4.10), (4.14).
    """
    return _largest_tail(epsilon, bits, flip, as_printed=True)


def tail(epsilon: float, bits: int, flip: float) -> float:
    """Return the quantity of ``tail_as_printed`` with the correct factor.

    If all other people hold zeros, this quantity is the exact delta for one order of the neighbors.

    Source: notes 004 (4.13).
    """
    return _largest_tail(epsilon, bits, flip, as_printed=False)


def _largest_tail(epsilon: float, bits: int, flip: float, *, as_printed: bool) -> float:
    check_promise(epsilon, 0.5)
    check_count("bits", bits)
    check_flip(flip)
    low, high = tails.window(bits, flip)
    point = tails.pmf(bits, flip, low, high)
    below = np.cumsum(point)
    grow, keep = math.exp(epsilon), 1.0 - flip
    factor = 2.0 * keep * grow - 1.0 if as_printed else keep * (1.0 + grow) - 1.0
    return max(0.0, float((factor * point - math.expm1(epsilon) * below).max()))


def one_hot_cover(epsilon: float, delta: float) -> float:
    """Return the expected number of fakes, or of flipped bits of fakes, that each bin needs.

    Let m be the number of fakes, d the number of bins and q the flip probability. The number is
    m / d for uniform fakes in clear, and m q for flipped blanks.

    Source: notes 004 (5.10) and (5.26), whose right-hand sides agree.
    """
    check_promise(epsilon, delta)
    return 3.0 * math.log(4.0 / delta) / math.tanh(epsilon / 2.0) ** 2


def clear_uniform(epsilon: float, delta: float, bins: int) -> float:
    """Return the number of uniform fakes that hide records that are not randomized.

    Source: notes 004 (5.10).
    """
    check_count("bins", bins, least=2)
    return bins * one_hot_cover(epsilon, delta)


def flip_blank(epsilon: float, delta: float, fakes: int) -> float:
    """Return the flip probability of one-hot records among ``fakes`` blanks.

    Source: notes 004 (5.26).
    """
    check_count("fakes", fakes)
    return one_hot_cover(epsilon, delta) / fakes


def flip_cover(epsilon: float, delta: float) -> float:
    """Return the expected number of flips per bin, q (n + m), of all n people and m fakes.

    Source: notes 004 (5.12), (5.16).
    """
    check_promise(epsilon, delta)
    part = -math.expm1(-epsilon / 2.0)
    return 3.0 * math.log(4.0 / delta) / part**2 + 4.0 / part


def flip(epsilon: float, delta: float, users: int, fakes: int = 0) -> float:
    """Return the flip probability of one-hot records if all n + m flipped records hide a person.

    These are the records of n = ``users`` people and m = ``fakes`` blanks.

    Source: notes 004 (5.12), (5.16).
    """
    check_count("users", users)
    check_count("fakes", fakes, least=0)
    return flip_cover(epsilon, delta) / (users + fakes)


def flip_share_error(epsilon: float, delta: float, users: int, fakes: int, bins: int) -> float:
    """Return the standard error of a bin's share of all people, at the flip probability of (5.16).

    Source: notes 004 (5.21).
    """
    check_count("bins", bins, least=2)
    q = flip(epsilon, delta, users, fakes)
    check_flip(q)
    flips = (1.0 - q) / (1.0 - 2.0 * q) ** 2 * flip_cover(epsilon, delta)
    return math.sqrt(flips + fakes / bins * (1.0 - 1.0 / bins)) / users
