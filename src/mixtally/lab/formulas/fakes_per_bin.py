"""Published numbers of fakes per bin, where every bin draws its own number.

``catalogue`` lists these formulas. A user sends the answer in clear, and fakes in every bin hide
the answer. Either a shuffler draws the number of fakes of a bin, or each user draws a number, for
example by a coin, and these numbers are added. ``exact_fakes_per_bin`` has the exact delta of each
distribution.

Split-and-mix with correlated noise (Ghazi and others 2020, Theorem 1) is not included, because its
fakes come in pairs of two signs.
"""

import math

from mixtally.errors import ParameterError
from mixtally.lab.formulas.parameter_ranges import check_count, check_promise


def luo_wang_yi(epsilon: float, delta: float, users: int) -> float:
    """Return the mean number of fakes per bin, 32 ln(2/delta) / eps^2.

    Each of n users draws a fake with probability mean / n. With hashed values, the bin of value x
    is the set of messages (u, v, w) with w = ((u x + v) mod p) mod b. A uniform message is in this
    set with probability 1/b, so b times as many messages are sent.

    Raises
    ------
    ParameterError
        If there are fewer users than fakes, because a probability is at most 1.

    References
    ----------
    .. [1] Luo, Wang, Yi, Frequency Estimation in the Shuffle Model with Almost a Single Message
    (2022); the constant of their programs.
    """
    check_promise(epsilon, delta)
    fakes = 32.0 * math.log(2.0 / delta) / epsilon**2
    return _check_users("luo-wang-yi", users, fakes, 1.0)


def hashed_error(users: int, fakes: float, buckets: int, prime: int) -> float:
    """Return the standard error of the count of a rare value with hashed values.

    ``fakes`` is the mean number of fakes that match the value. Two values have the same hash for a
    share kappa of the p (p - 1) functions (u, v) of ``luo_wang_yi``, where p = ``prime``. With b =
    ``buckets`` and p = k b + r for 0 <= r < b,

        kappa = k (p + r - b) / (p (p - 1)).

    Let n = ``users``, and let S be the number of messages that match a value. Then (S - fakes - n
    kappa) / (1 - kappa) is an unbiased estimate of the count. For a rare value, S is nearly
    distributed like Bin(n, kappa) + Bin(n, fakes / n).

    Source: as ``luo_wang_yi``.
    """
    whole, rest = divmod(prime, buckets)
    kappa = whole * (prime + rest - buckets) / (prime * (prime - 1))
    variance = users * kappa * (1.0 - kappa) + fakes * (1.0 - fakes / users)
    return math.sqrt(variance) / (1.0 - kappa)


def balcer_cheu_bit(epsilon: float, delta: float, users: int) -> float:
    """Return the mean number of absent fakes of a bit, 50 ln(2/delta) / eps^2.

    An absent fake is a user who sends no fake; on average, all but this number of users send one
    fake each. The formula is stated for epsilon <= 1, and for at least twice as many users as
    absent fakes. Otherwise ParameterError is raised.

    Source: Balcer, Cheu, Separating Local and Shuffled Differential Privacy via Histograms (2020),
    Figure 1 and Theorem 3.1.
    """
    check_promise(epsilon, delta)
    _check_at_most("epsilon", epsilon, 1.0)
    return _check_users("balcer-cheu-bit", users, 50.0 * math.log(2.0 / delta) / epsilon**2, 2.0)


def balcer_cheu(epsilon: float, delta: float, users: int) -> float:
    """Return the mean number of absent fakes of a bin, see ``balcer_cheu_bit``.

    A histogram runs the protocol of a bit for each bin, with eps/2 and delta/2.

    Source: Balcer, Cheu, Separating Local and Shuffled Differential Privacy via Histograms (2020),
    Figure 2 and Theorem 3.2, which states it as (2 eps, 2 delta).
    """
    check_promise(epsilon, delta)
    _check_at_most("epsilon", epsilon, 2.0)
    return _check_users("balcer-cheu", users, 200.0 * math.log(4.0 / delta) / epsilon**2, 2.0)


