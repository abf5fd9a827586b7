"""A question that is repeated over time: counts, changes, and the total privacy loss.

The command line and Python call ``epochs``. An *epoch* is one of the collections that repeat the
question.
"""

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
"""Default probability of joining, leaving and changing between two epochs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnoverOptions:
    """How people join, leave and change if epochs are simulated, and a check of epochs in the data.

    The probabilities of joining, leaving and changing are 0.1 by default.
    """

    partial_epoch: Annotated[
        bool,
        option("--partial-epoch", "Accept a last epoch with far fewer answers than the others."),
    ] = False
    synthetic: Annotated[
        int | None,
        whole_option("--synthetic", "Simulate N epochs; DATA is the crowd of the first."),
    ] = None
    join: Annotated[
        float | None, option("--join", "Probability of joining between epochs.", "R")
    ] = None
    leave: Annotated[
        float | None, option("--leave", "Probability of leaving between epochs.", "R")
    ] = None
    change: Annotated[
        float | None, option("--change", "Probability that a value is drawn again.", "R")
    ] = None

    def check(self, columns: Sequence[str]) -> None:
        """Raise ParameterError unless the epochs are either in the data or simulated.

        ``columns`` are the options that the user set and that describe epochs in the data;
        ``--epoch-column`` is the first of them.
        """
        invented = self.synthetic is not None
        given = (
            [*columns, *list_used_flags(self, "partial_epoch")]
            if invented
            else list_used_flags(self)
        )
        if not invented and columns[:1] == ["--epoch-column"]:
            given = list_used_flags(self, "join", "leave", "change")
            if not given:
                return
        elif invented and not given:
            return
        raise ParameterError(
            "epochs",
            expected="only --epoch-column (with --epoch-order), or only --synthetic (with "
            "--join, --leave, --change)",
            got=", ".join([*given, *(["--synthetic"] if invented else [])]) or "neither",
            do="give --epoch-column to read epochs from the data, or --synthetic to simulate them",
        )

    def invent(
        self, first: Population, epochs: int, chance: Chance, *, counts_only: bool
    ) -> Timeline | EpochCounts:
        """Simulate further epochs of the crowd ``first``; return the timeline or its counts.

        With ``counts_only`` only counts are kept, where the question allows this. Raises the errors
        of ``simulate_turnover``.
        """
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
    """The guarantee for all epochs together, the budget, and the turnover."""

    promise: Promise
    budget: BudgetOptions
    turnover: TurnoverOptions
    counts_only: CountsOnly = False


def check_given_plan(
    plan: Plan, options: EpochsOptions, flags: Sequence[str], subject: str
) -> None:
    """Check a plan that a user has chosen for a series of epochs, and the options next to it.

    Parameters
    ----------
    plan : Plan
        The plan of each epoch; its question must have a list of values.
    options : EpochsOptions
        The options of the series; those of the budget must have their defaults.
    flags : sequence of str
        The names of other options that the user set although the plan fixes them.
    subject : str
        The word for the plan in messages: "plan" or "contract".

    Raises
    ------
    ParameterError
        If an option is given that the plan fixes.
    PlanError
        If the question of the plan is open.
    """
    refuse_extra_flags([*flags, *list_used_flags(options.budget)])
    if plan.question.hashed is not None:
        raise PlanError(
            subject,
            expected="a question with a list of values",
            got="an open question",
            do="count words with `mixtally simulate --candidates`",
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
    """Simulate every epoch of a timeline; one guarantee covers all epochs together.

    Parameters
    ----------
    options : EpochsOptions
        The guarantee for all epochs, the budget and the turnover.
    timeline : Timeline or EpochCounts
        The answers of people in each epoch, or only their counts.
    run : Run
        The settings of the simulation. Its ``source`` is appended to "N answers in M epochs".
    given : GivenPlan or None
        The plan of every epoch; None to plan for the smallest crowd.
    scale : Range or None
        The bins of numbers, or the points to which they are rounded; None for other values.
    order : sequence of str or None
        Names of all epochs in order; None if they are times or numbers.
    change : Change or None
        Updates the ledger to which every epoch is charged before its messages are drawn. None for
        no ledger.

    Raises
    ------
    DataError
        If the last epoch is incomplete, or labels from the data probably identify people.
    InfeasibleError
        If no plan meets the request, or the ledger does not allow all epochs.
    PlanError
        If the plan is for other people or fewer epochs, or an epoch was charged before.
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
        provenance=Provenance(
            title=f"{timeline.question.name} over time, counted privately",
            source=f"{timeline.answers:,} answers in {len(timeline.epochs):,} epochs{run.source}",
            raw=timeline.note,
            reason=given.reason,
            seed=run.seed,
            ordered=LABELS not in timeline.from_data,
        ),
        before_epoch=before or ignore_progress,
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
    """Return a function that charges the epoch of a given name to the ledger.

    Raises InfeasibleError or PlanError if the ledger does not allow all ``epochs``.
    """

    def unchanged(ledger: Ledger) -> Ledger:
        check_series(ledger, plan, epochs, order, accountant)
        return ledger

    def charge(epoch: str) -> None:
        today = date.today().isoformat()
        change(lambda old: charge_epoch(old, plan, epoch, accountant, date=today, order=order))

    # All epochs are checked before the first one is charged, because a charge cannot be undone.
    change(unchanged)
    return charge


def _check_labels(timeline: Timeline | EpochCounts) -> None:
    """Raise DataError if labels that were taken from the data probably identify people."""
    if timeline.from_data:
        most = timeline.truth.max(axis=0)  # one person may give an answer in every epoch
        check_shared(timeline.question, most, timeline.from_data)


_FEWEST = 3
"""Smallest number of epochs for which the last one is compared with the others."""


def _check_complete(timeline: Timeline | EpochCounts) -> None:
    """Check that the data do not end in the middle of an epoch.

    A plan is made for the smallest crowd, so a truncated file would cost accuracy in every epoch.

    Raises
    ------
    DataError
        If the last of three or more epochs has fewer than half the answers of each other epoch.
    """
    users = timeline.users.tolist()
    if len(users) < _FEWEST or 2 * users[-1] >= min(users[:-1]):
        return
    raise DataError(
        f"epoch {timeline.epochs[-1]!r}",
        expected=f"about as many answers as in the other epochs, {min(users[:-1]):,} or more",
        got=f"{users[-1]:,}, which suggests a truncated file",
        do="read the whole file, leave that epoch out, or add --partial-epoch if it is complete",
    )


def _plan_epochs(
    timeline: Timeline | EpochCounts,
    guarantee: Guarantee,
    budget: BudgetOptions,
    planner: Planner,
    scale: Range | None,
) -> GivenPlan:
    """Return the plan with the smallest error for the smallest crowd of all epochs.

    The guarantee is for all epochs together.
    """
    every = len(timeline.epochs)
    asked = every if budget.collections == 1 else budget.collections
    if asked < every:
        raise ParameterError(
            "collections",
            expected=f"at least the {every:,} epochs of the data",
            got=f"{asked:,}",
            do="leave --collections out, or include all epochs of the data and later ones",
        )
    # A guarantee that is proved for the smallest crowd is also true for larger ones.
    budget, users = replace(budget, collections=asked), int(timeline.users.min())
    request = plan_request(
        budget,
        timeline.question,
        guarantee,
        users,
        scale=scale,
        planner=planner,
    )
    return GivenPlan(*plan_whole_records(request, planner))
