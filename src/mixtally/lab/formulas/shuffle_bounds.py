"""Published shuffle-model bounds of other authors, as flip probabilities of one-hot records.

``catalogue`` lists these bounds. The tighter closed form of Feldman, McMillan, Talwar 2023 is not
included. An erratum restricts this form to a class of randomizers, and no proof shows that flipped
one-hot records belong to this class.
"""

import math
from collections.abc import Callable

from mixtally.errors import ParameterError
from mixtally.lab.formulas.parameter_ranges import check_count, check_promise

_LEAST_FLIP, _HALVINGS = 2.0**-40, 100
"""The least flip probability of a search, and the number of bisection steps."""


def cheu_zhilyaev(epsilon: float, delta: float, fakes: int) -> float:
    """Return a flip probability that gives (epsilon, delta) by the theorem in the references.

    ``fakes`` is the number of blanks that all users together send. The probability q, at most 1/2,
    solves q (1 - q) = 33/5 ln(4/delta) ((e^eps + 1) / (e^eps - 1))^2 / fakes.

    Raises
    ------
    ParameterError
        If there are fewer fakes than 132/5 ln(4/delta) ((e^eps + 1) / (e^eps - 1))^2.

    References
    ----------
    .. [1] Cheu, Zhilyaev, Differentially Private Histograms in the Shuffle Model from Fake Users
    (2022), Claim 3.2 and Theorem 3.3.
    """
    check_promise(epsilon, delta)
    check_count("fakes", fakes)
    cover = 33.0 / 5.0 * math.log(4.0 / delta) / math.tanh(epsilon / 2.0) ** 2
    spread = cover / fakes
    if spread > 0.25:
        raise ParameterError(
            "fakes",
            expected=f"at least {math.ceil(4.0 * cover):,}, where the theorem begins",
            got=f"{fakes:,}",
            do="send more fakes or promise less",
        )
    return 2.0 * spread / (1.0 + math.sqrt(1.0 - 4.0 * spread))


def clones_epsilon(local_epsilon: float, delta: float, users: int) -> float:
    """Return the epsilon after shuffling ``users`` reports of a given local epsilon.

    The theorem requires local_epsilon <= ln(users / (16 ln(2/delta))). For a larger local epsilon,
    ParameterError is raised.

    Source: Feldman, McMillan, Talwar, Hiding Among the Clones (2021), Theorem 3.1.
    """
    check_promise(local_epsilon, delta)
    most = _most_local_epsilon(delta, users)
    if not local_epsilon <= most:
        raise ParameterError(
            "local epsilon",
            expected=f"at most ln(users / (16 ln(2/delta))) = {most:.4g}",
            got=local_epsilon,
            do="flip more often or ask more people",
        )
    share = math.exp(local_epsilon) / users
    reach = 8.0 * math.sqrt(share * math.log(4.0 / delta)) + 8.0 * share
    return math.log1p(math.tanh(local_epsilon / 2.0) * reach)


def _most_local_epsilon(delta: float, users: int) -> float:
    check_count("users", users)
    most = math.log(users / (16.0 * math.log(2.0 / delta)))
    if most <= 0.0:
        raise ParameterError(
            "users",
            expected="more than 16 ln(2/delta), where the theorem begins",
            got=f"{users:,}",
            do="ask more people",
        )
    return most


def clones(epsilon: float, delta: float, users: int) -> float:
    """Return the least flip probability that Theorem 3.1 allows for a local epsilon of 2 ln(p/q).

    Source: Feldman, McMillan, Talwar, Hiding Among the Clones (2021), Theorem 3.1.
    """
    check_promise(epsilon, delta)
    most = _most_local_epsilon(delta, users)
    if clones_epsilon(most, delta, users) <= epsilon:
        return 1.0 / (1.0 + math.exp(most / 2.0))

    def exceeds(local: float) -> bool:
        return clones_epsilon(local, delta, users) > epsilon

    # The first end of the crossing is the largest local epsilon that still satisfies the theorem.
    return 1.0 / (1.0 + math.exp(_crossing(exceeds, 0.0, most)[0] / 2.0))


def blanket_hoeffding(epsilon: float, users: int, blanket: float, spread: float) -> float:
    """Return an upper bound of delta(epsilon) for a randomizer with a privacy blanket.

    With probability ``blanket``, a report ignores the value of its person and is drawn from one
    distribution, the privacy blanket. Let R(u) be the report of value u. ``spread`` is the largest
    minus the smallest value of (P[R(u) = y] - e^eps P[R(v) = y]) / P[blanket = y] over all reports
    y and values u and v.

    Source: Balle, Bell, Gascon, Nissim, The Privacy Blanket of the Shuffle Model (2019), the
    amplification lemma with Hoeffding's inequality.
    """
    check_promise(epsilon, 0.5)
    check_count("users", users)
    if not (0.0 < blanket <= 1.0 and spread > 0.0):
        raise ParameterError(
            "blanket",
            expected="a probability in (0, 1] and a positive spread",
            got=f"{blanket} and {spread}",
            do="take them from the randomizer",
        )
    drift = math.expm1(epsilon)
    hit = blanket * -math.expm1(-2.0 * (drift / spread) ** 2)
    if hit == 1.0:
        return 0.0
    log_delta = 2.0 * math.log(spread) - math.log(4.0 * drift * blanket * users)
    return math.exp(min(0.0, log_delta + users * math.log1p(-hit)))


def blanket(epsilon: float, delta: float, users: int) -> float:
    """Return the least flip probability for which ``blanket_hoeffding`` is at most delta.

    With flip probability q and p = 1 - q, a flipped one-hot record is a flipped blank with
    probability q/p, so the blanket is a flipped blank. The probability of a report is p/q or q/p
    times its probability as a flipped blank, depending on the bit of the person's bin.

    Source: Balle, Bell, Gascon, Nissim, The Privacy Blanket of the Shuffle Model (2019).
    """
    check_promise(epsilon, delta)

    def suffices(flip: float) -> bool:
        ratio = (1.0 - flip) / flip
        spread = (1.0 + math.exp(epsilon)) * (ratio - 1.0 / ratio)
        return spread <= 0.0 or blanket_hoeffding(epsilon, users, 1.0 / ratio, spread) <= delta

    return _crossing(suffices, _LEAST_FLIP, 0.5)[1]


def _crossing(condition: Callable[[float], bool], low: float, high: float) -> tuple[float, float]:
    """Return two neighboring numbers: the condition is false at the first, true at the second.

    The condition is false at ``low``, true at ``high``, and changes once between them.
    """
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if condition(middle) else (middle, high)
    return low, high
