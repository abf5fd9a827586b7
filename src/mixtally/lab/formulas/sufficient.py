"""Sufficient DP 000 (2017): the privacy ratio of shuffled bit vectors, and a rule of three sigmas.

R(S) is the probability of what is seen with one all-ones vector among zeros, divided by the
probability with zeros only; S is drawn with the outlier there. The rule requires that the mean of R
plus three standard deviations be at most lambda = e^eps. That bounds neither the other direction
nor delta: see the audit.

Source: sufficient DP 000; equation numbers at each function.
"""

import math
from collections.abc import Callable

from mixtally.errors import ParameterError
from mixtally.lab.formulas.parameter_ranges import check_count, check_flip, check_promise

_SIGMAS = 3.0
_LARGEST_PHI = 1e12
_HALVINGS = 200


def local(epsilon: float, delta: float, bits: int) -> float:
    """Flip probability that keeps epsilon for every vector by itself; delta is not used.

    Source: sufficient DP 000 (4.2).
    """
    check_promise(epsilon, delta)
    check_count("bits", bits)
    return 1.0 / (1.0 + math.exp(epsilon / bits))


def phi(flip: float) -> float:
    """(p^3 + q^3) / (p q), which is p/q + q/p - 1.

    Source: sufficient DP 000 (3.14).
    """
    check_flip(flip)
    p, q = 1.0 - flip, flip
    return (p**3 + q**3) / (p * q)


def flip_from_phi(value: float) -> float:
    """The flip probability that has this phi >= 1.

    Source: sufficient DP 000 (3.16).
    """
    return 1.0 / (1.0 + 0.5 * ((value + 1.0) + math.sqrt((value + 1.0) ** 2 - 4.0)))


def mean(value: float, users: int, bits: int) -> float:
    """E R(S) as a function of phi.

    Source: sufficient DP 000 section 3.1, (3.12).
    """
    return (users - 1 + value**bits) / users


def variance(value: float, users: int, bits: int) -> float:
    """Var R(S) as a function of phi.

    Source: sufficient DP 000 section 3.1, (3.12).
    """
    return ((users - 1) * (value**bits - 1.0) + _outlier(value, bits)) / users**2


def _outlier(value: float, bits: int) -> float:
    """Var X_1: ((p^5 + q^5) / (p q)^2)^L - phi^(2L), with the first base phi^2 + phi - 1."""
    return (value * value + value - 1.0) ** bits - value ** (2 * bits)


def three_sigma(epsilon: float, delta: float, users: int, bits: int) -> float:
    """Flip probability at which E R(S) + 3 sigma is e^eps; delta is not used.

    Source: sufficient DP 000 (3.12), (3.14), (3.16).
    """
    check_promise(epsilon, delta)
    return sigma_rule(epsilon, users, bits, _SIGMAS)


def sigma_rule(epsilon: float, users: int, bits: int, sigmas: float) -> float:
    """Flip probability at which E R(S) + ``sigmas`` standard deviations is e^eps.

    Source: sufficient DP 000 (3.12), (3.14), (3.16).
    """

    def reach(value: float, users: int, bits: int) -> float:
        return mean(value, users, bits) + sigmas * math.sqrt(variance(value, users, bits))

    return _solve_flip(reach, epsilon, users, bits)


def three_sigma_simplified(epsilon: float, delta: float, users: int, bits: int) -> float:
    """The same from the slightly larger expression that the document solves.

    Source: sufficient DP 000 (3.13), (3.15), (3.16).
    """
    check_promise(epsilon, delta)
    return _solve_flip(_simple_reach, epsilon, users, bits)


def three_sigma_one_hot(epsilon: float, delta: float, users: int) -> float:
    """The rule for records with one set bit, said to cost what free vectors of two bits cost.

    Source: sufficient DP 000 section 5 (k set bits as L = 2k).
    """
    return three_sigma(epsilon, delta, users, bits=2)


def deviation(users: int, flip: float) -> float:
    """Standard error of the count of one bit, sqrt(N) sqrt(pq) / (p - q).

    Source: sufficient DP 000 section 4.
    """
    check_count("users", users)
    check_flip(flip)
    return math.sqrt(users * flip * (1.0 - flip)) / (1.0 - 2.0 * flip)


def _simple_reach(value: float, users: int, bits: int) -> float:
    share = value**bits / users
    return 1.0 + share + _SIGMAS * math.sqrt(share + _outlier(value, bits) / users**2)


def _solve_flip(
    reach: Callable[[float, int, int], float], epsilon: float, users: int, bits: int
) -> float:
    check_count("users", users, least=2)
    check_count("bits", bits)
    target = math.exp(epsilon)

    def meets(value: float) -> bool:
        try:
            return reach(value, users, bits) <= target
        except OverflowError:
            return False

    low, high = 1.0, _LARGEST_PHI
    if not meets(low) or meets(high):
        raise ParameterError(
            "users",
            expected="a crowd in which mean and three sigmas can reach e^epsilon",
            got=f"{users:,}",
            do="more people or a larger epsilon",
        )
    for _ in range(_HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if meets(middle) else (low, middle)
    return flip_from_phi(low)
