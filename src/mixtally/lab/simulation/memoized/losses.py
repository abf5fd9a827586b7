"""What memoized answers tell, known before anybody is asked; and what could not be estimated."""

from collections.abc import Sequence
from typing import Any

from mixtally.accounting.divergence.memoized import delta, loss
from mixtally.lab.simulation.memoized.crowd import check_reports
from mixtally.model.guarantee import check_epsilon
from mixtally.model.mechanism import Memoized
from mixtally.model.memoized_plan import MemoizedPlan
from mixtally.primitives.codec import fingerprint
from mixtally.protocol.encode.bloom import check_design
from mixtally.protocol.estimate.intervals import check_level
from mixtally.protocol.estimate.memoized import check_informative

Facts = dict[str, Any]
"""Plain numbers and texts by name: what becomes JSON, and what table and page are made of."""


def compute_losses(plan: MemoizedPlan, reports: int, epsilon: float | None) -> Facts:
    """The plan's parameters and its losses; delta too where ``epsilon`` is given.

    Raises ParameterError as ``accounting.divergence.memoized`` and ``checked_epsilon`` do.
    """
    mechanism = plan.mechanism
    p, q = mechanism.report_probabilities
    most = loss(mechanism, reports)
    facts: Facts = {
        "protocol": "memory",
        "observer": "linked",
        "fingerprint": fingerprint(plan),
        "permanent": mechanism.f,
        "p": p,
        "q": q,
        "permanent_threshold": mechanism.permanent,
        "p_threshold": mechanism.p,
        "q_threshold": mechanism.q,
        "bits": mechanism.bins,
        "hashes": mechanism.hashes,
        "cohorts": mechanism.cohorts,
        "reports": reports,
        "eps_1": most.eps_1,
        "eps_T": most.eps_T,
        "eps_inf": most.eps_inf,
    }
    if epsilon is not None:
        ends = delta(mechanism, reports, check_epsilon(epsilon))
        facts |= {"epsilon": epsilon, "delta": ends.upper, "delta_lower": ends.lower}
    return facts


def check_estimable(mechanism: Memoized, reports: int, words: Sequence[str], level: float) -> None:
    """Refuse before the work what cannot be estimated after it; raises ParameterError."""
    check_level(level)
    check_reports(mechanism, reports)
    if mechanism.hashed:
        check_design(mechanism, words)
    check_informative(mechanism)
