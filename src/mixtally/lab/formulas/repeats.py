"""Formulas of K-Randomization 003 (2015) and 001 (2016) for bits that are sent k times.

``catalogue`` and ``literature`` use these formulas, which compare two crowds. One crowd has one
zero among ones, and the other has only ones. The likelihood ratio of the two crowds decreases with
the number of ones that are seen. The formulas require a ratio of at most lambda = e^eps at one
number of ones: three standard deviations below the mean in a crowd with only ones. This condition
does not bound delta.

Source: K-randomization 003; equation numbers at each function.
"""

import math
from collections.abc import Mapping

from mixtally.lab.formulas.parameter_ranges import check_count, check_flip, check_promise
from mixtally.lab.formulas.sufficient import transition_probability

_SIGMAS_SQUARED = 9.0
"""Three standard deviations, squared."""


def ratio(ones_seen: int, users: int, flip: float) -> float:
    """Return the likelihood ratio of a crowd with one zero against a crowd with only ones.

    Both crowds have ``users`` people. ``ones_seen`` ones are seen after the flips.

    Source: K-randomization 003 (4.32).
    """
    check_count("users", users)
    check_count("ones seen", ones_seen, least=0)
    check_count("users", users, least=ones_seen)
    check_flip(flip)
    odds = (1.0 - flip) / flip
    return ((users - ones_seen) * odds + ones_seen / odds) / users


def seen_chance(holders: Mapping[int, int], seen: int, bits: int, flip: float) -> float:
    """Return the probability that at least one person sends the vector ``seen``.

    ``holders`` maps each vector, as an integer, to the number of people who hold it.

    Source: K-randomization 003 section 2, P[s in R(T)].
    """
    missed = (
        math.log1p(-transition_probability(v, seen, bits, flip)) * holders[v] for v in holders
    )
    return -math.expm1(sum(missed))


def anonymity(holders: Mapping[int, int], bits: int, flip: float) -> float:
    """Return the anonymity A_p, the least of a ratio over all people and all vectors.

    The ratio is the probability that at least one other person sends the vector, divided by the
    probability that the person sends it.

    Source: K-randomization 003 section 3, A_p.
    """
    return min(
        seen_chance({**holders, v: holders[v] - 1}, seen, bits, flip)
        / transition_probability(v, seen, bits, flip)
        for v in holders
        for seen in range(1 << bits)
    )


def choices(lies: int, seen: int, users: int, repeats: int) -> float:
    """Return C(k(N - 1), s - i) / C(kN, s) for k = ``repeats`` and N = ``users``.

    Here s = ``seen`` is the number of ones that are seen, and i = ``lies`` the number of flipped
    bits of the person.

    Source: K-randomization 003 (5.10).
    """
    total = repeats * users
    above = math.prod(seen - j for j in range(lies))
    above *= math.prod(total - seen - j for j in range(repeats - lies))
    return above / math.prod(total - j for j in range(repeats))


def repeated_ratio(ones_seen: int, users: int, flip: float, repeats: int) -> float:
    """Return the likelihood ratio that ``ratio`` returns, if every bit is sent ``repeats`` times.

    Source: K-randomization 003 (5.9).
    """
    check_count("users", users)
    check_count("repeats", repeats)
    check_flip(flip)
    odds = (1.0 - flip) / flip
    return sum(
        choices(i, ones_seen, users, repeats) * math.comb(repeats, i) * odds ** (repeats - 2 * i)
        for i in range(repeats + 1)
    )


def single_bit(epsilon: float, delta: float, users: int) -> float:
    """Return the flip probability of one bit per person, sent once; delta is not used.

    Source: K-randomization 003 (4.45).
    """
    return repeated_bit(epsilon, delta, users, repeats=1)


def repeated_bit(epsilon: float, delta: float, users: int, repeats: int) -> float:
    """Return the flip probability if every bit is sent ``repeats`` times; delta is not used.

    Source: K-randomization 003 (5.24).
    """
    check_promise(epsilon, delta)
    check_count("users", users)
    check_count("repeats", repeats)
    need = _SIGMAS_SQUARED / (math.expm1(epsilon / repeats) ** 2 * repeats * users)
    # This is (1 - 1 / sqrt(1 + 4 x)) / 2 in a form without cancellation.
    root = math.sqrt(1.0 + 4.0 * need)
    return 2.0 * need / (root * (root + 1.0))


def deviation(users: int, flip: float, repeats: int = 1) -> float:
    """Return the standard error of the count of ones, in counts.

    Source: K-randomization 003 (4.4), (5.4).
    """
    check_count("users", users)
    check_count("repeats", repeats)
    check_flip(flip)
    return math.sqrt(users * flip * (1.0 - flip) / repeats) / (1.0 - 2.0 * flip)
