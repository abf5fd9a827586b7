"""Forecast of the errors of a plan, and plans for a target error.

The applications use this module before any data exist.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import NormalDist

from mixtally.errors import InfeasibleError, ParameterError, strictly_within
from mixtally.model.guarantee import LEAST_USERS, MOST_USERS
from mixtally.model.plan import Plan
from mixtally.planning.choose import Planner, choose
from mixtally.planning.options import Choice
from mixtally.planning.request import MOST_MESSAGES, PlanRequest

_LISTED = 1_000
"""The number of words of an open domain that a forecast assumes to be shown together."""
_STEPS = 1000
"""The resolution of the search for a budget: steps for one message per user."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """Errors in counts at one confidence level, by the normal approximation.

    Attributes
    ----------
    standard_error : float
        The standard error of an empty bin. If values are replaced, it is larger for other bins.
    half_width : float
        Half the width of the interval of one bin.
    largest_error : float
        A bound that no error of any bin exceeds, at this confidence level.
    visible_count : int
        The least count that is distinguishable from zero, among all bins at once.
    level : float
        The confidence level.
    """

    standard_error: float
    half_width: float
    largest_error: float
    visible_count: int
    level: float


def forecast(plan: Plan, level: float = 0.95) -> Forecast:
    """Return the errors of a plan.

    All bins are covered at once by the union bound, as in the intervals of a report. The bound of
    the error also limits the estimates of empty bins. A count is distinguishable from zero if its
    estimate exceeds this bound with probability ``level``.

    Parameters
    ----------
    plan : Plan
        The plan, whose expected crowd and noise are used.
    level : float
        The confidence level, in (0, 1).

    Raises
    ------
    ParameterError
        If ``level`` is outside (0, 1).
    """
    strictly_within("confidence level", level, 0.0, 1.0, "0.95 is common")
    normal, error = NormalDist(), plan.standard_error
    open_domain = plan.question.hashed is not None
    bins = _LISTED if open_domain else sum(part.bins for part in plan.parts)
    one_bin = normal.inv_cdf(0.5 + 0.5 * level)
    all_bins = -normal.inv_cdf((1.0 - level) / (2.0 * bins))
    return Forecast(
        standard_error=error,
        half_width=one_bin * error,
        largest_error=all_bins * error,
        visible_count=math.ceil((all_bins + max(0.0, normal.inv_cdf(level))) * error),
        level=level,
    )


def choose_with_error(
    request: PlanRequest, target: float, planner: Planner | None = None
) -> Choice:
    """Choose the plan with the fewest messages per user that reaches an error.

    Parameters
    ----------
    request : PlanRequest
        The question, the guarantee and the limits. Its budget of messages is replaced.
    target : float
        The accepted standard error, in counts, of a bin with ``request.count`` people.
    planner : Planner or None
        A planner to share between calls; None for a new one.

    Raises
    ------
    InfeasibleError
        If the largest budget does not reach the target. The message states the least error.
    """
    planner = planner or Planner()
    if not target > 0.0:
        raise ParameterError(
            "target error", expected="a positive number of counts", got=target, do="10, for example"
        )

    def request_with(thousandths: int) -> PlanRequest:
        return replace(request, messages_per_user=Fraction(thousandths, _STEPS))

    def probably_meets(thousandths: int) -> bool:
        found = planner.candidates(request_with(thousandths), smaller=True).found
        return min((one.error for one in found), default=math.inf) <= target

    def error_of(thousandths: int) -> float:
        return choose(request_with(thousandths), planner, similar_ratio=1.0).plan.error_of(
            request.count
        )

    def reaches_target(thousandths: int) -> bool:
        try:
            return error_of(thousandths) <= target
        except InfeasibleError:
            return False

    low, high = _STEPS, round(MOST_MESSAGES) * _STEPS
    best = error_of(high)  # Raises InfeasibleError with its reason if nothing is feasible.
    if best > target:
        raise InfeasibleError(
            "target error",
            expected=f"a standard error of {target:g} count" + "s" * (target != 1),
            got=f"{best:.4g} at {MOST_MESSAGES:g} messages per user",
            do="ask for more than that, raise epsilon, or "
            + ("allow --mix-fakes" if request.protocol is None else "leave --protocol out"),
        )
    if reaches_target(low):
        return choose(request_with(low), planner, similar_ratio=1.0)
    missing, met = _bracket(_bisect(probably_meets, low, high), reaches_target, low, high)
    return choose(request_with(_bisect(reaches_target, missing, met)), planner, similar_ratio=1.0)


def _bracket(start: int, satisfies: Callable[[int], bool], low: int, high: int) -> tuple[int, int]:
    """Return a value that misses the condition and a larger value that meets it, near ``start``.

    The condition is false at ``low`` and true at ``high``.
    """
    stride, met, missing = 1, high, low
    if satisfies(start):
        met, missing = start, max(low, start - stride)
        while missing > low and satisfies(missing):
            stride *= 2
            met, missing = missing, max(low, missing - stride)
        return missing, met
    met, missing = min(high, start + stride), start
    while met < high and not satisfies(met):
        stride *= 2
        met, missing = min(high, met + stride), met
    return missing, met


def _bisect(satisfies: Callable[[int], bool], missing: int, met: int) -> int:
    """Return the least value that satisfies a monotone condition.

    The condition is false at ``missing`` and true at ``met``.
    """
    while met - missing > 1:
        middle = (missing + met) // 2
        missing, met = (missing, middle) if satisfies(middle) else (middle, met)
    return met


def choose_users(request: PlanRequest, share: float, planner: Planner | None = None) -> Choice:
    """Choose the plan for the least crowd that reaches a relative error.

    The crowd is within one percent of the least one.

    Parameters
    ----------
    request : PlanRequest
        The question, the guarantee and the budget. Its number of users is replaced.
    share : float
        The accepted standard error as a share of the crowd, in (0, 1).
    planner : Planner or None
        A planner to share between calls; None for a new one.

    Raises
    ------
    ParameterError
        If ``share`` is outside (0, 1), or if the request has a minimum crowd.
    InfeasibleError
        If even 10^10 users do not reach the share.
    """
    planner = planner or Planner()
    _check_share(request, share)

    def choice(users: int) -> Choice | None:
        try:
            found = choose(replace(request, users=users), planner)
        except InfeasibleError:
            return None
        return found if found.plan.error_of(found.count) <= share * users else None

    low, high = LEAST_USERS - 1, LEAST_USERS
    best = choice(high)
    while best is None and high < MOST_USERS:
        low, high = high, min(4 * high, MOST_USERS)
        best = choice(high)
    if best is None:
        raise InfeasibleError(
            "target share",
            expected=f"a standard error of {share:g} of the crowd",
            got=f"more than that with {MOST_USERS:,} users",
            do="raise epsilon or the budget",
        )
    # Bisection of the logarithm. It stops at one percent, because every step makes a plan.
    while high > low + 1 and high > 1.01 * low:
        middle = max(low + 1, math.isqrt(low * high))
        found = choice(middle)
        low, high, best = (low, middle, found) if found else (middle, high, best)
    return best


def _check_share(request: PlanRequest, share: float) -> None:
    """Raise ParameterError for a share outside (0, 1) or a minimum crowd."""
    strictly_within(
        "target share", share, 0.0, 1.0, "0.001, for example: a tenth of a percent of the crowd"
    )

    if request.minimum_crowd is not None:
        raise ParameterError(
            "minimum crowd",
            expected="none while the crowd is to be found",
            got=f"{request.minimum_crowd:,}",
            do="use the honest share for who does not take part",
        )
