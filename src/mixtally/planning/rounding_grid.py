"""The grid of a number: as many points as give its mean the least standard error.

With a the noise of a count and w = R / (B - 1) the step of B points over a range R, the mean of n
numbers that are rounded at random has a variance of

    (a w^2 B (B^2 - 1) / 12  +  n w^2 / 4) / n^2

by noise and, at its worst, by rounding. More points bring more noise and less rounding: in clear
among m = a B uniform fakes the least lies near B = (6 n / a)^(1/3), where twice as many points cost
less than a fifth. What a is depends on B (fakes that are few, caps, what a budget pays for), so the
formula is only where the search begins: every grid is planned for, and its candidate's own noise
weighed.

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
"""Grids of which the first that fits says what noise is about."""
_REACH = 3.0
"""The least lies within this factor of the formula."""


def round_to_grid(request: PlanRequest, wanted: Points, planner: Planner) -> PlanRequest:
    """The request for numbers that are rounded to the points ``expected``, or to the best ones."""
    many, (low, high) = wanted.points, (wanted.low, wanted.high)
    if many is None:
        many = best_points(request, Grid(low=low, high=high, points=2), planner)
    grid = Grid(low=low, high=high, points=many)
    return replace(request, question=grid.make_question(request.question.name), grid=grid)


def best_points(request: PlanRequest, ends: Grid, planner: Planner) -> int:
    """How many points give the mean about the least error; 2 where nothing fits."""

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
    """Where an ``error`` that falls and then rises, or is infinite, is least in [low, high]."""
    while high - low > 2:
        third = max(1, round((high - low) * 0.382))
        left, right = low + third, max(low + third + 1, high - third)
        if error(left) <= error(right):
            high = right
        else:
            low = left
    return min(range(low, high + 1), key=error)


@dataclass(frozen=True, slots=True)
class MeanForecast:
    """What a plan's grid makes of the mean of everybody's number.

    where
      points           of the grid
      step             between two of them; a quantile is known up to two steps
      standard_error   of the mean, with rounding at its worst
      share_of_range   the same in ranges, which owes nothing to the units
    """

    points: int
    step: float
    standard_error: float
    share_of_range: float

    @property
    def sentence(self) -> str:
        """For people."""
        return (
            f"Numbers are rounded at random to {self.points:,} points, {self.step:.4g} apart: the "
            f"mean has a standard error of {self.standard_error:.2g}, {self.share_of_range:.2g} of "
            "the range, and no resolution; a quantile is known up to two steps."
        )


def forecast_mean(plan: Plan) -> MeanForecast | None:
    """The error of the mean of numbers that ``plan`` rounds; None where it rounds none."""
    grid = plan.grid
    if grid is None:
        return None
    error = mean_error(plan, grid)
    return MeanForecast(grid.points, grid.step, error, error / grid.range)


def mean_error(found: Candidate | Plan, grid: Grid) -> float:
    """Standard error of the mean of everybody's number, with rounding at its worst."""
    variance = _count_variance(found) * grid.spread + grid.rounding_variance(found.users)
    return math.sqrt(variance) / found.users


def _count_variance(found: Candidate | Plan) -> float:
    """The variance a of a count, as sums whose weights add up to nothing see it, where as many
    people hold every point.
    """
    made = found.parts[0].make_expected_mechanism(found.users, found.hops, found.crowd)
    messages = found.users * made.repeats + made.fakes_promised
    held = np.full(made.bins, found.users / made.bins)
    return float(np.mean(cumulants(made, messages, held).variance))
