"""What the same guarantee costs in other models: the lines every result is held against."""

import math


def central_standard_error(epsilon: float, moved: float = 2.0) -> float:
    """Error of a bin when someone trusted holds all values and adds discrete Laplace noise.

    One substitution moves two bins by one, so each gets decay epsilon / 2 and no delta is spent.
    ``moved`` is that sum of all moves: 2 for a histogram, 1 for a single bit's count.

    Source: Ghosh, Roughgarden, Sundararajan, Universally Utility-Maximizing Privacy Mechanisms
    (2009), the geometric mechanism.
    """
    ratio = math.exp(-epsilon / moved)
    return math.sqrt(2.0 * ratio) / (1.0 - ratio)


def local_standard_error(epsilon: float, users: int, bins: int) -> float:
    """Error of an empty bin when everybody randomizes for themselves: the better of two mechanisms.

    Source: Wang, Blocki, Li, Jha, Locally Differentially Private Protocols for Frequency
    Estimation (2017), optimized unary encoding and direct encoding.
    """
    grow = math.exp(epsilon)
    unary = 4.0 * grow
    direct = bins - 2.0 + grow
    return math.sqrt(users * min(unary, direct)) / math.expm1(epsilon)


def local_bits_standard_error(epsilon: float, users: int, bits: int) -> float:
    """Error of a bit when everybody flips each of ``bits`` free bits for themselves.

    Every bit has epsilon / bits: the variance is users * p q / (p - q)^2 with p / q = exp of it.
    Source: Warner, Randomized Response (1965).
    """
    share = epsilon / bits
    return math.sqrt(users * math.exp(share)) / math.expm1(share)
