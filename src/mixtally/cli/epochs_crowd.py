"""Where the epochs of a collection come from: columns of the data, or an invented turnover."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mixtally.cli import options as o

if TYPE_CHECKING:
    from mixtally.data.cells import Progress
    from mixtally.data.reading import Reading
    from mixtally.data.timeline import Timeline
    from mixtally.ground.chance import Chance
    from mixtally.records.plan import Plan

CROWD: dict[str, tuple[Any, Any]] = {
    "epoch_column": (
        Annotated[
            str | None,
            typer.Option("--epoch-column", help="The column that says when.", metavar="NAME"),
        ],
        None,
    ),
    "person_column": (
        Annotated[
            str | None,
            typer.Option("--person-column", help="The column that says who.", metavar="NAME"),
        ],
        None,
    ),
    "epoch_order": (
        Annotated[
            Path | None,
            typer.Option("--epoch-order", help="File with the epochs in order, one a line."),
        ],
        None,
    ),
    "synthetic": (
        Annotated[
            int | None,
            o.whole_option("--synthetic", "Invent so many epochs; DATA is the crowd of the first."),
        ],
        None,
    ),
    "join": (
        Annotated[
            float | None,
            typer.Option("--join", help="Chance to join from epoch to epoch.", metavar="R"),
        ],
        None,
    ),
    "leave": (
        Annotated[
            float | None,
            typer.Option("--leave", help="Chance to leave from epoch to epoch.", metavar="R"),
        ],
        None,
    ),
    "change": (
        Annotated[
            float | None,
            typer.Option("--change", help="Chance that a value is drawn anew.", metavar="R"),
        ],
        None,
    ),
}
"""Where the epochs come from: columns of the data, or an invented turnover (0.1 each)."""
_RATE = 0.1


def timeline_of(
    data: Path,
    reading: "Reading",
    held: "Plan | None",
    crowd: dict[str, Any],
    chance: "Chance",
    progress: "Progress",
) -> "Timeline":
    """The epochs in the data, or invented ones, asked what the plan asks that is held, if any.

    Raises ParameterError for options of both kinds or of neither.
    """
    from mixtally.data.readers import read
    from mixtally.data.timeline import by_epoch
    from mixtally.data.turnover import turnover
    from mixtally.errors import ParameterError

    rates = {name: crowd[name] for name in ("join", "leave", "change")}
    columns = {name: crowd[name] for name in ("epoch_column", "person_column", "epoch_order")}
    synthetic = crowd["synthetic"] is not None
    refused = columns if synthetic else rates
    beside = ["--" + name.replace("_", "-") for name, value in refused.items() if value is not None]
    if beside or synthetic == (crowd["epoch_column"] is not None):
        raise ParameterError(
            "epochs",
            wanted="--epoch-column (with --person-column, --epoch-order), or --synthetic (with "
            "--join, --leave, --change)",
            got=", ".join([*beside, "--synthetic" if synthetic else "no --synthetic"]),
            do="name the column that says when, or how many epochs to invent",
        )
    answers = read(data, reading, None if held is None else held.question, progress)
    if synthetic:
        chances = {name: _RATE if rate is None else rate for name, rate in rates.items()}
        return turnover(answers, crowd["synthetic"], **chances, chance=chance)
    return by_epoch(
        answers,
        data,
        crowd["epoch_column"],
        person_column=crowd["person_column"],
        order=o.read_labels(crowd["epoch_order"]),
        progress=progress,
    )


def source_of(data: Path, timeline: "Timeline", crowd: dict[str, Any]) -> str:
    """What was played, in a sentence."""
    answers = f"{len(timeline.codes):,} answers in {len(timeline.epochs):,} epochs"
    if crowd["synthetic"] is not None:
        told = f"{answers}, invented: {data.name} is the crowd of the first."
    else:
        told = f"{answers}, the rows of {data.name}."
    return f"{told} {timeline.note}".rstrip()
