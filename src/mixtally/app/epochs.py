"""A question that is asked again and again: counts, changes, and what everybody spends."""

from collections.abc import Callable
from dataclasses import replace

from mixtally.app.limits import BudgetOptions, wish_of
from mixtally.app.outcome import Outcome, Run, outcome_of
from mixtally.errors import DataError, ParameterError
from mixtally.lab.data.epoch_counts import EpochCounts, counted
from mixtally.lab.data.population import LABELS, check_shared
from mixtally.lab.data.timeline import Timeline
from mixtally.lab.simulation.epochs import collect, whole_plan
from mixtally.lab.simulation.lab import Provenance
from mixtally.lab.simulation.rounding import rounded_timeline
from mixtally.lab.simulation.trend.document import document
from mixtally.model.contract import Plan
from mixtally.model.guarantee import Guarantee
from mixtally.planning import Planner
from mixtally.primitives.progress import quiet
from mixtally.protocol.encode.numbers import Range
from mixtally.protocol.estimate.analysis import Analysis


def epochs(
    timeline: Timeline | EpochCounts,
    guarantee: Guarantee,
    chosen: tuple[Plan, str],
    analysis: Analysis,
    run: Run,
    *,
    before: Callable[[str], None] = quiet,
    counts_only: bool = False,
) -> Outcome:
    """Play every epoch of a timeline; all of them together keep the guarantee.

    where
      chosen   the plan of every epoch and why it is that: ``plan_of``, or one that was given
      before   is called with each epoch's name before anything of it is sent

    Raises PlanError for a plan for others, or for fewer epochs.
    """
    plan, reason = chosen
    timeline = counted(timeline) if counts_only else timeline
    timeline = rounded_timeline(timeline, plan, run.lab.chance)
    trend = collect(
        plan,
        timeline,
        guarantee,
        run.lab,
        analysis,
        about=Provenance(
            title=f"{timeline.question.name} over time, counted privately",
            source=run.source,
            raw=timeline.note,
            reason=reason,
            seed=run.seed,
            ordered=LABELS not in timeline.from_data,
        ),
        before=before,
        counts_only=counts_only,
    )
    return outcome_of(trend, lambda shown: document(shown, run.top), timeline.from_data)


def check_labels(timeline: Timeline | EpochCounts) -> None:
    """Raises DataError where labels that were read off the answers are most likely a person's."""
    if timeline.from_data:
        most = timeline.truth.max(axis=0)  # one person may give an answer in every epoch
        check_shared(timeline.question, most, timeline.from_data)


_FEWEST = 3
"""Epochs from which on the last one can be compared with several others."""


def check_complete(timeline: Timeline | EpochCounts) -> None:
    """Check that the data do not end in the middle of an epoch.

    A plan is made for the smallest crowd, so that a cut file would cost every epoch accuracy.

    Raises
    ------
    DataError
        If the last of three or more epochs has fewer than half the answers of every other one.
    """
    users = timeline.users.tolist()
    if len(users) < _FEWEST or 2 * users[-1] >= min(users[:-1]):
        return
    raise DataError(
        f"epoch {timeline.epochs[-1]!r}",
        wanted=f"about as many answers as the other epochs have, {min(users[:-1]):,} or more",
        got=f"{users[-1]:,}, as where a file is cut in the middle of its last epoch",
        do="read the whole file, leave that epoch out, or add --partial-epoch if it is complete",
    )


def plan_of(
    timeline: Timeline | EpochCounts,
    guarantee: Guarantee,
    budget: BudgetOptions,
    planner: Planner,
    *,
    scale: Range | None = None,
) -> tuple[Plan, str]:
    """The planner's choice for the smallest crowd, the guarantee shared by all epochs.

    ``scale`` is that of numbers, as ``wish_of`` has it.
    """
    every = len(timeline.epochs)
    asked = every if budget.collections == 1 else budget.collections
    if asked < every:
        raise ParameterError(
            "collections",
            wanted=f"at least the {every:,} epochs of the data",
            got=f"{asked:,}",
            do="leave --collections out, or count further epochs that are still to come",
        )
    budget, users = replace(budget, collections=asked), int(timeline.users.min())
    wish = wish_of(budget, timeline.question, guarantee, users, scale=scale, planner=planner)
    return whole_plan(wish, planner)
