"""Everybody's number rounded at random to the grid of a plan, before it is played.

Devices do this when they encode. Here it is done for all of them at once, a word each, so that it
is known how many people went to each point: that is what counts are compared with. The mean and
what else is said of numbers are compared with the numbers themselves.
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
    """The crowd with its numbers rounded as ``plan`` says; itself where neither has numbers.

    Raises PlanError where only one of them has.
    """
    if plan.grid is None and crowd.values is None:
        return crowd
    records = _round_to_points(crowd.values, plan, chance)
    return replace(crowd, question=plan.question, records=records, grid=plan.grid)


def round_timeline(
    timeline: Timeline | EpochCounts, plan: Plan, chance: Chance
) -> Timeline | EpochCounts:
    """Round the numbers of all epochs as ``plan`` says, every answer anew.

    Raises PlanError where the plan or the timeline alone has numbers.
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
    """Return the refusal of a plan for numbers where there are none, or the other way round."""
    has = "numbers, to be rounded", "other answers"
    asked, given = has if values is None else has[::-1]
    return PlanError(
        "plan", expected=f"one for {given}", got=f"one for {asked}", do="plan for these data"
    )
