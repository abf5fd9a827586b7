"""Display of a simulated or counted crowd: tables, sentences, warnings and files.

Commands that return an ``Outcome`` call ``show``; all commands take their console and tables from
here.
"""

import os
import shlex
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path, PurePath

from rich.console import Console

from mixtally.app.outcome import Outcome
from mixtally.cli.common import is_quiet
from mixtally.cli.output import print_json, publish_result, show_elapsed_time
from mixtally.report.folding import FoldingTable
from mixtally.report.terminal import opening_lines, render_summary
from mixtally.report.texts import FormatName, whole_facts

SEEDED = (
    "Do not publish these files: the noise follows from the public seed, so only simulation/ was "
    "written. Leave --seed out to get a result that may be published."
)
FROM_DATA = (
    "Do not publish these files: labels read from the data may identify a person, so only "
    "simulation/ was written. To publish, give the options that the second line names."
)

_FULL_WIDTH = 10**5
"""The width in characters that is assumed for a pipe, so that no line is folded or wrapped."""


def console_of(*, stderr: bool = False) -> Console:
    """Return a console that prints texts unchanged; ``:tea:``, for example, stays as it is.

    In a pipe or a file, tables and sentences have their full width, unless the variable COLUMNS
    limits it. By default, rich would wrap cells at 80 columns there, and programs could not read
    them.
    """
    console = Console(emoji=False, highlight=False, stderr=stderr)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _FULL_WIDTH
    return console


def table_of(title: str | None, texts: Iterable[str], numbers: Iterable[str]) -> FoldingTable:
    """Return a table without rows; ``texts`` and ``numbers`` are the names of its columns.

    Columns of texts come first and are aligned left, columns of numbers are aligned right.
    """
    table = FoldingTable(title=title, title_justify="left", header_style="bold")
    for name in texts:
        table.add_column(name)
    for name in numbers:
        table.add_column(name, justify="right")
    return table


def show(
    outcome: Outcome,
    out: Path | None,
    *,
    json: bool,
    out_format: FormatName = "csv",
    also_written: Iterable[str] = (),
) -> None:
    """Write the files of an outcome into ``out`` unless it is None; print its JSON or its summary.

    ``out_format`` is the format of the tables. ``also_written`` has the paths of files that the
    caller wrote; the summary names them after the files in ``out``.
    """
    document = outcome.shown_document
    made_by = document.made_by or format_command(sys.argv[1:])
    outcome = replace(outcome, document=replace(outcome.document, made_by=made_by))
    written: list[Path] = []
    if out is not None:
        with show_elapsed_time("writing files"):
            written = publish_result(out, outcome.files(out_format))
    if json:
        print_json(whole_facts(document))
        return
    console = console_of()
    print_sentences(console, opening_lines(document))
    console.print(render_summary(document))
    print_sentences(console, document.prose)
    if out is not None and not outcome.is_public:
        print_sentences(console, [FROM_DATA if outcome.from_data else SEEDED])
    for path in (*written, *also_written):
        # Markup is off, because a path may contain square brackets.
        console.print(f"wrote {path}", markup=False, highlight=False, soft_wrap=True)


def format_command(arguments: Iterable[str]) -> str:
    """Return the command line that a user would type for these ``arguments``, without ``--out``.

    An absolute path is reduced to the name of the file, because the names of the folders above it
    can be names of people.
    """
    words = list(arguments)
    kept = [
        _strip_folders(word)
        for before, word in zip(["", *words], words, strict=False)
        if "--out" not in (before, word) and not word.startswith("--out=")
    ]
    return shlex.join(["mixtally", *kept])


def _strip_folders(word: str) -> str:
    option, equals, value = word.partition("=") if word.startswith("--") else ("", "", word)
    return f"{option}{equals}{PurePath(value).name if PurePath(value).is_absolute() else value}"


def warn(text: str) -> None:
    """Print a warning on standard error, unless the text is empty."""
    if text:
        sys.stderr.write(f"mixtally: warning: {text}\n")


def note(text: str) -> None:
    """Print a remark about work in progress on standard error, unless --quiet is given."""
    if not is_quiet():
        sys.stderr.write(f"mixtally: {text}\n")


def print_sentences(console: Console, lines: Iterable[str]) -> None:
    """Print sentences, each on its own line; on a terminal they are wrapped to its width."""
    for line in lines:
        # A pipe gets one line per sentence, because rich would wrap it at a fixed width.
        console.print(line, markup=False, highlight=False, soft_wrap=not console.is_terminal)