def poisson(epsilon: float, delta: float) -> float:
    """Return the mean number of fakes, 16 ln(10/delta) / (1 - e^-eps)^2 + 2 / (1 - e^-eps).

    The number of fakes has a Poisson distribution.

    Source: Ghazi, Kumar, Manurangsi, Pagh, Private Counting from Anonymous Messages: Near-Optimal
    Accuracy with Vanishing Communication Overhead (2020, arXiv 2106.04247), Theorem 11 with
    sensitivity 1.
    """
    check_promise(epsilon, delta)
    complement = -math.expm1(-epsilon)
    return 16.0 * math.log(10.0 / delta) / complement**2 + 2.0 / complement


def decay(epsilon: float) -> float:
    """Return the decay p = e^(-0.2 eps) of ``negative_binomial``."""
    return math.exp(-0.2 * epsilon)


def negative_binomial(epsilon: float, delta: float) -> float:
    """Return the mean number of fakes r p / (1 - p), with r = 3 (1 + ln(1/delta)), p = ``decay``.

    The number of fakes is NB(r, p), whose probability of k is C(k + r - 1, k) (1 - p)^r p^k. Each
    user draws NB(r/n, p). The formula is stated for epsilon < 1; otherwise ParameterError is
    raised.

    Source: Ghazi, Kumar, Manurangsi, Pagh, Private Counting from Anonymous Messages: Near-Optimal
    Accuracy with Vanishing Communication Overhead (2020, arXiv 2106.04247), Theorem 13 with
    sensitivity 1, which corrects the parameters of the conference version.
    """
    check_promise(epsilon, delta)
    _check_at_most("epsilon", epsilon, 1.0)
    p = decay(epsilon)
    return 3.0 * (1.0 + math.log(1.0 / delta)) * p / (1.0 - p)


def sides(epsilon: float, sampled: float) -> tuple[float, float]:
    """Return the decays q_l and q_r of the number of fakes of a bin, below and above the mode.

    A decay is the factor of the probability for each step away from the mode.
    ``sampled`` is the probability that a message is kept, from 1 - e^(-eps/2) to 1.

    Source: Murakami, Sei, Eriguchi, Augmented Shuffle Protocols for Accurate and Robust Frequency
    Estimation under Differential Privacy (2025), SAGeo-Shuffle.
    """
    below = (math.expm1(-epsilon / 2.0) + sampled) / sampled
    return max(below, 0.0), sampled / (math.expm1(epsilon / 2.0) + sampled)


def two_sided(epsilon: float, delta: float) -> float:
    """Return the mode nu of the fakes per bin of SAGeo-Shuffle with all messages kept.

    Let q_l and q_r be the decays of ``sides``, and kappa = q_l (1 - q_l^nu) / (1 - q_l) + 1 / (1 -
    q_r). The probability of no fake is q_l^nu / kappa, and nu is the least integer for which this
    probability is at most delta/2. Each bin has the guarantee (eps/2, delta/2). With all messages
    kept, only the case of no fake exceeds eps/2, so its probability is the delta of the bin.

    Source: as ``sides``.
    """
    check_promise(epsilon, delta)
    left, right = sides(epsilon, 1.0)
    chance = delta * (1.0 - left * right)
    chance /= (2.0 * (1.0 - left) + delta * left) * (1.0 - right)
    return float(max(0, math.ceil(math.log(chance) / math.log(left))))


def sample(epsilon: float) -> float:
    """Return the probability 1 - e^(-eps/2) that S1Geo-Shuffle keeps a message.

    Source: as ``sides``.
    """
    return -math.expm1(-epsilon / 2.0)


def geometric(epsilon: float, delta: float) -> float:
    """Return the mean number of fakes per bin of S1Geo-Shuffle.

    The number of fakes has a geometric distribution with decay e^(-eps/2). The mean does not depend
    on delta.

    Source: as ``sides``; q_l is 0 there.
    """
    check_promise(epsilon, delta)
    _, right = sides(epsilon, sample(epsilon))
    return right / (1.0 - right)


def _check_users(name: str, users: int, fakes: float, times: float) -> float:
    """Return ``fakes``; raise ParameterError if there are fewer than ``times * fakes`` users.

    ``name`` is the name of the formula, for the message.
    """
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
