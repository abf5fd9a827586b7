"""What a remembered answer costs: two-level randomization, one report after another.

A person's bits are randomized once and kept (the *permanent* response: with probability f a bit is
replaced by a fair coin); every report randomizes what was kept once more. The observer sees every
report with its sender and knows that they come from one memory: no mix is relied on.

With F = f/2, a true bit is kept as it is with 1 - F. Whether T reports of it show only ones, the
likelihood ratio of a true one against a true zero is g((q/p)^T), only zeros g(((1-q)/(1-p))^T),

    g(z) = ((1 - F) z + F) / (F z + 1 - F),   g(1/z) = 1/g(z),

and no mixture of ones and zeros lies outside: g rises, and each report multiplies z by one of the
two factors. Two values differ in h bits set and h bits cleared, so the largest loss is

    eps_T = h (G(T ln(q/p)) + G(T ln((1-p)/(1-q)))),   G(y) = ln g(e^y) >= 0,
    G(y) = log1p((1 - f) (1 - e^-y) / (F + (1 - F) e^-y)),

which has no cancellation and no overflow for any number of reports, and rises to
eps_inf = 2 h ln((1 - F)/F), what the memory itself would tell. delta is 0 throughout.

Source: Erlingsson, Pihur, Korolova, RAPPOR (2014), section 3.1 and theorems 1 and 2; eps_T by the
argument above.
"""

import math
from dataclasses import dataclass

from mixtally.errors import AccountingError, ParameterError

MOST_REPORTS = 1_000_000
MOST_HASHES = 64
_SLACK = 1.0 + 1e-12
"""Upwards, for floating point; the measured error is below 1e-14."""


@dataclass(frozen=True, slots=True)
class MemoryLoss:
    """Local epsilons of one value, replaced by another, when ``reports`` reports of it were seen.

    where
      eps_inf   whatever the number of reports, while the value and its memory last
      eps_1     after a single report
      eps_T     after ``reports`` reports
    """

    eps_inf: float
    eps_1: float
    eps_T: float  # noqa: N815
    reports: int


def memory_loss(permanent: float, p: float, q: float, hashes: int, reports: int) -> MemoryLoss:
    """All three losses at once; parameters and errors as in ``eps_reports``."""
    return MemoryLoss(
        eps_inf=eps_inf(permanent, hashes),
        eps_1=eps_one(permanent, p, q, hashes),
        eps_T=eps_reports(permanent, p, q, hashes, reports),
        reports=reports,
    )


def eps_inf(permanent: float, hashes: int) -> float:
    """The loss that no number of reports exceeds: 2 h ln((1 - f/2) / (f/2)).

    where
      permanent   f, the chance in [2^-40, 1] that a kept bit is a fair coin
      hashes      h, the bits that a value sets, in [1, 64]; 1 for one-hot records

    Raises ParameterError outside these ranges.

    Source: RAPPOR (2014), theorem 1.
    """
    _check_memory(permanent, hashes)
    return _rounded_up(2.0 * hashes * _gain(permanent, math.inf))


def eps_one(permanent: float, p: float, q: float, hashes: int) -> float:
    """The loss of a single report: h ln(q* (1 - p*) / (p* (1 - q*))).

    Source: RAPPOR (2014), theorem 2, with q* = P[1 | true 1] and p* = P[1 | true 0].
    """
    return eps_reports(permanent, p, q, hashes, 1)


def eps_reports(permanent: float, p: float, q: float, hashes: int, reports: int) -> float:
    """The loss after ``reports`` reports of one memory, in [1, 10^6].

    where
      p   chance that a report shows 1 where the memory holds 0
      q   chance that it shows 1 where the memory holds 1; 0 <= p < q <= 1

    Raises ParameterError outside the ranges, here and in ``eps_inf``.
    """
    _check_memory(permanent, hashes)
    if not 0.0 <= p < q <= 1.0:
        raise ParameterError(
            "report probabilities",
            wanted="0 <= p < q <= 1",
            got=f"p = {p}, q = {q}",
            do="q belongs to a kept 1, p to a kept 0; if they are equal nothing is told",
        )
    _check_whole("reports", reports, MOST_REPORTS)
    ones = math.log1p((q - p) / p) if p > 0.0 else math.inf
    zeros = math.log1p((q - p) / (1.0 - q)) if q < 1.0 else math.inf
    return _rounded_up(
        hashes * (_gain(permanent, reports * ones) + _gain(permanent, reports * zeros))
    )


def _gain(permanent: float, evidence: float) -> float:
    """G(y): the log likelihood ratio of a true bit when that of the kept bit is ``evidence``."""
    half, less = permanent / 2.0, math.exp(-evidence)
    return math.log1p((1.0 - permanent) * -math.expm1(-evidence) / (half + (1.0 - half) * less))


def _rounded_up(value: float) -> float:
    """Fails closed: AccountingError for what no loss can be."""
    if not 0.0 <= value < math.inf:
        raise AccountingError(f"memory: wanted a finite loss, got {value}; nothing may be promised")
    return value * _SLACK


def _check_memory(permanent: float, hashes: int) -> None:
    if not 2.0**-40 <= permanent <= 1.0:
        raise ParameterError(
            "permanent",
            wanted="a number in [2^-40, 1]",
            got=permanent,
            do="it is the chance that a kept bit is a fair coin: 0.5 is a common choice",
        )
    _check_whole("hashes", hashes, MOST_HASHES)


def _check_whole(name: str, value: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise ParameterError(
            name, wanted=f"an integer in [1, {most:,}]", got=value, do="count from one"
        )
