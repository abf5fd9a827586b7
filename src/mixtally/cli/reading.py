"""How the data of a simulation are read: options, declared once."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mixtally.cli import options as o

if TYPE_CHECKING:
    from mixtally.data.reading import As, Reading
    from mixtally.encode.numbers import Scale

DEFAULT_CUTS = 20

READING: dict[str, tuple[Any, Any]] = {
    "column": (
        Annotated[
            str | None, typer.Option("--column", help="The column to count.", metavar="NAME")
        ],
        None,
    ),
    "columns": (
        Annotated[
            str | None,
            typer.Option("--columns", help="Several columns of one record.", metavar="A,B,.."),
        ],
        None,
    ),
    "read_as": (
        Annotated[
            str | None,
            typer.Option(
                "--as", help="bits: no or yes each; attributes: one value each.", metavar="HOW"
            ),
        ],
        None,
    ),
    "separator": (
        Annotated[
            str | None,
            typer.Option("--set", help="Cells hold several labels, apart by SEP.", metavar="SEP"),
        ],
        None,
    ),
    "max_set": (
        Annotated[int | None, o.whole_option("--max-set", "Most labels of a set.")],
        None,
    ),
    "empty_sets": (
        Annotated[
            bool, typer.Option("--empty-sets", help="An empty cell is a set without labels.")
        ],
        False,
    ),
    "number": (
        Annotated[
            str | None,
            typer.Option(
                "--number", help="Numbers, moved into this range and cut into --bins.",
                metavar="LOW,HIGH",
            ),
        ],
        None,
    ),
    "bins": (
        Annotated[
            int | None, o.whole_option("--bins", f"Bins of a number ({DEFAULT_CUTS} if left out).")
        ],
        None,
    ),
    "labels": (o.Labels, None),
}  # fmt: skip


def reading_of(came: dict[str, Any], *, planned: bool) -> "Reading":
    """How to read the data; raises ParameterError for options that do not go together."""
    from mixtally.data.reading import Reading
    from mixtally.errors import ParameterError

    form = _form(came)
    labels: Path | None = came["labels"]
    _only(came, "max_set", form, "set")
    _only(came, "empty_sets", form, "set")
    _only(came, "bins", form, "number")
    if form == "number" and labels is not None:
        raise ParameterError(
            "--labels", wanted="--number alone", got="both", do="the bins are named by their ends"
        )
    if planned and came["max_set"] is not None:
        raise ParameterError("--max-set", wanted="--plan alone", got="both", do="the plan holds it")
    return Reading(
        columns=_columns(came),
        form=form,
        labels=o.read_labels(labels),
        separator=";" if came["separator"] is None else came["separator"],
        max_set=came["max_set"],
        empty_sets=came["empty_sets"],
        scale=_scale(came) if form == "number" else None,
    )


def _form(came: dict[str, Any]) -> "As":
    from mixtally.data.reading import As
    from mixtally.errors import ParameterError

    ways = {
        "--as": came["read_as"],
        "--set": came["separator"],
        "--number": came["number"],
    }
    used = [flag for flag, value in ways.items() if value is not None]
    if len(used) > 1:
        raise ParameterError(
            "data", wanted="one way to read them", got=" and ".join(used), do="choose one"
        )
    if came["read_as"] not in (None, "bits", "attributes"):
        raise ParameterError(
            "--as", wanted="bits or attributes", got=repr(came["read_as"]), do="choose one"
        )
    if not used:
        return As.ONE
    return {"--set": As.SET, "--number": As.NUMBER}.get(used[0]) or As(came["read_as"])


def _only(came: dict[str, Any], name: str, form: "As", wanted: str) -> None:
    from mixtally.errors import ParameterError

    if came[name] not in (None, False) and form != wanted:
        raise ParameterError(
            "--" + name.replace("_", "-"), wanted=f"--{wanted} beside it", got="none",
            do="leave it out",
        )  # fmt: skip


def _columns(came: dict[str, Any]) -> tuple[str, ...]:
    from mixtally.errors import ParameterError

    one, many = came["column"], came["columns"]
    if (one is None) == (many is None):
        raise ParameterError(
            "columns", wanted="--column or --columns", got="neither" if one is None else "both",
            do="name what is to be counted",
        )  # fmt: skip
    return (one,) if one is not None else tuple(many.split(","))


def _scale(came: dict[str, Any]) -> "Scale":
    from mixtally.encode.numbers import Scale
    from mixtally.errors import ParameterError

    try:
        low, high = (float(part) for part in came["number"].split(","))
    except ValueError:
        raise ParameterError(
            "number", wanted="two numbers, LOW,HIGH", got=repr(came["number"]),
            do="--number 0,100, for example",
        ) from None  # fmt: skip
    return Scale(low, high, DEFAULT_CUTS if came["bins"] is None else came["bins"])
