"""K-Randomization 003 (2015) and 001 (2016): single bits, sent once or k times, three sigmas.

The ratio of the two distributions falls with the number of ones seen, so the condition is that it
is at most lambda = e^eps three standard deviations below the mean, in a crowd of ones. That is not
a delta.

Source: K-randomization 003; equation numbers at each function.
"""

import math
from collections.abc import Mapping

from mixtally.lab.formulas.histograms import transition_probability
from mixtally.lab.formulas.parameter_ranges import check_count, check_flip, check_promise

_SIGMAS_SQUARED = 9.0


def ratio(ones_seen: int, users: int, flip: float) -> float:
    """Likelihood that one of ``users`` ones was a zero, against none, once the sum is seen.

    Source: K-randomization 003 (4.32).
    """
    check_count("users", users)
    check_count("ones seen", ones_seen, least=0)
    check_count("users", users, least=ones_seen)
    check_flip(flip)
    odds = (1.0 - flip) / flip
    return ((users - ones_seen) * odds + ones_seen / odds) / users


def seen_chance(held: Mapping[int, int], seen: int, bits: int, flip: float) -> float:
    """Chance that ``seen`` is among what is sent, for so many people who hold each vector.

    Source: K-randomization 003 section 2, P[s in R(T)].
    """
    missed = (math.log1p(-transition_probability(v, seen, bits, flip)) * held[v] for v in held)
    return -math.expm1(sum(missed))


def anonymity(held: Mapping[int, int], bits: int, flip: float) -> float:
    """Least chance, over who and what, that others send it, against that the person does.

    Source: K-randomization 003 section 3, A_p.
    """
    return min(
        seen_chance({**held, v: held[v] - 1}, seen, bits, flip)
        / transition_probability(v, seen, bits, flip)
        for v in held
        for seen in range(1 << bits)
    )


def choices(lies: int, seen: int, users: int, repeats: int) -> float:
    """C(k(N - 1), s - i) / C(kN, s) for s = ``seen`` ones, i = ``lies`` of them the person's.

    Source: K-randomization 003 (5.10).
    """
    total = repeats * users
    above = math.prod(seen - j for j in range(lies))
    above *= math.prod(total - seen - j for j in range(repeats - lies))
    return above / math.prod(total - j for j in range(repeats))


def repeated_ratio(ones_seen: int, users: int, flip: float, repeats: int) -> float:
    """``ratio`` when every bit is sent ``repeats`` times.

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
    """Flip probability of one bit a person, sent once; delta is not used.

    Source: K-randomization 003 (4.45).
    """
    return repeated_bit(epsilon, delta, users, repeats=1)


def repeated_bit(epsilon: float, delta: float, users: int, repeats: int) -> float:
    """Flip probability when every bit is sent ``repeats`` times; delta is not used.

    Source: K-randomization 003 (5.24).
    """
    check_promise(epsilon, delta)
    check_count("users", users)
    check_count("repeats", repeats)
    need = _SIGMAS_SQUARED / (math.expm1(epsilon / repeats) ** 2 * repeats * users)
    # (1 - 1 / sqrt(1 + 4 x)) / 2 without cancellation
    root = math.sqrt(1.0 + 4.0 * need)
    return 2.0 * need / (root * (root + 1.0))


def deviation(users: int, flip: float, repeats: int = 1) -> float:
    """Standard error of the count of ones, in counts.

    Source: K-randomization 003 (4.4), (5.4).
    """
    check_count("users", users)
    check_count("repeats", repeats)
    check_flip(flip)
    return math.sqrt(users * flip * (1.0 - flip) / repeats) / (1.0 - 2.0 * flip)
