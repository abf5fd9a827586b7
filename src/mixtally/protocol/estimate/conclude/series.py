"""The result of a series of rounds: the counts of each round, and the changes between rounds.

``app.epochs`` and the collector call ``conclude_series``.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from msgspec import structs

from mixtally.model.estimates import Estimate, Intervals, Tally
from mixtally.model.known_total import known_totals
from mixtally.model.mechanism import Shuffled
from mixtally.model.plan import Plan
from mixtally.model.result import Result, Series, Step
from mixtally.protocol.estimate.analysis import COUNTS_ALONE, Analysis
from mixtally.protocol.estimate.change import TalliedPart, estimate_change
from mixtally.protocol.estimate.conclude.counts import conclude
from mixtally.protocol.estimate.conclude.numbers import means_over_time
from mixtally.protocol.estimate.noise import KnownTotal
from mixtally.protocol.estimate.projection import totals_of
from mixtally.protocol.estimate.received import reconcile_mechanism

_SMALL = np.iinfo(np.int32).max // 4  # so that sums of several ends fit as well


_Round = tuple[TalliedPart, tuple[KnownTotal, ...]]
"""The tally of a round, and the known totals of its counts."""


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
        One tally for each round, in order. Each round is estimated before the next tally is read.
        Only the first and the previous tally are kept, so the memory of a long series is mainly
        that of its estimates.
    users, names : Sequence
        The number of people and the name of each round.
    analysis : Analysis
        The options of the estimation of every round. Means are estimated if the answers are rounded
        numbers.

    Raises
    ------
    MessageError, ParameterError, PlanError
        As ``conclude`` does.
    """
    # Without its grid, ``conclude`` omits means, which are computed below for all rounds together.
    without_grid, between = (
        structs.replace(plan, grid=None),
        StepsBetween(len(users), analysis.level),
    )
    results, rounds = list[Result](), list[Shuffled]()
    (summed,) = known_totals(plan.question, plan.parts)
    for tally, many in zip(tallies, users, strict=True):
        result = conclude(without_grid, (tally,), analysis, people=many)
        estimate = _compact_estimate(result.estimate)
        results.append(replace(result, estimate=estimate, tallies=(), bin_tallies=()))
        rounds.append(reconcile_mechanism(plan, tally, many))
        (seen,) = result.bin_tallies
        totals = () if analysis.raw else tuple(totals_of(rounds[-1], seen, many, summed))
        between.add(TalliedPart(rounds[-1], seen), totals)
    grid, found = plan.grid, (tuple(results), between.steps)
    means = () if grid is None else means_over_time(names, found[0], rounds, users, found[1], grid)
    return Series(names=tuple(names), results=found[0], steps=found[1], figures=means)


class StepsBetween:
    """The changes from each round to the next, followed by the change from the first to the last.

    Rounds are added one after the other. Only the first and the previous round are kept.
    """

    def __init__(self, rounds: int, level: float) -> None:
        self._last, self._level = rounds - 1, level
        self._found = list[Step]()
        self._first: _Round | None = None
        self._before: _Round | None = None
        self._number = 0

    def add(self, counted: TalliedPart, totals: tuple[KnownTotal, ...] = ()) -> None:
        """Add a round with its known ``totals``, and estimate the changes to this round."""
        now = counted, totals
        if self._before is not None:
            self._step(self._number - 1, self._before, now)
        if self._first is not None and self._last > 1 and self._number == self._last:
            self._step(0, self._first, now)
        self._first = now if self._first is None else self._first
        self._before, self._number = now, self._number + 1

    @property
    def steps(self) -> tuple[Step, ...]:
        """The changes that were estimated until now."""
        return tuple(self._found)

    def _step(self, first: int, earlier: _Round, later: _Round) -> None:
        """Estimate and store the change from round ``first`` to the current round.

        The simultaneous intervals hold for all changes of the series at once.
        """
        changes = self._last + (self._last > 1)
        found = estimate_change(
            earlier[0],
            later[0],
            level=self._level,
            changes=changes,
            totals=(earlier[1], later[1]),
        )
        small = replace(
            found,
            individual=_compact(found.individual),
            simultaneous=_compact(found.simultaneous),
        )
        self._found.append(Step(first, self._number, small))


def _compact_estimate(estimate: Estimate) -> Estimate:
    individual, simultaneous = _compact(estimate.individual), _compact(estimate.simultaneous)
    return replace(estimate, individual=individual, simultaneous=simultaneous)


def _compact(ends: Intervals) -> Intervals:
    """Return intervals as 32-bit integers if they fit, which halves the memory of a series."""
    if not len(ends.lower) or max(-int(ends.lower.min()), int(ends.upper.max())) > _SMALL:
        return ends
    return replace(ends, lower=ends.lower.astype(np.int32), upper=ends.upper.astype(np.int32))
