"""A question that is asked again and again: counts, changes, and what everybody spends."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Annotated

from mixtally.accounting.accountant import Accountant
from mixtally.app.budget import Change
from mixtally.app.count import GivenPlan
from mixtally.app.limits import BudgetOptions, plan_request
from mixtally.app.options import CountsOnly, Promise, list_used_flags, option, whole_option
from mixtally.app.outcome import Outcome, Run, outcome_of
from mixtally.app.plans import refuse_extra_flags
from mixtally.errors import DataError, ParameterError, PlanError
from mixtally.lab.data.epoch_counts import EpochCounts, count_by_epoch
from mixtally.lab.data.population import LABELS, Population, check_shared
from mixtally.lab.data.timeline import Timeline
from mixtally.lab.data.turnover import simulate_turnover, simulate_turnover_counts
from mixtally.lab.simulation.epoch_ledger import charge_epoch, check_series
from mixtally.lab.simulation.epochs import collect_epochs, plan_whole_records
from mixtally.lab.simulation.lab import Provenance
from mixtally.lab.simulation.rounding import round_timeline
from mixtally.lab.simulation.trend.document import document
from mixtally.model.contract import Plan
from mixtally.model.guarantee import Guarantee
from mixtally.model.ledger import Ledger
from mixtally.planning import Planner
from mixtally.primitives.chance import Chance
from mixtally.primitives.progress import ignore_progress
from mixtally.protocol.encode.numbers import Range
from mixtally.protocol.estimate.analysis import Analysis

_RATE = 0.1
"""Of joining, leaving and changing, where none was given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnoverOptions:
    """Epochs that are invented (0.1 each), and whether the last one of the data is whole."""

    partial_epoch: Annotated[
        bool,
        option("--partial-epoch", "Count a last epoch that has far fewer answers than others."),
    ] = False
    synthetic: Annotated[
        int | None,
        whole_option("--synthetic", "Invent so many epochs; DATA is the crowd of the first."),
    ] = None
    join: Annotated[float | None, option("--join", "Chance to join from epoch to epoch.", "R")] = (
        None
    )
    leave: Annotated[
        float | None, option("--leave", "Chance to leave from epoch to epoch.", "R")
    ] = None
    change: Annotated[
        float | None, option("--change", "Chance that a value is drawn anew.", "R")
    ] = None

    def check(self, columns: Sequence[str]) -> None:
        """Raise ParameterError for options of both kinds or of neither.

        ``columns`` are the options of epochs in the data, the first of them the column.
        """
        invented = self.synthetic is not None
        beside = (
            [*columns, *list_used_flags(self, "partial_epoch")]
            if invented
            else list_used_flags(self)
        )
        if not invented and columns[:1] == ["--epoch-column"]:
            beside = list_used_flags(self, "join", "leave", "change")
            if not beside:
                return
        elif invented and not beside:
            return
        raise ParameterError(
            "epochs",
            expected="--epoch-column (with --epoch-order), or --synthetic (with "
            "--join, --leave, --change)",
            got=", ".join([*beside, "--synthetic" if invented else "no --synthetic"]),
            do="name the column that says when, or how many epochs to invent",
        )

    def invent(
        self, first: Population, epochs: int, chance: Chance, *, counts_only: bool
    ) -> Timeline | EpochCounts:
        """Return invented epochs; ``first`` is the crowd of the first. Raise as ``turnover``."""
        return (simulate_turnover_counts if counts_only else simulate_turnover)(
            first,
            epochs,
            join=_RATE if self.join is None else self.join,
            leave=_RATE if self.leave is None else self.leave,
            change=_RATE if self.change is None else self.change,
            chance=chance,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochsOptions:
    """What all epochs promise together, what they may cost, and how they are played."""

    promise: Promise
    budget: BudgetOptions
    turnover: TurnoverOptions
    counts_only: CountsOnly = False


def check_held(held: Plan, options: EpochsOptions, beside: Sequence[str], subject: str) -> None:
    """Raise for a plan of words, and for options, some of them ``beside``, that a plan holds."""
    refuse_extra_flags([*beside, *list_used_flags(options.budget)])
    if held.question.hashed is not None:
        raise PlanError(
            subject,
            expected="bins of one value each",
            got="an open question",
            do="ask words with `mixtally simulate --candidates`",
        )


def epochs(
    options: EpochsOptions,
    timeline: Timeline | EpochCounts,
    run: Run,
    given: GivenPlan | None = None,
    *,
    scale: Range | None = None,
    order: Sequence[str] | None = None,
    change: Change | None = None,
) -> Outcome:
    """Play every epoch of a timeline; all of them together keep the guarantee.

    Parameters
    ----------
    options : EpochsOptions
        The request.
    timeline : Timeline or EpochCounts
        The epochs.
    run : Run
        How they are played; its source says where they come from.
    given : Given or None
        The plan of every epoch; None to plan for the smallest crowd.
    scale : Range or None
        How numbers are read.
    order : sequence of str or None
        Of all epochs; None where their names tell it.
    change : Change or None
        Replaces the ledger to which every epoch is charged before it is sent.

    Raises
    ------
    DataError
        If the data end in the middle of an epoch, or labels were read off answers that most likely
        name people.
    InfeasibleError
        If no plan meets the request, or not all epochs fit the ledger.
    PlanError
        For a plan for others or for fewer epochs, and for an epoch that was charged before.
    """
    if options.turnover.synthetic is None and not options.turnover.partial_epoch:
        _check_complete(timeline)
    _check_labels(timeline)
    guarantee, planner = options.promise.guarantee(), run.lab.planner
    given = given or _plan_epochs(timeline, guarantee, options.budget, planner, scale)
    plan, before = given.plan, None
    if change is not None:
        before = _make_charger(change, plan, timeline.epochs, order, planner.accountant)
    timeline = count_by_epoch(timeline) if options.counts_only else timeline
    timeline = round_timeline(timeline, plan, run.lab.chance)
    trend = collect_epochs(
        plan,
        timeline,
        guarantee,
        run.lab,
        Analysis(level=run.level),
        about=Provenance(
            title=f"{timeline.question.name} over time, counted privately",
            source=f"{timeline.answers:,} answers in {len(timeline.epochs):,} epochs{run.source}",
            raw=timeline.note,
            reason=given.reason,
            seed=run.seed,
            ordered=LABELS not in timeline.from_data,
        ),
        before=before or ignore_progress,
        counts_only=options.counts_only,
    )
    return outcome_of(trend, lambda shown: document(shown, run.top), timeline.from_data)


def _make_charger(
    change: Change,
    plan: Plan,
    epochs: Sequence[str],
    order: Sequence[str] | None,
    accountant: Accountant,
) -> Callable[[str], None]:
    """Return what charges an epoch before it is sent; raise at once when not all of them fit."""

    def unchanged(ledger: Ledger) -> Ledger:
        check_series(ledger, plan, epochs, order, accountant)
        return ledger

    def charge(epoch: str) -> None:
        today = date.today().isoformat()
        change(lambda old: charge_epoch(old, plan, epoch, accountant, date=today, order=order))

    change(unchanged)
    return charge


def _check_labels(timeline: Timeline | EpochCounts) -> None:
    """Raises DataError where labels that were read off the answers are most likely a person's."""
    if timeline.from_data:
        most = timeline.truth.max(axis=0)  # one person may give an answer in every epoch
        check_shared(timeline.question, most, timeline.from_data)


_FEWEST = 3
"""Epochs from which on the last one can be compared with several others."""


def _check_complete(timeline: Timeline | EpochCounts) -> None:
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
        expected=f"about as many answers as the other epochs have, {min(users[:-1]):,} or more",
        got=f"{users[-1]:,}, as where a file is cut in the middle of its last epoch",
        do="read the whole file, leave that epoch out, or add --partial-epoch if it is complete",
    )


def _plan_epochs(
    timeline: Timeline | EpochCounts,
    guarantee: Guarantee,
    budget: BudgetOptions,
    planner: Planner,
    scale: Range | None,
) -> GivenPlan:
    """Return the plan of least error for the smallest crowd; all epochs share the guarantee."""
    every = len(timeline.epochs)
    asked = every if budget.collections == 1 else budget.collections
    if asked < every:
        raise ParameterError(
            "collections",
            expected=f"at least the {every:,} epochs of the data",
            got=f"{asked:,}",
            do="leave --collections out, or count further epochs that are still to come",
        )
    budget, users = replace(budget, collections=asked), int(timeline.users.min())
    wish = plan_request(budget, timeline.question, guarantee, users, scale=scale, planner=planner)
    return GivenPlan(*plan_whole_records(wish, planner))
