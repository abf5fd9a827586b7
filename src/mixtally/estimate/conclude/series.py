"""One question in one round after another: counts of every round, and how much they changed."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from msgspec import structs

from mixtally.estimate.analysis import COUNTS_ALONE, Analysis
from mixtally.estimate.change import Counted, estimate_change
from mixtally.estimate.conclude.counts import conclude, seen_of
from mixtally.estimate.conclude.numbers import means_over_time
from mixtally.estimate.noise import KnownTotal
from mixtally.estimate.projection import totals_of
from mixtally.estimate.received import arrived
from mixtally.records.known_total import known_totals
from mixtally.records.mechanism import Shuffled
from mixtally.records.plan import Plan
from mixtally.records.result import Result, Series, Step
from mixtally.records.results import Estimate, Intervals, Tally

_SMALL = np.iinfo(np.int32).max // 4  # so that sums of several ends fit as well


class _Round(NamedTuple):
    """What is kept of a round for its changes: its tally, and what its counts add up to."""

    counted: Counted
    totals: tuple[KnownTotal, ...]


def conclude_series(
    plan: Plan,
    tallies: Iterable[Tally],
    users: Sequence[int],
    names: Sequence[str],
    analysis: Analysis = COUNTS_ALONE,
) -> Series:
    """Estimate the counts and the changes of rounds that were all collected under one plan.

    Parameters
    ----------
    plan : Plan
        The plan of every round.
    tallies : Iterable[Tally]
        One tally a round, in order. Each is concluded before the next is taken, and only the first
        and the previous one are kept: a long series needs memory for its estimates alone.
    users, names : Sequence
        How many people each round has, and what it is called.
    analysis : Analysis
        What is estimated of every round. Means are estimated of numbers that were rounded.

    Raises
    ------
    MessageError, ParameterError, PlanError
        As ``conclude`` does.
    """
    alone, last = structs.replace(plan, grid=None), len(users) - 1
    results, rounds, steps = list[Result](), list[Shuffled](), list[Step]()
    changes = last + (last > 1)
    (summed,) = known_totals(plan.question, plan.parts)
    first = before = None
    for number, (tally, many) in enumerate(zip(tallies, users, strict=True)):
        result = conclude(alone, (tally,), analysis, people=many)
        estimate = _compact_estimate(result.estimate)
        results.append(replace(result, estimate=estimate, tallies=(), bin_tallies=()))
        rounds.append(arrived(plan, tally, many))
        seen = seen_of(plan.parts[0], tally)
        now = _Round(
            Counted(rounds[-1], seen),
            () if analysis.raw else tuple(totals_of(rounds[-1], seen, many, summed)),
        )
        if first is None:
            first = now
        if before is not None:
            steps.append(_step(number - 1, number, before, now, analysis.level, changes))
        if last > 1 and number == last:
            steps.append(_step(0, number, first, now, analysis.level, changes))
        before = now
    grid, found = plan.grid, (tuple(results), tuple(steps))
    means = () if grid is None else means_over_time(names, found[0], rounds, users, found[1], grid)
    return Series(names=tuple(names), results=found[0], steps=found[1], figures=means)


def _step(
    first: int, last: int, earlier: _Round, later: _Round, level: float, changes: int
) -> Step:
    """Return the change between two rounds, one of so many ``changes`` that are looked at."""
    found = estimate_change(
        earlier.counted,
        later.counted,
        level=level,
        changes=changes,
        totals=(earlier.totals, later.totals),
    )
    small = replace(found, each=_compact(found.each), together=_compact(found.together))
    return Step(first, last, small)


def _compact_estimate(estimate: Estimate) -> Estimate:
    each, together = _compact(estimate.each), _compact(estimate.together)
    return replace(estimate, each=each, together=together)


def _compact(ends: Intervals) -> Intervals:
    """Return intervals in half the memory where their ends fit: a series has very many of them."""
    if not len(ends.lower) or max(-int(ends.lower.min()), int(ends.upper.max())) > _SMALL:
        return ends
    return replace(ends, lower=ends.lower.astype(np.int32), upper=ends.upper.astype(np.int32))
