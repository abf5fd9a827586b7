"""``mixtally simulate words``: the most frequent words of a column, without a list of words."""

from pathlib import Path
from typing import Annotated

from mixtally.app.words import SearchOptions
from mixtally.app.words import words as found
from mixtally.cli import options as o
from mixtally.cli.option_groups import with_option_groups
from mixtally.cli.playing import play
from mixtally.cli.rows import RowOptions, read_crowd
from mixtally.lab.data.reading import Reading


@with_option_groups
def words(
    data: o.Data,
    column: Annotated[str, o.option("--column", "The column of words.", "NAME")],
    promise: o.Promise,
    options: SearchOptions,
    rows: RowOptions,
    seed: o.Seed = None,
    out: Annotated[
        Path | None, o.folder_option("Write report.html, .json and words.csv here.")
    ] = None,
    out_format: o.OutFormat = "csv",
    json: o.Json = False,
) -> None:
    """Find the most frequent words of a column.

    No list of words is needed: prefixes grow by one character a round as long as enough people have
    them. Every row of DATA is a person with one word.
    """
    promised, file = promise.guarantee(), rows.open_file(data)
    options.check()
    crowd = read_crowd(file, rows.add_to_reading(Reading(columns=(column,), words=True)))
    source = f"{crowd.users:,} rows of {file.name}, {crowd.people_per_row}."
    run = o.RunOptions(seed=seed, out=out, out_format=out_format, json=json)
    play(run, source, lambda made: found(crowd, promised, options, made))
