"""The privacy ratio R(S) of shuffled bit vectors: its mean, variance and tail, and delta.

``mixtally check sufficient`` and ``literature`` use it. S is the multiset of n - 1 zero vectors and
one vector of all ones, of L bits each, in which every bit is flipped with probability q. With p = 1
- q, r = p / q, and t the set bits of a vector, let X be the sum of r^(2t - L) over the vectors.
Then R(S) = X / n. *Sufficient differential privacy* bounds the tail eta = P(R > e^eps). The tail is
an upper bound of delta in this one direction, but it is no guarantee.

Let E_0 and P_0 refer to n independent zero vectors. The distribution with the outlier has the
density R with respect to P_0. Hence

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
    """The mean and variance of R(S), with brackets of eta and delta."""

    mean: float
    variance: float
    eta: Bracket
    delta: Bracket


def ratio(users: int, bits: int, threshold: int, epsilon: float) -> Ratio:
    """Return the mean and variance of R(S), and brackets of eta and delta.

    Delta is the larger one of both directions for the same crowd. ``threshold`` is the flip
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
    """Return eta = P(R(S) > e^epsilon), as a bracket.

    With a ``target``, the bracket is refined only until ``target`` is outside of it.
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
    """Return the flip probability, times 2^64, at which E R + sigmas deviations are e^epsilon.

    No guarantee follows from this rule.

    Source: sufficient DP 000 (3.12).
    """
    if not 0.0 < sigmas <= 100.0:
        raise ParameterError("sigmas", expected="a number in (0, 100]", got=sigmas, do="try 3")
    return threshold_of(sufficient.sigma_rule(epsilon, users, bits, sigmas))
