"""The distribution of a sum of flipped bits, computed step by step (Notes 004, 2020).

``literature`` uses these formulas of sections 4, 7 and 8. In all formulas, n = ``users`` is the
number of bits, q = ``flip`` the flip probability, p = 1 - q, and s the number of ones after the
flips. P(s) is the probability of s.

Source: notes 004; equation numbers at each function.
"""

import math

from mixtally.lab.formulas.parameter_ranges import check_count, check_flip, check_promise


def loss_ratio(step: float, flip: float) -> float:
    """Return R(s), the likelihood of the sum s if a person holds a zero, divided by that for a one.

    ``step`` is P(s) / P(s - 1) for the sum of all other people's bits.

    Source: notes 004 (4.7), (4.8).
    """
    check_flip(flip)
    return (flip + (1.0 - flip) * step) / ((1.0 - flip) + flip * step)


def zeros_cover(epsilon: float, delta: float) -> float:
    """Return the expected number n q of flips that a crowd of n zeros needs.

    Source: notes 004 (4.36), lemma 4.3.
    """
    check_promise(epsilon, delta)
    return 3.0 * math.log(2.0 / delta) / math.expm1(-epsilon) ** 2


def zeros(epsilon: float, delta: float, users: int) -> float:
    """Return the flip probability of one bit per person if all others hold zeros.

    Source: notes 004 (4.36), lemma 4.3.
    """
    check_count("users", users)
    return zeros_cover(epsilon, delta) / users


def tail_bound(reach: float, expected_flips: float) -> float:
    """Return the bound that is stated for P(|s - mean| > ``reach`` times the mean).

    ``expected_flips`` is n q.

    Source: notes 004 (4.20) for zeros; (4.46) for any crowd, (4.47) for a reach in units of n q.
    """
    return 2.0 * math.exp(-(reach**2) * expected_flips / 3.0)


def next_chance(
    current: float, previous: float, total: int, users: int, ones: int, flip: float
) -> float:
    """Return P(s + 1) from ``current`` = P(s) and ``previous`` = P(s - 1), at s = ``total``.

    Before the flips, ``ones`` of the ``users`` bits are set.

    Source: notes 004 (7.3), lemma 7.1.
    """
    return (_drift(total, users, ones, flip) * current + (users - total + 1) * previous) / (
        total + 1
    )


def next_step(step: float, total: int, users: int, ones: int, flip: float) -> float:
    """Return P(s + 1) / P(s) from ``step`` = P(s) / P(s - 1) at s = ``total``.

    ``step`` is infinite at s = 0.

    Source: notes 004 (7.4), with gamma in the form that contains the mean.
    """
    check_flip(flip)
    p, q = 1.0 - flip, flip
    mean = users * q + ones * (p - q)
    drift = ((mean - total) / (p * q) - users + 2 * total) / (total + 1)
    return (users - total + 1) / (total + 1) / step + drift


def _drift(total: int, users: int, ones: int, flip: float) -> float:
    check_flip(flip)
    odds = (1.0 - flip) / flip
    return (ones - total) * odds + (users - ones - total) / odds
