"""``mixtally example``: invented data for trying the other commands."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from mixtally.cli import options as o
from mixtally.cli.option_groups import with_option_groups
from mixtally.cli.output import print_json, publish
from mixtally.errors import DataError, ParameterError, not_together
from mixtally.lab.data.example_data import example_files, survey

_NOBODY = "All people in this file are invented, so there is nothing to protect."

_FRUITS = "fruits.txt"


@with_option_groups
def example(
    file: Annotated[
        Path | None, typer.Argument(help="The CSV file to write.", show_default=False)
    ] = None,
    all_files: Annotated[
        Path | None,
        typer.Option("--all", help="Write every file that a page of docs/ reads into this folder."),
    ] = None,
    json: o.Json = False,
) -> None:
    """Write a small made-up survey.

    The file has 2,000 rows, one per person, for trying the other commands. The possible fruits are
    written next to it, in fruits.txt. An existing file with other content is never replaced.
    """
    do = "call `mixtally example survey.csv` or `mixtally example --all .`"
    if file is not None and all_files is not None:
        raise not_together("example", "a file", ["--all"], do)
    if file is all_files is None:
        raise ParameterError(
            "example", expected="a file, or a folder for all files", got="neither", do=do
        )
    if all_files is not None:
        _write_all(all_files, json)
    elif file is not None:
        _write_survey(file, json)


def _write_survey(file: Path, json: bool) -> None:
    content, labels = survey(), file.parent / _FRUITS
    contents = {file.name: content, _FRUITS: example_files()[_FRUITS]}
    _check_nothing_is_lost(file.parent, contents)
    publish(file.parent, contents)
    head, *rows = content.decode("ascii").splitlines()
    columns = head.split(",")
    if json:
        facts = {"file": str(file), "people": len(rows), "columns": columns}
        print_json({**facts, "labels": str(labels), "made_up": True})
        return
    typer.echo(f"{file}: {len(rows):,} people; columns {', '.join(columns)}")
    typer.echo(f"{labels}: the possible answers of the column fruit")
    typer.echo(_NOBODY)
    asked = f"{file} --column fruit --labels {labels} --epsilon 1 --delta 1e-6"
    typer.echo(f"Try: mixtally simulate {asked}")


def _write_all(folder: Path, json: bool) -> None:
    contents = example_files()
    _check_nothing_is_lost(folder, contents)
    publish(folder, contents)
    if json:
        print_json({"folder": str(folder), "files": [*contents], "made_up": True})
        return
    typer.echo(f"{folder}: {', '.join(contents)}")
    typer.echo(_NOBODY)


def _check_nothing_is_lost(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Raise DataError if one of the files already exists in ``folder`` with other content."""
    for name, content in contents.items():
        target = folder / name
        if not target.is_file():
            continue
        # The size is compared first, because an existing file may be very large.
        if target.stat().st_size == len(content) and target.read_bytes() == content:
            continue
        raise DataError(
            str(target),
            expected="the name of a new file",
            got="an existing file with other content",
            do="choose another name; nothing was written",
        )
