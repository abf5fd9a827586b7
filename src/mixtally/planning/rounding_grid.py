"""The grid for numbers: the number of points that gives their mean the least standard error.

The applications call this module if a request leaves the number of points open. Let n be the number
of people, a the variance of a count, and B the number of points over a range R. The step is w = R /
(B - 1). Numbers are rounded at random to a neighboring point. The variance of their mean is at most

    (a w^2 B (B^2 - 1) / 12  +  n w^2 / 4) / n^2.

The first term is noise and the second is rounding in the worst case. More points increase the noise
and decrease the rounding error. If numbers are sent in clear among m = a B uniform fakes, the
minimum is near B = (6 n / a)^(1/3), and twice as many points increase the error by less than a
fifth. However, a depends on B: fakes may be few, messages may have caps, and the budget is limited.
Hence the formula only gives the start of the search. For every B that is tried, the search computes
the best candidate, and uses the variance of this candidate as a.

Source: proved here; see ``protocol.estimate.numbers``.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from mixtally.device.contract.grid import MOST_POINTS
from mixtally.model.grid import Grid
from mixtally.model.plan import Plan
from mixtally.model.question import Question
from mixtally.planning.choose import Planner
from mixtally.planning.options import Candidate
from mixtally.planning.request import PlanRequest
from mixtally.protocol.encode.numbers import Points
from mixtally.protocol.estimate.cumulants import cumulants

_STARTS = (16, 8, 4, 3, 2)
"""Grids that are tried in turn for a first estimate of the variance a."""
_REACH = 3.0
"""The search covers this factor below and above the formula's number of points."""


def round_to_grid(request: PlanRequest, requested: Points, planner: Planner) -> PlanRequest:
    """Return the request with a grid of the given points, or of the best number of points.

    Parameters
    ----------
    request : PlanRequest
        The request. Its question is replaced by a question with the same name.
    requested : Points
        The range of the numbers and the number of points. If the number of points is None, the
        number with the least estimated error of the mean is used.
    planner : Planner
        The cache that is shared with other calls.

    Returns
    -------
    PlanRequest
        A copy whose question has one bin for each point.
    """
    many, (low, high) = requested.points, (requested.low, requested.high)
    if many is None:
        many = best_points(request, Grid(low=low, high=high, points=2), planner)
    grid = Grid(low=low, high=high, points=many)
    return replace(request, question=grid.make_question(request.question.name), grid=grid)


def best_points(request: PlanRequest, ends: Grid, planner: Planner) -> int:
    """Estimate the number of points that gives the mean the least error.

    The result is 2 if no grid has a candidate.
    """

    @cache
    def best_candidate(points: int) -> Candidate | None:
        asked = Question(name=request.question.name, bins=points)
        at = request.error_at if request.error_at is not None else request.users // points
        return planner.best_estimate(
            replace(request, question=asked, error_at=at), mixes_first=True
        )

    def error(points: int) -> float:
        one, grid = best_candidate(points), Grid(low=ends.low, high=ends.high, points=points)
        return math.inf if one is None else mean_error(one, grid) / grid.range

    first = next((one for points in _STARTS if (one := best_candidate(points)) is not None), None)
    if first is None:
        return 2
    guess = (6.0 * request.users / _count_variance(first)) ** (1.0 / 3.0)
    low, high = max(2, math.floor(guess / _REACH)), math.ceil(guess * _REACH) + 1
    return _minimize_unimodal(error, min(low, MOST_POINTS // 2), min(high, MOST_POINTS))


def _minimize_unimodal(error: Callable[[int], float], low: int, high: int) -> int:
    """Return the minimizer in [low, high] of an error that first falls and then rises."""
    while high - low > 2:
        # By the golden section, one of the two errors is mostly cached from the step before.
        third = max(1, round((high - low) * 0.382))
        left, right = low + third, max(low + third + 1, high - third)
        if error(left) <= error(right):
            high = right
        else:
            low = left
    return min(range(low, high + 1), key=error)


@dataclass(frozen=True, slots=True)
class MeanForecast:
    """The forecast error of the mean of all numbers that a plan rounds to a grid.

    Attributes
    ----------
    step : float
        The distance of neighboring points. A quantile is known up to two steps.
    standard_error : float
        The standard error of the mean, with the worst case of rounding.
    share_of_range : float
        The standard error divided by the range of the grid, which has no unit.
    """

    points: int
    step: float
    standard_error: float
    share_of_range: float

    @property
    def sentence(self) -> str:
        """The forecast as a sentence."""
        return (
            f"Numbers are rounded at random to {self.points:,} points, {self.step:.4g} from one to "
            f"the next: the mean has a standard error of {self.standard_error:.2g}, "
            f"{self.share_of_range:.2g} of the range, and no resolution; a quantile is known up to "
            "two steps."
        )


def forecast_mean(plan: Plan) -> MeanForecast | None:
    """Return the forecast error of the mean of numbers; None if the plan has no grid."""
    grid = plan.grid
    if grid is None:
        return None
    error = mean_error(plan, grid)
    return MeanForecast(grid.points, grid.step, error, error / grid.range)


def mean_error(found: Candidate | Plan, grid: Grid) -> float:
    """Return the standard error of the mean of all numbers, with the worst case of rounding."""
    variance = _count_variance(found) * grid.spread + grid.rounding_variance(found.users)
    return math.sqrt(variance) / found.users


def _count_variance(found: Candidate | Plan) -> float:
    """Return the variance a of a count, if all points have equally many people.

    The counts are correlated. If they are treated as independent with this variance, the variance
    of a weighted sum of counts is right only if its weights sum to zero.
    """
    made = found.parts[0].make_expected_mechanism(found.users, found.hops, found.crowd)
    messages = found.users * made.repeats + made.fakes_promised
    people_per_point = np.full(made.bins, found.users / made.bins)
    return float(np.mean(cumulants(made, messages, people_per_point).variance))
