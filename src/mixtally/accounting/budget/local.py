"""One-hot records that hide themselves: what flips alone keep, and what a guess at one is worth.

Without fakes and without a mix the observer sees every report with its sender, which is the case of
``flip-blank`` with one record and no fakes: its divergence is zero from 2 ln(p/q) on.

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
"""The local epsilon as a double is stated this much larger: past every rounding on the way."""


def epsilon_of(keep: float) -> float:
    """2 ln(p / (1 - p)): two ballots differ in two bits.

    Source: side notes 002 section 5.
    """
    check_keep_probability(keep)
    return 2.0 * math.log(keep / (1.0 - keep))


def threshold_for_keep(keep: float) -> int:
    """The flip threshold at which a bit is kept with probability ``keep``, to the nearest 2^-64.

    Raises ParameterError unless it lies in (1/2, 1) and gives an epsilon in [0.01, 20].
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
    """The least flip threshold with which every record keeps ``epsilon`` by itself.

    Raises ParameterError for an epsilon outside [0.01, 20].
    """
    check_epsilon(epsilon)
    odds = math.exp(epsilon / (2.0 * _EPSILON_SLACK * _EPSILON_SLACK))
    return math.ceil(SCALE / (1.0 + odds))


def certificate(mechanism: BitFlips, epsilon: float | None = None) -> Certificate:
    """The promise of every report by itself, with delta = 0, seen with its sender.

    ``epsilon`` is the local one when left out. Raises ParameterError for one that the flips do not
    keep, or that is outside [0.01, 20].
    """
    alone = flip_blank(bins=mechanism.bins, fakes=0, threshold=mechanism.threshold)
    least = alone.local_epsilon * _EPSILON_SLACK
    if epsilon is not None and epsilon < least:
        raise ParameterError(
            "epsilon",
            expected=f"at least {least:.12g}, which these flips keep",
            got=epsilon,
            do="keep bits less often",
        )
    found = Accountant().certificate(Record.of(alone), least if epsilon is None else epsilon)
    if found.upper != 0.0:
        raise AccountingError(f"local certificate: expected delta = 0, got {found.upper}")
    return msgspec.structs.replace(found, observer=Observer.LINKED, assumption=_NO_ASSUMPTION)


def least_guess_error(promise: Certificate, options: int) -> float:
    """The least chance that a guess at one record is wrong, ``options`` equally likely before.

    Sum P_i(A_i) <= e^eps P_j(A_i) + delta over all i and j != i, where A_i are the outcomes at
    which i is guessed: a guess is right with probability at most
    (e^eps + (options - 1) delta) / (e^eps + options - 1). With delta = 0 the bound holds for every
    outcome by itself, otherwise on average over the outcomes.
    """
    others = options - 1
    return others * (1.0 - promise.upper) / (math.exp(promise.epsilon) + others)


def ballot_evidence(mechanism: BitFlips) -> tuple[float, float, float]:
    """How often a report speaks for the true record, for neither and for a given lie: p^2, 2pq,
    q^2.

    Of the two bits in which the true and the claimed record differ: both kept, one of them, none.
    The likelihood ratio of the true record against the claimed one is then (p/q)^2, 1 or (q/p)^2.
    """
    q = mechanism.flip_probability
    p = 1.0 - q
    return p * p, 2.0 * p * q, q * q


def check_keep_probability(keep: float) -> None:
    """Raises ParameterError unless a bit is kept with more than a half and less than 1."""
    strictly_within(
        "keep probability", keep, 0.5, 1.0, "it is the chance that a bit is left as it is"
    )
