"""``mixtally simulate epochs``: ask again and again; counts, changes, and what everybody spends."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from mixtally.accounting.accountant import Accountant
from mixtally.app.budget import ledger_at, write_ledger
from mixtally.app.epochs import check_labels, plan_of
from mixtally.app.epochs import epochs as played
from mixtally.app.limits import BudgetOptions
from mixtally.app.options import flags
from mixtally.app.plans import refuse_beside
from mixtally.cli import options as o
from mixtally.cli.epochs_crowd import CrowdOptions, source_of, timeline_of
from mixtally.cli.grouped import grouped
from mixtally.cli.labels import read_labels
from mixtally.cli.plan_files import given_reason, read_plan
from mixtally.cli.progress import progress_bars
from mixtally.cli.reading import ReadingOptions, reading_as, reading_of
from mixtally.cli.screen import show, warn
from mixtally.errors import PlanError
from mixtally.lab.data.epoch_counts import EpochCounts
from mixtally.lab.data.reading import Reading
from mixtally.lab.data.timeline import Timeline
from mixtally.lab.simulation.epoch_ledger import charge_epoch, checked_series
from mixtally.lab.simulation.lab import Lab
from mixtally.model.contract import Plan
from mixtally.primitives.files import the_file
from mixtally.primitives.lock import alone
from mixtally.primitives.progress import quiet
from mixtally.protocol.estimate.analysis import Analysis


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesOptions:
    """What holds for all epochs together."""

    promise: o.Promise
    plan: Annotated[
        Path | None, o.option("--plan", "A plan from `mixtally plan --out`, or a contract.", "FILE")
    ] = None
    ledger: Annotated[
        Path | None,
        o.option("--ledger", "Charge every epoch to this ledger before it is sent.", "FILE"),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochsRun(o.RunOptions):
    """How the epochs are played and shown."""

    out: Annotated[Path | None, o.folder_option("Write report.html, .json and two .csv here.")] = (
        None
    )
    top: Annotated[int, typer.Option("--top", min=1, help="Bins in the table.", metavar="N")] = 3
    counts_only: o.CountsOnly = False


@grouped
def epochs(
    data: Annotated[Path, typer.Argument(help=o.DATA)],
    series: SeriesOptions,
    run: EpochsRun,
    options: ReadingOptions,
    budget: BudgetOptions,
    crowd: CrowdOptions,
) -> None:
    """Repeat a question over time.

    Every row of DATA is an answer in an epoch. All epochs together keep the guarantee. With
    --counts-only tallies are drawn in place of messages.
    """
    guarantee, lab = series.promise.guarantee(), Lab(o.chance(run.seed))
    held = None if series.plan is None else _held(series.plan, options, budget)
    file, reading = options.rows.at(data), _reading(options, held)
    with progress_bars() as progress:
        timeline = timeline_of(
            file, reading, held, crowd, lab.chance, progress, counts_only=run.counts_only
        )
    warn(timeline.warning)
    check_labels(timeline)
    if series.plan is not None and held is not None:
        chosen, reason = held, given_reason(series.plan)
    else:
        chosen, reason = plan_of(timeline, guarantee, budget, lab.planner, scale=reading.scale)
    order, accountant = read_labels(crowd.epoch_order), lab.planner.accountant
    with progress_bars() as progress:
        outcome = played(
            timeline,
            guarantee,
            (chosen, reason),
            Analysis(level=run.level),
            run.of(replace(lab, progress=progress), source_of(file, timeline, crowd)),
            before=_charging(series.ledger, chosen, timeline, order, accountant),
            counts_only=run.counts_only,
        )
    show(outcome, run.out, json=run.json, out_format=run.out_format)


def _reading(options: ReadingOptions, held: Plan | None) -> Reading:
    return reading_of(options, planned=False) if held is None else reading_as(options, held)


def _held(plan: Path, options: ReadingOptions, budget: BudgetOptions) -> Plan:
    refuse_beside(flags(options, "labels") + flags(budget))
    held = read_plan(plan)
    if held.question.hashed is not None:
        raise PlanError(
            str(plan),
            wanted="bins of one value each",
            got="an open question",
            do="ask words with `mixtally simulate --candidates`",
        )
    return held


def _charging(
    ledger: Path | None,
    plan: Plan,
    timeline: Timeline | EpochCounts,
    order: tuple[str, ...] | None,
    accountant: Accountant,
) -> Callable[[str], None]:
    """What charges an epoch before it is sent; raises at once when all of them do not fit.

    where
      order   of all epochs, None where their names tell it

    Errors as ``simulate.epoch_ledger.checked_series``.
    """
    if ledger is None:
        return quiet
    place = the_file(ledger)
    with alone(place.parent, required=True):
        checked_series(ledger_at(place), plan, timeline.epochs, order, accountant)

    def charge(epoch: str) -> None:
        with alone(place.parent, required=True):
            before, today = ledger_at(place), date.today().isoformat()
            charged = charge_epoch(before, plan, epoch, accountant, date=today, order=order)
            write_ledger(place, charged)

    return charge
