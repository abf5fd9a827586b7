"""Published numbers of fakes per bin: every bin draws a number of its own.

A user sends the answer in clear. What hides it are fakes in every bin, as many as coins of the
users, shares of the users, or a shuffler draw; ``exact_added`` has the exact delta of each.

Left out: split-and-mix with correlated noise (Ghazi and others 2020, Theorem 1), whose fakes come
in pairs of two signs, which is none of these distributions.
"""

import math

from mixtally.errors import ParameterError
from mixtally.lab.formulas.parameter_ranges import check_count, check_promise


def luo_wang_yi(epsilon: float, delta: float, users: int) -> float:
    """Fakes per bin, 32 ln(2/delta) / eps^2, each user drawing one with the n-th part as chance.

    Over hashed values a bin is the messages (u, v, w) with w = ((u x + v) mod p) mod b: a uniform
    message is one of them with 1/b, so that b times as many are sent. ParameterError for users who
    are fewer than the fakes, as a chance is at most 1.

    Source: Luo, Wang, Yi, Frequency Estimation in the Shuffle Model with Almost a Single Message
    (2022); the constant as their programs have it.
    """
    check_promise(epsilon, delta)
    fakes = 32.0 * math.log(2.0 / delta) / epsilon**2
    return _check_users("luo-wang-yi", users, fakes, 1.0)


def hashed_error(users: int, fakes: float, buckets: int, prime: int) -> float:
    """The standard error of a rare value by hashes, of ``fakes`` uniform messages that meet it.

    Two values have one hash in a share kappa of the p (p - 1) functions (u, v), p = k b + r:

        kappa = k (p + r - b) / (p (p - 1)),    (S - fakes - n kappa) / (1 - kappa) is unbiased

    of the number S of messages that meet a value, Bin(n, kappa) + Bin(n, fakes / n) nearly.

    Source: as ``luo_wang_yi``.
    """
    whole, rest = divmod(prime, buckets)
    kappa = whole * (prime + rest - buckets) / (prime * (prime - 1))
    variance = users * kappa * (1.0 - kappa) + fakes * (1.0 - fakes / users)
    return math.sqrt(variance) / (1.0 - kappa)


def balcer_cheu_bit(epsilon: float, delta: float, users: int) -> float:
    """Fakes that are absent of a bit, 50 ln(2/delta) / eps^2: each user sends one but for this.

    Stated for epsilon at most 1 and twice as many users; ParameterError else.

    Source: Balcer, Cheu, Separating Local and Shuffled Differential Privacy via Histograms (2020),
    Figure 1 and Theorem 3.1.
    """
    check_promise(epsilon, delta)
    _check_at_most("epsilon", epsilon, 1.0)
    return _check_users("balcer-cheu-bit", users, 50.0 * math.log(2.0 / delta) / epsilon**2, 2.0)


def balcer_cheu(epsilon: float, delta: float, users: int) -> float:
    """Fakes that are absent of a bin: a histogram runs the bit's protocol for eps/2, delta/2.

    Source: Balcer, Cheu, Separating Local and Shuffled Differential Privacy via Histograms (2020),
    Figure 2 and Theorem 3.2, which states it as (2 eps, 2 delta).
    """
    check_promise(epsilon, delta)
    _check_at_most("epsilon", epsilon, 2.0)
    return _check_users("balcer-cheu", users, 200.0 * math.log(4.0 / delta) / epsilon**2, 2.0)


def poisson(epsilon: float, delta: float) -> float:
    """Fakes of a bit, 16 ln(10/delta) / (1 - e^-eps)^2 + 2 / (1 - e^-eps), a Poisson number.

    Source: Ghazi, Kumar, Manurangsi, Pagh, Private Counting from Anonymous Messages: Near-Optimal
    Accuracy with Vanishing Communication Overhead (2020, arXiv 2106.04247), Theorem 11 with
    sensitivity 1.
    """
    check_promise(epsilon, delta)
    left = -math.expm1(-epsilon)
    return 16.0 * math.log(10.0 / delta) / left**2 + 2.0 / left


def decay(epsilon: float) -> float:
    """The decay p of ``negative_binomial``.

    Source: as there.
    """
    return math.exp(-0.2 * epsilon)


def negative_binomial(epsilon: float, delta: float) -> float:
    """Fakes of a bit, r p / (1 - p) with p = e^(-0.2 eps) and r = 3 (1 + ln(1/delta)).

    Their number is NB(r, p), with k for C(k + r - 1, k) (1 - p)^r p^k, in shares NB(r/n, p). Stated
    for epsilon below 1; ParameterError else.

    Source: Ghazi, Kumar, Manurangsi, Pagh, Private Counting from Anonymous Messages: Near-Optimal
    Accuracy with Vanishing Communication Overhead (2020, arXiv 2106.04247), Theorem 13 with
    sensitivity 1, which corrects the parameters of the conference version.
    """
    check_promise(epsilon, delta)
    _check_at_most("epsilon", epsilon, 1.0)
    p = decay(epsilon)
    return 3.0 * (1.0 + math.log(1.0 / delta)) * p / (1.0 - p)


def sides(epsilon: float, sampled: float) -> tuple[float, float]:
    """The decays q_l and q_r of the fakes of a bin below and above their mode.

    where
      sampled   chance that a message is kept, from 1 - e^(-eps/2) to 1

    Source: Murakami, Sei, Eriguchi, Augmented Shuffle Protocols for Accurate and Robust Frequency
    Estimation under Differential Privacy (2025), SAGeo-Shuffle.
    """
    left = (math.expm1(-epsilon / 2.0) + sampled) / sampled
    return max(left, 0.0), sampled / (math.expm1(epsilon / 2.0) + sampled)


def two_sided(epsilon: float, delta: float) -> float:
    """The mode nu of the fakes per bin of SAGeo-Shuffle, all messages kept.

    The least integer for which q_l^nu / kappa, the chance of no fake, is delta/2 at most, with
    kappa = q_l (1 - q_l^nu) / (1 - q_l) + 1 / (1 - q_r).

    Source: as ``sides``; with a sample of 1 the chance is all that a bin's (eps/2, delta/2) lacks.
    """
    check_promise(epsilon, delta)
    left, right = sides(epsilon, 1.0)
    chance = delta * (1.0 - left * right)
    chance /= (2.0 * (1.0 - left) + delta * left) * (1.0 - right)
    return float(max(0, math.ceil(math.log(chance) / math.log(left))))


def sample(epsilon: float) -> float:
    """The chance that S1Geo-Shuffle keeps a message, 1 - e^(-eps/2).

    Source: as ``sides``.
    """
    return -math.expm1(-epsilon / 2.0)


def geometric(epsilon: float, delta: float) -> float:
    """Fakes per bin of S1Geo-Shuffle, a geometric number: e^(-eps/2), and no delta at all.

    Source: as ``sides``; q_l is 0 there.
    """
    check_promise(epsilon, delta)
    _, right = sides(epsilon, sample(epsilon))
    return right / (1.0 - right)


def _check_users(name: str, users: int, fakes: float, times: float) -> float:
    """``fakes``; raises ParameterError unless there are ``times`` as many users."""
    check_count("users", users)
    if users < times * fakes:
        raise ParameterError(
            "users",
            expected=f"at least {math.ceil(times * fakes):,}, where {name} begins",
            got=f"{users:,}",
            do="ask more people or promise less",
        )
    return fakes


def _check_at_most(subject: str, value: float, most: float) -> None:
    if value > most:
        raise ParameterError(
            subject,
            expected=f"at most {most:g}, where the theorem ends",
            got=value,
            do="promise more privacy",
        )
