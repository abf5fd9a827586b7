"""``mixtally example``: a small survey to try the other commands on."""

from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from mixtally.cli import options as o
from mixtally.cli.output import print_json, publish
from mixtally.errors import DataError

_NOBODY = "Nobody was asked: every person in it is made up, so there is nothing to protect."


def example(
    file: Annotated[Path, typer.Argument(help="The CSV file to be written.")],
    json: o.Json = False,
) -> None:
    """Write a small made-up survey.

    2,000 rows, one a person, to try the other commands on. A file that holds something else is
    never replaced.
    """
    survey = (files("mixtally.data") / "files" / "example_survey.csv").read_bytes()
    _check_nothing_is_lost(file, survey)
    publish(file.parent, {file.name: survey})
    head, *people = survey.decode("ascii").splitlines()
    columns = head.split(",")
    if json:
        print_json({"file": str(file), "people": len(people), "columns": columns, "made_up": True})
        return
    typer.echo(f"{file}: {len(people):,} people; columns {', '.join(columns)}")
    typer.echo(_NOBODY)
    typer.echo(f"Try: mixtally simulate {file} --column fruit --epsilon 1 --delta 1e-6")


def _check_nothing_is_lost(target: Path, survey: bytes) -> None:
    """Raises DataError when ``target`` is a file of somebody's own."""
    if not target.is_file():
        return
    if target.stat().st_size == len(survey) and target.read_bytes() == survey:
        return
    raise DataError(
        str(target),
        wanted="the name of a new file",
        got="one that holds something else",
        do="choose another name; nothing was written",
    )
