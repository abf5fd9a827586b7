"""``mixtally simulate epochs``: a question repeated over time, and its total privacy loss."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from mixtally.app.budget import ledger_updater
from mixtally.app.count import GivenPlan
from mixtally.app.epochs import EpochsOptions, check_given_plan
from mixtally.app.epochs import epochs as played
from mixtally.app.options import list_used_flags
from mixtally.cli import options as o
from mixtally.cli.display import show, warn
from mixtally.cli.labels import read_labels
from mixtally.cli.option_groups import with_option_groups
from mixtally.cli.plan_files import describe_given_plan, read_plan
from mixtally.cli.progress import progress_bars
from mixtally.cli.reading import ReadingOptions, make_planned_reading, make_reading
from mixtally.lab.data.epoch_counts import EpochCounts
from mixtally.lab.data.file import DataFile
from mixtally.lab.data.readers import read_epoch_counts, read_epochs
from mixtally.lab.data.readers import read_population as read_file
from mixtally.lab.data.reading import Reading
from mixtally.lab.data.timeline import EpochColumn, Timeline
from mixtally.lab.simulation.lab import Lab
from mixtally.model.question import Question
from mixtally.primitives.chance import Chance


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesOptions:
    """The plan, the ledger, and the column of epochs in the data."""

    plan: Annotated[
        Path | None, o.option("--plan", "A plan from `mixtally plan --out`, or a contract.", "FILE")
    ] = None
    ledger: Annotated[
        Path | None,
        o.option("--ledger", "Charge every epoch to this ledger before it is sent.", "FILE"),
    ] = None
    epoch_column: Annotated[
        str | None, o.option("--epoch-column", "The column of epochs.", "NAME")
    ] = None
    epoch_order: Annotated[
        Path | None, o.option("--epoch-order", "File with the epochs in order, one per line.")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochsRun(o.RunOptions):
    """How the epochs are simulated and shown."""

    out: Annotated[Path | None, o.folder_option("Write report.html, .json and two .csv here.")] = (
        None
    )
    top: Annotated[int, typer.Option("--top", min=1, help="Bins in the table.", metavar="N")] = 3


@with_option_groups
def epochs(
    data: Annotated[Path, typer.Argument(help=o.DATA)],
    options: EpochsOptions,
    series: SeriesOptions,
    run: EpochsRun,
    read: ReadingOptions,
) -> None:
    """Repeat a question over time.

    Every row of DATA is an answer in an epoch. One guarantee covers all epochs together. With
    --counts-only, tallies are drawn instead of messages.
    """
    options.promise.guarantee()  # raises for invalid numbers before any file is read
    lab, given = Lab(o.make_chance(run.seed)), None
    if series.plan is not None:
        given = GivenPlan(read_plan(series.plan), describe_given_plan(series.plan))
        check_given_plan(given.plan, options, list_used_flags(read, "labels"), str(series.plan))
    file, order = read.rows.open_file(data), read_labels(series.epoch_order)
    reading = (
        make_reading(read, planned=False)
        if given is None
        else make_planned_reading(read, given.plan)
    )
    options.turnover.check(list_used_flags(series, "epoch_column", "epoch_order"))
    question = None if given is None else given.plan.question
    timeline = _read_timeline(
        file, reading, question, options, series.epoch_column, order, lab.chance
    )
    # The warning is printed before the epochs are simulated, which may take minutes.
    warn(timeline.warning)
    source = f", the rows of {file.name}."
    if options.turnover.synthetic is not None:
        source = f", invented: {file.name} is the crowd of the first."
    with progress_bars() as progress:
        outcome = played(
            options,
            timeline,
            run.make_run(replace(lab, progress=progress), source),
            given,
            scale=reading.scale,
            order=order,
            change=None if series.ledger is None else ledger_updater(series.ledger),
        )
    show(outcome, run.out, json=run.json, out_format=run.out_format)


def _read_timeline(
    file: DataFile,
    reading: Reading,
    question: Question | None,
    options: EpochsOptions,
    column: str | None,
    order: tuple[str, ...] | None,
    chance: Chance,
) -> Timeline | EpochCounts:
    """Return the answers of each epoch, or with ``--counts-only`` their counts where possible.

    The epochs are read from ``column``, or simulated if the options state a number of epochs. If
    ``question`` is not None, it is the question of a plan, which the answers must fit.
    """
    only, invented = options.counts_only, options.turnover.synthetic
    with progress_bars() as progress:
        if invented is not None:
            first = read_file(file, reading, question, progress)
            return options.turnover.invent(first, invented, chance, counts_only=only)
        read_them = read_epoch_counts if only else read_epochs
        return read_them(file, reading, EpochColumn(column or "", order), question, progress)
