"""Random rounding of numbers to the grid of a plan, before a round is played.

Real devices round when they encode. Here all numbers are rounded at once, with one random word
each. The true number of people at each grid point is then known, and estimated counts are compared
with it. The estimated mean and other moments are compared with those of the unrounded numbers.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import PlanError
from mixtally.lab.data.epoch_counts import EpochCounts
from mixtally.lab.data.population import Population
from mixtally.lab.data.timeline import Timeline
from mixtally.model.plan import Plan
from mixtally.primitives.chance import Chance
from mixtally.protocol.encode.numbers import round_to_grid


def round_crowd(crowd: Population, plan: Plan, chance: Chance) -> Population:
    """Return the crowd with its numbers rounded to a grid.

    The crowd is returned unchanged if neither plan nor crowd has numbers. Raises PlanError if only
    one of them has numbers.
    """
    if plan.grid is None and crowd.values is None:
        return crowd
    records = _round_to_points(crowd.values, plan, chance)
    return replace(crowd, question=plan.question, records=records, grid=plan.grid)


def round_timeline(
    timeline: Timeline | EpochCounts, plan: Plan, chance: Chance
) -> Timeline | EpochCounts:
    """Return the timeline with all numbers rounded to a grid, each independently.

    The timeline is returned unchanged if neither plan nor timeline has numbers. Raises PlanError if
    only one of them has numbers.
    """
    if plan.grid is None and timeline.values is None:
        return timeline
    if isinstance(timeline, EpochCounts):
        raise _mismatch_error(timeline.values)
    codes = _round_to_points(timeline.values, plan, chance)
    return replace(timeline, question=plan.question, codes=codes, grid=plan.grid)


def _round_to_points(
    values: NDArray[np.float64] | None, plan: Plan, chance: Chance
) -> NDArray[np.int64]:
    if plan.grid is None or values is None:
        raise _mismatch_error(values)
    return round_to_grid(plan.grid, values, chance.words(len(values)))


def _mismatch_error(values: NDArray[np.float64] | None) -> PlanError:
    """Return the error for a plan of numbers and people without numbers, or the reverse.

    ``values`` are the numbers of the people; None if the people have none.
    """
    has = "numbers that are rounded", "other answers"
    asked, given = has if values is None else has[::-1]
    return PlanError(
        "plan", expected=f"a plan for {given}", got=f"one for {asked}", do="plan for these data"
    )
