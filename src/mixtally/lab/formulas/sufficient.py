"""The privacy ratio of shuffled bit vectors and its rule of three sigmas (Sufficient DP 000, 2017).

``catalogue`` and ``literature`` use these formulas. The observation S is the multiset of all
flipped vectors. R(S) is its probability if one person, the *outlier*, holds a vector of all ones
and all others hold zeros, divided by its probability if all hold zeros. In the rule, S is drawn
with the outlier. The rule requires that the mean of R(S) plus three standard deviations is at most
lambda = e^eps. This rule bounds neither the other direction nor delta, as the audit shows.

An observation is also a histogram. A vector of L bits is read as an integer below 2^L, so the
histogram is a sequence of 2^L counts.

Source: sufficient DP 000; equation numbers at each function.
"""

import math
from collections.abc import Callable, Sequence

from mixtally.errors import ParameterError
from mixtally.lab.formulas.parameter_ranges import check_count, check_flip, check_promise

_SIGMAS = 3.0
_LARGEST_PHI, _HALVINGS = 1e12, 200
"""The largest phi of a search, and the number of bisection steps."""


def transition_probability(value: int, seen: int, bits: int, flip: float) -> float:
    """Return the probability p^m q^(L - m) that the vector ``value`` is sent as ``seen``.

    L = ``bits`` is the length of a vector, m the number of bits in which the two vectors agree, q =
    ``flip`` and p = 1 - q.

    Source: sufficient DP 000 section 1.3, K-randomization 003 section 2.
    """
    check_flip(flip)
    distance = (value ^ seen).bit_count()
    return (1.0 - flip) ** (bits - distance) * flip**distance


def homogeneous_ratio(counts: Sequence[int], crowd: int, bits: int, flip: float) -> float:
    """Return the likelihood ratio of two values of one person, all ones against all zeros.

    In the observation, ``counts[s]`` messages equal the vector s. All other people hold the vector
    ``crowd``.

    Source: sufficient DP 000 (2.4); with a crowd of zeros (3.1).
    """
    ones = (1 << bits) - 1
    above = below = 0.0
    for seen, count in enumerate(counts):
        hidden = count / transition_probability(crowd, seen, bits, flip)
        above += hidden * transition_probability(ones, seen, bits, flip)
        below += hidden * transition_probability(0, seen, bits, flip)
    return above / below


def ratio_by_set_bits(counts: Sequence[int], flip: float) -> float:
    """Return ``homogeneous_ratio`` in a crowd whose vectors are all zero.

    ``counts[k]`` is the number of vectors with k set bits, for k from 0 to their length.

    Source: sufficient DP 000 (3.4).
    """
    check_flip(flip)
    bits, odds = len(counts) - 1, flip / (1.0 - flip)
    sums = (count * odds ** (bits - 2 * set_bits) for set_bits, count in enumerate(counts))
    return sum(sums) / sum(counts)


def local(epsilon: float, delta: float, bits: int) -> float:
    """Return the flip probability that keeps epsilon for every single vector; delta is not used.

    Source: sufficient DP 000 (4.2).
    """
    check_promise(epsilon, delta)
    check_count("bits", bits)
    return 1.0 / (1.0 + math.exp(epsilon / bits))


def phi(flip: float) -> float:
    """Return (p^3 + q^3) / (p q), which equals p/q + q/p - 1.

    Source: sufficient DP 000 (3.14).
    """
    check_flip(flip)
    p, q = 1.0 - flip, flip
    return (p**3 + q**3) / (p * q)


def flip_from_phi(value: float) -> float:
    """Return the flip probability q with phi(q) = ``value``, for a value of at least 1.

    Source: sufficient DP 000 (3.16).
    """
    return 1.0 / (1.0 + 0.5 * ((value + 1.0) + math.sqrt((value + 1.0) ** 2 - 4.0)))


def mean(value: float, users: int, bits: int) -> float:
    """Return the mean of the privacy ratio R(S), with phi = ``value``.

    Source: sufficient DP 000 section 3.1, (3.12).
    """
    return (users - 1 + value**bits) / users


def variance(value: float, users: int, bits: int) -> float:
    """Return the variance of the privacy ratio R(S), with phi = ``value``.

    Source: sufficient DP 000 section 3.1, (3.12).
    """
    return ((users - 1) * (value**bits - 1.0) + _outlier(value, bits)) / users**2


def _outlier(value: float, bits: int) -> float:
    """Return the variance of the term (p/q)^(2t - L) that the outlier's message adds to n R(S).

    Here t is the number of set bits of this message, L the number of its bits, and phi = ``value``.
    The variance is ((p^5 + q^5) / (p q)^2)^L - phi^(2L), where (p^5 + q^5) / (p q)^2 equals phi^2 +
    phi - 1.
    """
    return (value * value + value - 1.0) ** bits - value ** (2 * bits)


def three_sigma(epsilon: float, delta: float, users: int, bits: int) -> float:
    """Return the flip probability at which E R(S) + 3 sigma is e^eps; delta is not used.

    Source: sufficient DP 000 (3.12), (3.14), (3.16).
    """
    check_promise(epsilon, delta)
    return sigma_rule(epsilon, users, bits, _SIGMAS)


def sigma_rule(epsilon: float, users: int, bits: int, sigmas: float) -> float:
    """Return the flip probability at which E R(S) + ``sigmas`` standard deviations is e^eps.

    Source: sufficient DP 000 (3.12), (3.14), (3.16).
    """

    def reach(value: float, users: int, bits: int) -> float:
        return mean(value, users, bits) + sigmas * math.sqrt(variance(value, users, bits))

    return _solve_flip(reach, epsilon, users, bits)


def three_sigma_simplified(epsilon: float, delta: float, users: int, bits: int) -> float:
    """Return the flip probability of the rule of three sigmas with a simplified left side.

    The left side of the rule is E R(S) + 3 sigma. Equation (3.13) replaces this sum by a simpler,
    slightly larger one.

    Source: sufficient DP 000 (3.13), (3.15), (3.16).
    """
    check_promise(epsilon, delta)
    return _solve_flip(_simple_reach, epsilon, users, bits)


def three_sigma_one_hot(epsilon: float, delta: float, users: int) -> float:
    """Return the flip probability of the rule of three sigmas for one-hot records.

    The document equates one-hot records with vectors of two bits.

    Source: sufficient DP 000 section 5 (k set bits as L = 2k).
    """
    return three_sigma(epsilon, delta, users, bits=2)


def deviation(users: int, flip: float) -> float:
    """Return the standard error sqrt(N) sqrt(pq) / (p - q) of the count of one bit.

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

    def suffices(value: float) -> bool:
        try:
            return reach(value, users, bits) <= target
        except OverflowError:  # Too large for a double is larger than any e^epsilon in range.
            return False

    low, high = 1.0, _LARGEST_PHI
    if not suffices(low) or suffices(high):
        raise ParameterError(
            "users",
            expected="a crowd in which mean and three sigmas can reach e^epsilon",
            got=f"{users:,}",
            do="more people or a larger epsilon",
        )
    for _ in range(_HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if suffices(middle) else (low, middle)
    return flip_from_phi(low)
