"""The guarantee of a document in three lines.

The lines say what is protected against whom; epsilon and delta, with their status and assumptions;
and the expected error. Every document begins with them. Privacy numbers and errors are rounded up,
so that the lines never promise too much.
"""

import math
from statistics import NormalDist

import numpy as np

from mixtally.errors import pluralize
from mixtally.model.certificate import Certificate
from mixtally.model.contract import Plan
from mixtally.model.costs import default_count
from mixtally.model.estimates import Estimate
from mixtally.model.guarantee import Observer
from mixtally.model.result import Result
from mixtally.report.document import Promise
from mixtally.report.numbers import at_most, error_text
from mixtally.report.words import assumption_text, loss_text, without_mixes

_WHO = {
    Observer.MESSAGES: "anyone who sees all shuffled messages and knows all other answers",
    Observer.SUMS: "anyone who sees the sums alone and knows all other answers",
    Observer.LINKED: "anyone who sees every report and knows whose it is",
}
_EXACT = 1.0 + 1e-4
"""A delta is called exact if the ratio of its ends is below this number: four digits agree."""
LEVEL = 0.95


def protection_line(observer: Observer, what: str = "each person's answer") -> str:
    """Return the first line: what is protected, and against whom.

    Parameters
    ----------
    observer : Observer
        The adversary against whom the guarantee protects.
    what : str
        The words for what is protected.
    """
    return f"Protects: {what}, against {_WHO[observer]}."


def certificate_line(certificate: Certificate, note: str = "") -> str:
    """Return the second line: a certificate with its assumption.

    Parameters
    ----------
    certificate : Certificate
        The bounds of delta, with the assumption on which they rest.
    note : str
        The words for what the certificate covers, with a comma in front; empty for a single
        collection.
    """
    return (
        f"{loss_text(certificate)} ({exactness_text(certificate)}{note}). "
        f"{assumption_text(certificate.assumption)}."
    )


def exactness_text(certificate: Certificate) -> str:
    """Return the words for whether delta is exact, up to rounding, or an upper bound."""
    if certificate.upper == 0.0 or 0.0 < certificate.upper <= certificate.lower * _EXACT:
        return "exact"
    return "proved upper bound"


def error_line(
    error: float | None, level: float = LEVEL, note: str = "", *, half: float | None = None
) -> str:
    """Return the third line: the largest error of a count at ``level``, and its standard error.

    Parameters
    ----------
    error : float or None
        The standard error of a count; None if it is unknown.
    level : float
        The confidence level, in (0, 1).
    note : str
        Text that is added at the end, with its leading space.
    half : float, optional
        Half the width of the interval of a count, in counts. By default it is computed from the
        standard error, with the normal approximation.
    """
    if error is None or not math.isfinite(error):
        return f"Expected error of each count: unknown{note}."
    width = half_width(error, level) if half is None else half
    return (
        f"Expected error of each count: at most {width_text(width)} with {100 * level:g} % "
        f"confidence, standard error {error_text(error)}{note}."
    )


def width_text(width: float) -> str:
    """Return ``width``, half the width of an interval, as text, rounded up."""
    return f"{math.ceil(width):,}" if width > 10.0 else at_most(width, 2)


def half_width(error: float, level: float) -> float:
    """Return half the width of a normal interval.

    Parameters
    ----------
    error : float
        The standard error of the estimate.
    level : float
        The confidence level, in (0, 1).
    """
    return NormalDist().inv_cdf(0.5 + 0.5 * level) * error


def build_promise(
    certificate: Certificate,
    local: float | None,
    third: str,
    note: str = "",
    what: str = "each person's answer",
) -> Promise:
    """Return all three lines of a promise.

    Parameters
    ----------
    certificate : Certificate
        The guarantee of the second line.
    local : float or None
        The local epsilon, which remains if all mixes collude with the collector.
    third : str
        The third line, as ``error_line`` returns it.
    note : str
        The argument ``note`` of ``certificate_line``.
    what : str
        The words for what is protected.
    """
    second = f"{certificate_line(certificate, note)} {without_mixes(local)}"
    return protection_line(certificate.observer, what), second, third


def promise_of_plan(plan: Plan, level: float = LEVEL, half: float | None = None) -> Promise:
    """Return the three lines of a plan, with the error that is expected before anybody answers.

    Parameters
    ----------
    plan : Plan
        The plan, whose certificate is the guarantee.
    level : float
        The confidence level of the error, in (0, 1).
    half : float or None
        Half the width of an interval, in counts; None computes it from the error.
    """
    crowd = f" when all {plan.users:,} take part"
    if plan.varies_by_count:
        count = default_count(plan.users)
        full = error_text(plan.error_of(count))
        crowd += f", for an empty bin; {full} for a bin with {count:,} people"
    third = error_line(plan.standard_error, level, crowd, half=half)
    return build_promise(
        plan.certificate, plan.local_epsilon, third, _collections_text(plan.collections)
    )


def promise_of_result(result: Result) -> Promise:
    """Return the three lines of a result: its guarantee and the error of its counts."""
    plan, error, each = result.plan, result.estimate.standard_error, result.estimate.individual
    counts = result.estimate.counts.clip(each.lower, each.upper)  # as they are shown
    # The largest distance from a count to an end of its interval. Half the width would be too
    # small, because intervals of small counts begin at 0 and noise is skewed.
    most = float(np.maximum(each.upper - counts, counts - each.lower).max())
    third = error_line(error, each.level, _name_worst_bin(result.estimate), half=most)
    return build_promise(
        result.certificate, plan.local_epsilon, third, _collections_text(plan.collections)
    )


def _name_worst_bin(estimate: Estimate) -> str:
    """Return words on the largest and on the median error of a bin; empty if they are equal.

    Errors differ between bins if some values are replaced by random ones, or if messages name
    planes.
    """
    errors = estimate.errors
    if errors is None or not len(errors):
        return ""
    order = np.argsort(errors, kind="stable")
    worst, usual = int(order[-1]), int(order[(len(order) - 1) // 2])
    if error_text(errors[worst]) == error_text(errors[usual]):
        return ""
    counts = [max(0, round(float(estimate.counts[place]))) for place in (worst, usual)]
    return (
        f" for a bin with {pluralize(counts[0], 'person', 'people')}; {error_text(errors[usual])} "
        f"for "
        f"an ordinary bin with {pluralize(counts[1], 'person', 'people')}"
    )


def promise_of_round(plan: Plan, result: Result | None) -> Promise:
    """Return the three lines of a round, or of its plan if nothing is released.

    Parameters
    ----------
    plan : Plan
        The plan of the round.
    result : Result or None
        The result; None if nothing is released.
    """
    return promise_of_plan(plan) if result is None else promise_of_result(result)


def _collections_text(collections: int) -> str:
    return "" if collections == 1 else f", for all {collections:,} collections together"
