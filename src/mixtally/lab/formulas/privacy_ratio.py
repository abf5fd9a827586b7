"""The privacy ratio R(S) of shuffled bit vectors: its mean, variance, tail eta, beside delta.

S comes from n - 1 zero vectors and one of all ones, every bit flipped with q; R(S) = X / n with X
the sum of r^(2t - L) over the vectors, t their set bits. The tail eta = P(R > e^eps) is what
*sufficient differential privacy* bounds. It bounds delta from above in this one direction; it is no
guarantee.

Writing the distribution with the outlier as the distribution without it times R,

    eta = (1/n) E_0[X 1{X > e^eps n}] = (1/n) E_0[(X - e^eps n)_+] + e^eps P_0(X > e^eps n),

with n independent zero vectors under E_0.

Source: sufficient DP 000 (1.6), (1.7), (3.6), (3.12).
"""

import math
from typing import NamedTuple

from mixtally.accounting.divergence.vectors import homogeneous_delta
from mixtally.accounting.numerics.bracket import Bracket
from mixtally.accounting.numerics.flip_ratios import Orbit, flip_distribution
from mixtally.accounting.numerics.positive import chance_positive
from mixtally.accounting.numerics.saddle_point import saddle_point_bounds
from mixtally.errors import ParameterError, strictly_within
from mixtally.lab.formulas import sufficient
from mixtally.model.guarantee import check_epsilon, check_users
from mixtally.primitives.fixed_point import LEAST_THRESHOLD, MOST_THRESHOLD, SCALE, threshold_of


class Ratio(NamedTuple):
    """What is known of R(S); eta and delta with both bounds."""

    mean: float
    variance: float
    eta: Bracket
    delta: Bracket


def ratio(users: int, bits: int, threshold: int, epsilon: float) -> Ratio:
    """R(S) for ``users`` vectors of ``bits`` bits flipped with threshold / 2^64.

    delta is the larger of both directions for the same crowd. Raises ParameterError where the
    ratio is larger than a floating point number can be.
    """
    check_users(users)
    check_epsilon(epsilon)
    value = sufficient.phi(threshold / SCALE)
    try:
        mean = sufficient.mean(value, users, bits)
        variance = sufficient.variance(value, users, bits)
    except OverflowError:
        raise ParameterError(
            "flips",
            expected="a privacy ratio below 10^308",
            got=f"{bits} bits flipped with {threshold / SCALE:.3g}",
            do="flip more, or ask fewer bits: this hides nothing",
        ) from None
    return Ratio(
        mean=mean,
        variance=variance,
        eta=eta(users, bits, threshold, epsilon),
        delta=homogeneous_delta(users, bits, threshold, epsilon),
    )


def eta(
    users: int, bits: int, threshold: int, epsilon: float, target: float | None = None
) -> Bracket:
    """P(R(S) > e^epsilon); the bounds may be wide where ``target`` is not between them."""
    grow = math.exp(epsilon)
    distribution = flip_distribution(Orbit(bits, 0, 0), threshold / SCALE, grow)
    excess = saddle_point_bounds(distribution, users)
    required = None if target is None else (target - excess.upper) / grow
    chance = chance_positive(distribution, users, required)
    return Bracket(
        min(1.0, excess.lower + grow * chance.lower), min(1.0, excess.upper + grow * chance.upper)
    )


def eta_threshold(users: int, bits: int, epsilon: float, target: float) -> int:
    """A flip probability, times 2^64, whose eta is certainly at most ``target``, at such an edge.

    eta is not monotone in q, as e^eps moves across the few values that R often takes; so this need
    not be the least one. Raises ParameterError for a target outside (0, 1).
    """
    strictly_within("eta", target, 0.0, 1.0, "0.01, for example")
    low, high = LEAST_THRESHOLD, MOST_THRESHOLD - (MOST_THRESHOLD >> 20)
    while high - low > high >> 24:
        middle = (low + high) // 2
        if eta(users, bits, middle, epsilon, target).upper <= target:
            high = middle
        else:
            low = middle
    return high


def sigmas_threshold(users: int, bits: int, epsilon: float, sigmas: float) -> int:
    """The flip probability, times 2^64, at which E R + sigmas deviations are e^epsilon.

    Source: sufficient DP 000 (3.12). No guarantee follows from it.
    """
    if not 0.0 < sigmas <= 100.0:
        raise ParameterError("sigmas", expected="a number in (0, 100]", got=sigmas, do="try 3")
    return threshold_of(sufficient.sigma_rule(epsilon, users, bits, sigmas))
