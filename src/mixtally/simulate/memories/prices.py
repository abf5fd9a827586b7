"""What a memory costs, known before anybody is asked; and what could not be estimated after it."""

from collections.abc import Sequence
from typing import Any

from mixtally.encode.bloom import check_design
from mixtally.estimate.intervals import checked_level
from mixtally.estimate.remembered import check_told
from mixtally.ground.codec import fingerprint
from mixtally.privacy.divergence import memoized as remembered
from mixtally.protocols.two_level import TwoLevel
from mixtally.records.guarantee import checked_epsilon
from mixtally.simulate.memoized import check_reports

Facts = dict[str, Any]
"""Plain numbers and texts by name: what becomes JSON, and what table and page are made of."""


def prices(plan: TwoLevel, reports: int, epsilon: float | None) -> Facts:
    """The plan's parameters and its losses; delta too where ``epsilon`` is given.

    Raises ParameterError as ``privacy.memory`` and ``checked_epsilon`` do.
    """
    p, q = plan.shown
    kept = remembered.Memory(permanent=plan.f, p=p, q=q, hashes=plan.hashes, reports=reports)
    loss = remembered.loss(kept)
    facts: Facts = {
        "protocol": "memory",
        "observer": "linked",
        "fingerprint": fingerprint(plan),
        "permanent": plan.f,
        "p": p,
        "q": q,
        "permanent_threshold": plan.permanent,
        "p_threshold": plan.p,
        "q_threshold": plan.q,
        "bits": plan.bits,
        "hashes": plan.hashes,
        "cohorts": plan.cohorts,
        "reports": reports,
        "eps_1": loss.eps_1,
        "eps_T": loss.eps_T,
        "eps_inf": loss.eps_inf,
    }
    if epsilon is not None:
        bracket = remembered.delta(kept, checked_epsilon(epsilon))
        facts |= {"epsilon": epsilon, "delta": bracket.upper, "delta_lower": bracket.lower}
    return facts


def check(plan: TwoLevel, reports: int, words: Sequence[str], level: float) -> None:
    """Refuse before the work what cannot be estimated after it; raises ParameterError."""
    checked_level(level)
    check_reports(plan, reports)
    if plan.hashed:
        check_design(plan, words)
    check_told(plan)
