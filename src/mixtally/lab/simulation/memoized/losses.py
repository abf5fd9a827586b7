"""Losses of memoized answers, known before anyone answers, and checks of what can be estimated."""

from collections.abc import Sequence

from mixtally.accounting.divergence.memoized import delta, loss
from mixtally.lab.simulation.memoized.crowd import check_reports
from mixtally.model.guarantee import check_epsilon
from mixtally.model.mechanism import Memoized
from mixtally.model.memoized_plan import MemoizedPlan
from mixtally.primitives.codec import fingerprint
from mixtally.protocol.encode.bloom import check_design
from mixtally.protocol.estimate.intervals import check_level
from mixtally.protocol.estimate.memoized import check_informative
from mixtally.report.document import Facts


def compute_losses(plan: MemoizedPlan, reports: int, epsilon: float | None) -> Facts:
    """Return the parameters of a plan and its privacy losses.

    If ``epsilon`` is not None, the result also has the delta at this privacy loss, in nats. Raises
    ParameterError as ``accounting.divergence.memoized`` and ``check_epsilon`` do.
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
    """Raise ParameterError if counts could not be estimated from the reports of this mechanism.

    Callers check this before any report is made. ``words`` are the candidates whose counts are
    estimated; empty if values are not hashed.
    """
    check_level(level)
    check_reports(mechanism, reports)
    if mechanism.hashed:
        check_design(mechanism, words)
    check_informative(mechanism)
