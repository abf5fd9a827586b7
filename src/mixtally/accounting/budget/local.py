"""Local guarantees of one-hot records: the epsilon of flips alone, and the error of a guess.

Without fakes and without a mix the observer sees every report with its sender. This is
``flip-blank`` with one record and no fakes, whose divergence is zero from 2 ln(p/q) on.

Source: side notes 002 section 5.
"""

import math

import msgspec

from mixtally.accounting.accountant import Accountant, Record
from mixtally.errors import AccountingError, ParameterError, strictly_within
from mixtally.model.certificate import Certificate
from mixtally.model.guarantee import LEAST_EPSILON, MOST_EPSILON, Observer, check_epsilon
from mixtally.model.mechanism import BitFlips
from mixtally.model.mechanism.presets import flip_blank
from mixtally.primitives.fixed_point import SCALE, threshold_of

_NO_ASSUMPTION = "none: without fakes the promise is what each report keeps by itself"
_EPSILON_SLACK = 1.0 + 1e-11
"""Factor by which the stated local epsilon is larger, which covers every rounding."""


def epsilon_of(keep: float) -> float:
    """Return the local epsilon if every bit is kept with probability ``keep``.

    It is 2 ln(p / (1 - p)) for p = ``keep``, because two one-hot ballots differ in two bits.

    Source: side notes 002 section 5.
    """
    check_keep_probability(keep)
    return 2.0 * math.log(keep / (1.0 - keep))


def threshold_for_keep(keep: float) -> int:
    """Return the flip probability, times 2^64, at which a bit is kept with probability ``keep``.

    Raises ParameterError unless ``keep`` is in (1/2, 1) and gives an epsilon in [0.01, 20].
    """
    epsilon = epsilon_of(keep)
    if not LEAST_EPSILON <= epsilon * _EPSILON_SLACK <= MOST_EPSILON:
        low, high = (1.0 / (1.0 + math.exp(-e / 2.0)) for e in (LEAST_EPSILON, MOST_EPSILON))
        raise ParameterError(
            "keep probability",
            expected=f"a number in [{low:.5f}, {high:.6f}]",
            got=keep,
            do=f"it would give an epsilon of {epsilon:.3g}",
        )
    return threshold_of(1.0 - keep)


def least_threshold(epsilon: float) -> int:
    """Return the least flip probability, times 2^64, whose local epsilon is at most ``epsilon``.

    Raises ParameterError for an epsilon outside [0.01, 20].
    """
    check_epsilon(epsilon)
    odds = math.exp(epsilon / (2.0 * _EPSILON_SLACK * _EPSILON_SLACK))
    return math.ceil(SCALE / (1.0 + odds))


def certificate(mechanism: BitFlips, epsilon: float | None = None) -> Certificate:
    """Return the guarantee, with delta = 0, of every report that is seen with its sender.

    Raises ParameterError if the flips do not satisfy ``epsilon``, or if ``epsilon`` is outside
    [0.01, 20].

    Parameters
    ----------
    mechanism : BitFlips
        The mechanism of flipped bits.
    epsilon : float or None
        The privacy loss in nats; None for the local epsilon.
    """
    without_fakes = flip_blank(bins=mechanism.bins, fakes=0, threshold=mechanism.threshold)
    least = without_fakes.local_epsilon * _EPSILON_SLACK
    if epsilon is not None and epsilon < least:
        raise ParameterError(
            "epsilon",
            expected=f"at least {least:.12g}, the local epsilon of these flips",
            got=epsilon,
            do="use a smaller probability of keeping a bit",
        )
    found = Accountant().certificate(
        Record.of(without_fakes), least if epsilon is None else epsilon
    )
    if found.upper != 0.0:
        raise AccountingError(f"local certificate: expected delta = 0, got {found.upper}")
    return msgspec.structs.replace(found, observer=Observer.LINKED, assumption=_NO_ASSUMPTION)


def least_guess_error(promise: Certificate, options: int) -> float:
    """Return a lower bound of the probability that a guess at one record is wrong.

    All options are equally likely a priori. Let A_i be the outcomes at which i is guessed. Adding
    P_i(A_i) <= e^eps P_j(A_i) + delta over all i and j != i shows that a guess is right with
    probability at most (e^eps + (options - 1) delta) / (e^eps + options - 1). With delta = 0 the
    bound is valid for every single outcome, otherwise on average over the outcomes.

    Parameters
    ----------
    promise : Certificate
        The guarantee, with epsilon and delta.
    options : int
        The number of possible records.
    """
    others = options - 1
    return others * (1.0 - promise.upper) / (math.exp(promise.epsilon) + others)


def ballot_evidence(mechanism: BitFlips) -> tuple[float, float, float]:
    """Return the probabilities that a report supports the true record, neither, or a false one.

    A person claims a false record, which differs from the true one in two bits. The report keeps
    both, one or none of these bits of the true record. The likelihood ratio of the true to the
    false record is then (p/q)^2, 1 or (q/p)^2, where q is the flip probability and p = 1 - q. The
    three probabilities are p^2, 2pq and q^2.
    """
    q = mechanism.flip_probability
    p = 1.0 - q
    return p * p, 2.0 * p * q, q * q


def check_keep_probability(keep: float) -> None:
    """Raise ParameterError unless ``keep`` is above 1/2 and below 1."""
    strictly_within(
        "keep probability", keep, 0.5, 1.0, "it is the chance that a bit is left as it is"
    )
