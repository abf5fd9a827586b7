"""Memoized answers: the largest privacy loss, delta below it, and the noise that suffices.

A device draws a permanent response to its value once, and every report is drawn from this response.
The observer knows the sender of every report, so no mix is relied on. The estimators, simulations
and attacks of memoized answers use this file.

*One bit.* Let F = f/2. A true bit is memoized unchanged with probability 1 - F. A report shows a
one with probability q for a memoized one and p for a memoized zero. If T reports show only ones,
the likelihood ratio of a true one to a true zero is g((q/p)^T); if they show only zeros, it is
g(((1-q)/(1-p))^T), where

    g(z) = ((1 - F) z + F) / (F z + 1 - F),   g(1/z) = 1/g(z).

No mixture of ones and zeros has a ratio outside this range, because g rises and each report
multiplies z by one of the two factors.

*Largest loss.* Two values differ in h bits set and h bits cleared, so the largest loss is

    eps_T = h (G(T ln(q/p)) + G(T ln((1-p)/(1-q)))),   G(y) = ln g(e^y) >= 0,
    G(y) = log1p((1 - f) (1 - e^-y) / (F + (1 - F) e^-y)).

This form has no cancellation and no overflow for any number of reports. It rises to eps_inf = 2 h
ln((1 - F)/F), the loss of the permanent response itself. From eps_T on delta = 0.

*Delta below eps_T.* Only the number of ones among the T reports of a bit matters. Under a true one
it is Bin(T, q) with probability 1 - F and Bin(T, p) with probability F; under a true zero the
probabilities are exchanged. The ratio of the two distributions rises. The 2h bits are independent
and form h pairs of one set and one cleared bit. One pair is computed exactly, and its loss is at
most eps_T / h. Several pairs are composed from above. (Unless p + q = 1, a single bit has a larger
loss in one order than in the other.)

Source: Erlingsson, Pihur, Korolova, RAPPOR (2014), section 3.1 and theorems 1 and 2; eps_T and
delta by the argument above.
"""

import math
from dataclasses import dataclass

import numpy as np
from msgspec.structs import replace

from mixtally.accounting.composition.convolve import LossSum
from mixtally.accounting.composition.pld import FINE, loss_distribution
from mixtally.accounting.numerics.binomial_pairs import (
    Pair,
    PreparedPair,
    exchange_divergence,
    prepare_pair,
)
from mixtally.accounting.numerics.bracket import Bracket, join_ends, keep_positive
from mixtally.errors import AccountingError
from mixtally.model.certificate import Certificate, Status
from mixtally.model.guarantee import Observer, check_epsilon
from mixtally.model.mechanism.memoized import MOST_REPORTS, Memoized, check_whole
from mixtally.primitives import tails
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.tails import Floats

SOURCE = (
    "RAPPOR (2014), section 3.1, theorems 1 and 2; exact distribution of the reports of one "
    "memoized answer"
)
ASSUMPTION = (
    "none on mixes or other people; the value and its memoized response last for all reports, and "
    "nothing else is reported from it"
)
_SLACK = 1.0 + 1e-12
"""Factor upwards for floating point; the measured error is below 1e-14."""
_HALVINGS = 100
_LEAST_PERMANENT = 2.0**-40
_LEAST_CHANCE = 1e-60
_GRAIN = 2048.0
"""Lattice steps in delta(0). Few reports have few, widely spaced losses, which need a fine lattice.
"""


@dataclass(frozen=True, slots=True)
class Loss:
    """Local epsilons for replacing one value by another.

    Attributes
    ----------
    eps_inf
        For any number of reports, as long as the value and its permanent response last.
    eps_1
        After one report.
    eps_T
        After ``reports`` reports.
    """

    eps_inf: float
    eps_1: float
    eps_T: float  # noqa: N815
    reports: int


def loss(mechanism: Memoized, reports: int) -> Loss:
    """Return the local epsilons after one, several and any number of reports.

    Parameters
    ----------
    mechanism : Memoized
        The probabilities f, p and q, and how values become bits.
    reports : int
        The number of reports, in [1, 10^6]; ParameterError is raised for other numbers.
    """
    return Loss(
        eps_inf=eps_inf(mechanism),
        eps_1=eps_reports(mechanism, 1),
        eps_T=eps_reports(mechanism, reports),
        reports=reports,
    )


def eps_inf(mechanism: Memoized) -> float:
    """Return 2 h ln((1 - f/2) / (f/2)), the loss that no number of reports exceeds.

    Source: RAPPOR (2014), theorem 1.
    """
    return _round_up(2.0 * mechanism.hashes * _log_likelihood_ratio(mechanism.permanent, math.inf))


def eps_reports(mechanism: Memoized, reports: int) -> float:
    """Return the loss after ``reports`` reports, in [1, 10^6], of one permanent response.

    For one report it is h ln(q* (1 - p*) / (p* (1 - q*))) with q* = P[1 | true 1] and p* = P[1 |
    true 0]. Raises ParameterError for another number of reports.

    Source: RAPPOR (2014), theorem 2, for one report.
    """
    check_whole("reports", reports, MOST_REPORTS)
    # Integers, whose differences are exact.
    f, p, q = mechanism.permanent, mechanism.p, mechanism.q
    ones = math.log1p((q - p) / p) if p else math.inf
    zeros = math.log1p((q - p) / (SCALE - q)) if q < SCALE else math.inf
    return _round_up(
        mechanism.hashes
        * (_log_likelihood_ratio(f, reports * ones) + _log_likelihood_ratio(f, reports * zeros))
    )


