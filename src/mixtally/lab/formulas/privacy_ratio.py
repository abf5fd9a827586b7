"""The privacy ratio R(S) of shuffled bit vectors: its mean, variance and tail, and delta.

``mixtally check sufficient`` and ``literature`` use this module. There are n people: n - 1 hold a
zero vector of L bits, and one, the *outlier*, holds the vector of all ones. Every bit is flipped
with probability q, and S is the multiset of the flipped vectors. Let p = 1 - q and r = p / q. Let t
be the number of set bits of a vector in S, and X the sum of r^(2t - L) over all vectors in S. Then
R(S) = X / n is the likelihood of S, divided by its likelihood if all n people hold zero vectors.
*Sufficient differential privacy* bounds the tail eta = P(R > e^eps). The tail is an upper bound of
delta in this one direction, so it is no guarantee.

Let E_0 and P_0 refer to n people who all hold zero vectors, and let (x)_+ = max(0, x). The
distribution with the outlier has the density R with respect to P_0. Hence

    eta = (1/n) E_0[X 1{X > e^eps n}] = (1/n) E_0[(X - e^eps n)_+] + e^eps P_0(X > e^eps n).

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
    """The mean and variance of R(S), and lower and upper bounds of eta and delta."""

    mean: float
    variance: float
    eta: Bracket
    delta: Bracket


def ratio(users: int, bits: int, threshold: int, epsilon: float) -> Ratio:
    """Return the mean and variance of R(S), and lower and upper bounds of eta and delta.

    Delta is the larger of both directions for the same crowd. ``threshold`` is the flip
    probability times 2^64.

    Raises
    ------
    ParameterError
        If the ratio exceeds the largest floating-point number.
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
            got=f"a larger one for {bits} bits flipped with probability {threshold / SCALE:.3g}",
            do="flip with a larger probability, or ask fewer bits: such flips hide nothing",
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
    """Return a lower and an upper bound of eta = P(R(S) > e^epsilon).

    With a ``target``, the bounds are refined only until the target is not between them.
    """
    grow = math.exp(epsilon)
    distribution = flip_distribution(Orbit(bits, 0, 0), threshold / SCALE, grow)
    excess = saddle_point_bounds(distribution, users)
    required = None if target is None else (target - excess.upper) / grow
    chance = chance_positive(distribution, users, required)
    return Bracket(
        min(1.0, excess.lower + grow * chance.lower), min(1.0, excess.upper + grow * chance.upper)
    )


def eta_threshold(users: int, bits: int, epsilon: float, target: float) -> int:
    """Return a flip probability, times 2^64, at which eta drops to at most ``target``.

    Eta is not monotone in q, because the few frequent values of R cross e^eps as q changes. So the
    result need not be the least such probability.

    Raises
    ------
    ParameterError
        If ``target`` is outside (0, 1).
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
    """Return the flip probability, times 2^64, at which the rule of sigmas holds with equality.

    There the mean of R(S) plus ``sigmas`` standard deviations is e^epsilon. No guarantee follows
    from this rule.

    Source: sufficient DP 000 (3.12).
    """
    if not 0.0 < sigmas <= 100.0:
        raise ParameterError("sigmas", expected="a number in (0, 100]", got=sigmas, do="try 3")
    return threshold_of(sufficient.sigma_rule(epsilon, users, bits, sigmas))
