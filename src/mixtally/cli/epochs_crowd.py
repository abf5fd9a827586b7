"""Where the epochs of a collection come from: columns of the data, or an invented turnover."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from mixtally.app.epochs import check_complete
from mixtally.app.options import flags
from mixtally.cli import options as o
from mixtally.cli.labels import read_labels
from mixtally.errors import ParameterError
from mixtally.lab.data.epoch_counts import EpochCounts
from mixtally.lab.data.file import DataFile
from mixtally.lab.data.readers import read, read_epoch_counts, read_epochs
from mixtally.lab.data.reading import Reading
from mixtally.lab.data.timeline import Timeline, When
from mixtally.lab.data.turnover import turnover, turnover_counts
from mixtally.model.contract import Plan
from mixtally.primitives.chance import Chance
from mixtally.primitives.progress import Progress

_RATE = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class CrowdOptions:
    """Where the epochs come from: columns of the data, or an invented turnover (0.1 each)."""

    epoch_column: Annotated[
        str | None, o.option("--epoch-column", "The column that says when.", "NAME")
    ] = None
    epoch_order: Annotated[
        Path | None, o.option("--epoch-order", "File with the epochs in order, one a line.")
    ] = None
    partial_epoch: Annotated[
        bool,
        o.option("--partial-epoch", "Count a last epoch that has far fewer answers than others."),
    ] = False
    synthetic: Annotated[
        int | None,
        o.whole_option("--synthetic", "Invent so many epochs; DATA is the crowd of the first."),
    ] = None
    join: Annotated[
        float | None, o.option("--join", "Chance to join from epoch to epoch.", "R")
    ] = None
    leave: Annotated[
        float | None, o.option("--leave", "Chance to leave from epoch to epoch.", "R")
    ] = None
    change: Annotated[
        float | None, o.option("--change", "Chance that a value is drawn anew.", "R")
    ] = None


def timeline_of(
    file: DataFile,
    reading: Reading,
    held: Plan | None,
    crowd: CrowdOptions,
    chance: Chance,
    progress: Progress,
    *,
    counts_only: bool = False,
) -> Timeline | EpochCounts:
    """The epochs in the data, or invented ones, asked what the plan asks that is held, if any.

    With ``counts_only`` the counts of each epoch are kept where they are all that is needed.

    Raises ParameterError for options of both kinds or of neither.
    """
    way = _way(crowd)
    question = None if held is None else held.question
    if isinstance(way, str):
        when = When(way, read_labels(crowd.epoch_order))
        read_them = read_epoch_counts if counts_only else read_epochs
        timeline = read_them(file, reading, when, question, progress)
        if not crowd.partial_epoch:
            check_complete(timeline)
        return timeline
    invented = turnover_counts if counts_only else turnover
    return invented(
        read(file, reading, question, progress),
        way,
        join=_RATE if crowd.join is None else crowd.join,
        leave=_RATE if crowd.leave is None else crowd.leave,
        change=_RATE if crowd.change is None else crowd.change,
        chance=chance,
    )


def _way(crowd: CrowdOptions) -> int | str:
    """How many epochs to invent, or the column that says when."""
    columns, rates = ("epoch_column", "epoch_order", "partial_epoch"), ("join", "leave", "change")
    column, invented = crowd.epoch_column, crowd.synthetic
    beside = flags(crowd, *(rates if invented is None else columns))
    if invented is not None and not beside:
        return invented
    if invented is None and column is not None and not beside:
        return column
    raise ParameterError(
        "epochs",
        wanted="--epoch-column (with --epoch-order), or --synthetic (with "
        "--join, --leave, --change)",
        got=", ".join([*beside, "no --synthetic" if invented is None else "--synthetic"]),
        do="name the column that says when, or how many epochs to invent",
    )


def source_of(file: DataFile, timeline: Timeline | EpochCounts, crowd: CrowdOptions) -> str:
    """What was played, in a sentence."""
    answers = f"{timeline.answers:,} answers in {len(timeline.epochs):,} epochs"
    if crowd.synthetic is not None:
        return f"{answers}, invented: {file.name} is the crowd of the first."
    return f"{answers}, the rows of {file.name}."