def delta(mechanism: Memoized, reports: int, epsilon: float) -> Bracket:
    """Return delta(epsilon) for an observer who can link the reports; it is 0 from eps_T on.

    Raises ParameterError as ``eps_reports`` does.

    Parameters
    ----------
    mechanism : Memoized
        The probabilities f, p and q, and how values become bits.
    reports : int
        The number of reports of one answer, in [1, 10^6].
    epsilon : float
        The privacy loss in nats, at least 0.
    """
    largest = eps_reports(mechanism, reports)
    if epsilon >= largest:
        return Bracket(0.0, 0.0)
    bit = prepare_pair(_report_distributions(mechanism, reports))
    lower, upper = _two_bits(bit, epsilon)
    if mechanism.hashes > 1:
        upper = _compose_bits(bit, mechanism.hashes, largest).delta(epsilon)
    return join_ends(lower, keep_positive(upper, epsilon, largest))


def certificate(mechanism: Memoized, reports: int, epsilon: float) -> Certificate:
    """Return ``delta`` as a certificate for an observer who can link the reports.

    Raises ParameterError as ``eps_reports`` does.

    Parameters
    ----------
    mechanism : Memoized
        The probabilities f, p and q, and how values become bits.
    reports : int
        The number of reports of one answer, in [1, 10^6].
    epsilon : float
        The privacy loss in nats; ParameterError is raised outside [0.01, 20].
    """
    bounds = delta(mechanism, reports, check_epsilon(epsilon))
    return Certificate(
        epsilon=epsilon,
        lower=bounds.lower,
        upper=bounds.upper,
        observer=Observer.LINKED,
        status=Status.PROVED,
        source=SOURCE,
        assumption=ASSUMPTION,
    )


def least_permanent(mechanism: Memoized, reports: int, epsilon: float, most: float) -> Memoized:
    """Return ``mechanism`` with the least f for which delta(epsilon) <= ``most``.

    The f of ``mechanism`` is ignored. The result is rounded up to a representable f; f = 1 always
    suffices.

    Parameters
    ----------
    mechanism : Memoized
        The mechanism, whose f is ignored.
    reports : int
        The number of reports of one answer, in [1, 10^6].
    epsilon : float
        The privacy loss in nats.
    most : float
        The largest accepted delta.
    """

    def with_permanent(permanent: float) -> Memoized:
        return replace(mechanism, permanent=2 * math.ceil(math.ldexp(permanent, 63)))

    def is_within_target(permanent: float) -> bool:
        return delta(with_permanent(permanent), reports, epsilon).upper <= most

    low, high = _LEAST_PERMANENT, 1.0
    if is_within_target(low):
        return with_permanent(low)
    for _ in range(_HALVINGS):
        middle = math.sqrt(low * high)
        if not low < middle < high:
            break
        low, high = (low, middle) if is_within_target(middle) else (middle, high)
        if high - low <= 1e-12 * high:
            break
    return with_permanent(high)


def binomial_pmf(trials: int, chance: float) -> Floats:
    """Return P(Bin(trials, chance) = k) for k = 0..trials.

    Parameters
    ----------
    trials : int
        The number of trials.
    chance : float
        The probability of each trial, in [0, 1]; both ends are allowed.
    """
    if 0.0 < chance < 1.0:
        return tails.pmf(trials, chance, 0, trials)
    certain = np.zeros(trials + 1)
    certain[trials if chance >= 1.0 else 0] = 1.0
    return certain


def _two_bits(bit: PreparedPair, epsilon: float) -> Bracket:
    """Return the divergence of one set and one cleared bit, the same in both orders."""
    return exchange_divergence(bit, bit, math.exp(epsilon))


def _compose_bits(bit: PreparedPair, hashes: int, largest: float) -> LossSum:
    tightness = FINE._replace(grain=max(FINE.grain, _GRAIN / hashes))
    pairs = loss_distribution(
        lambda epsilon: _two_bits(bit, epsilon).upper, largest / hashes, tightness
    )
    return LossSum([(pairs, hashes)])


def _exact_pmf(trials: int, chance: int) -> Floats:
    """Return ``binomial_pmf`` for the probability ``chance`` / 2^64.

    The rarer outcome is counted, because a probability near one would lose the digits of its
    complement, which decides how much a report reveals.
    """
    if 2 * chance <= SCALE:
        return binomial_pmf(trials, chance / SCALE)
    return binomial_pmf(trials, (SCALE - chance) / SCALE)[::-1]


def _report_distributions(mechanism: Memoized, reports: int) -> Pair:
    """Return the distributions of the number of ones under a true one and a true zero."""
    half, p, q = mechanism.f / 2.0, mechanism.p, mechanism.q
    ones, zeros = _exact_pmf(reports, q), _exact_pmf(reports, p)
    alive = np.maximum(ones, zeros) > _LEAST_CHANCE
    ones, zeros = ones[alive], zeros[alive]
    one, zero = (1.0 - half) * ones + half * zeros, half * ones + (1.0 - half) * zeros
    return Pair(one, zero, (reports + 1) * _LEAST_CHANCE)


def _log_likelihood_ratio(permanent: int, evidence: float) -> float:
    """Return G(y), the log likelihood ratio of a true bit, for y = ``evidence``.

    ``permanent`` is f times 2^64, so that 1 - f keeps its digits for f near one. y is the log
    likelihood ratio of the memoized bit.
    """
    half, less = permanent / (2 * SCALE), math.exp(-evidence)
    kept = (SCALE - permanent) / SCALE
    return math.log1p(kept * -math.expm1(-evidence) / (half + (1.0 - half) * less))


def _round_up(value: float) -> float:
    """Return a loss rounded up; raise AccountingError for a number that cannot be one."""
    if not 0.0 <= value < math.inf:
        raise AccountingError(
            f"memoized answers: expected a finite loss, got {value}; nothing may be promised"
        )
    return value * _SLACK
