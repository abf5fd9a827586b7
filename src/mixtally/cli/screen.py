"""What is seen while a crowd is played, and of what came of it: bars, tables, JSON, files."""

import shlex
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TypeVar

from rich.console import Console

from mixtally.cli.output import print_json, publish_result
from mixtally.report.document import REHEARSAL, Document
from mixtally.report.terminal import opening, printed
from mixtally.report.texts import files, whole_facts

Made = TypeVar("Made", str, bytes)
SEEDED = (
    "Nothing here may be published: the noise of a seed is public, so that only a rehearsal was "
    "written. Leave --seed out for a result."
)
FROM_DATA = (
    "Nothing here may be published: what was read from the data may be one person's alone, so that "
    "only a rehearsal was written. Give what the second line says for a result."
)


def console_of(*, stderr: bool = False) -> Console:
    """A terminal that prints texts as they are: what stands between colons is no picture."""
    return Console(emoji=False, highlight=False, stderr=stderr)


def show(
    document: Document,
    out: Path | None,
    *,
    json: bool,
    from_data: tuple[str, ...] | None = None,
    released: Document | None = None,
    more: Mapping[str, bytes] | None = None,
    beside: Iterable[str] = (),
) -> None:
    """Write the files of a document into ``out`` if any, and print it as JSON or as its summary.

    What was asked has to be fixed before anybody answers: where some of it was read off the data,
    whatever is written goes into the folder of the rehearsal.

    where
      from_data  what of the question was read off the data, as ``Population`` has it; None where
                 no data were played
      released   what may be published of a rehearsal, whose own files go into a folder apart; None
                 where nothing may
      more       further files of the result, without raw counts
      beside     other files that were written, named last

    Raises TypeError for a release that follows from the truth, and for data that were played
    without a word of what was read off them.
    """
    if document.rehearsal and from_data is None:
        raise TypeError("what was read off the data is not said")
    if released is not None and released.rehearsal:
        raise TypeError("a rehearsal is no release")
    made_by = document.made_by or command(sys.argv[1:])
    document = replace(document, made_by=made_by, from_data=from_data or ())
    made, beside_made = files(document), dict(more or {})
    if document.rehearsal or from_data:
        made = _rehearsed(made)
    public = files(replace(released, made_by=made_by)) if released and not from_data else {}
    if from_data:
        beside_made = _rehearsed(beside_made)
    written = [] if out is None else publish_result(out, {**public, **made, **beside_made})
    if json:
        print_json(whole_facts(document))
        return
    console = console_of()
    say(console, opening(document))
    console.print(printed(document))
    say(console, document.prose)
    if out is not None and (from_data or (document.rehearsal and released is None)):
        say(console, [FROM_DATA if from_data else SEEDED])
    for path in (*written, *beside):
        console.print(f"wrote {path}", markup=False, highlight=False, soft_wrap=True)


def _rehearsed(made: Mapping[str, Made]) -> dict[str, Made]:
    """Files in the folder of the rehearsal, those that are there already as they are."""
    start = f"{REHEARSAL}/"
    return {start + name.removeprefix(start): text for name, text in made.items()}


def command(arguments: Iterable[str]) -> str:
    """The command as it is typed, wherever its files go.

    Of an absolute path the name alone, as folders name people.
    """
    words = list(arguments)
    kept = [
        _named(word)
        for before, word in zip(["", *words], words, strict=False)
        if "--out" not in (before, word) and not word.startswith("--out=")
    ]
    return shlex.join(["mixtally", *kept])


def _named(word: str) -> str:
    option, equals, value = word.partition("=") if word.startswith("--") else ("", "", word)
    return f"{option}{equals}{PurePath(value).name if PurePath(value).is_absolute() else value}"


def warn(text: str) -> None:
    """Say ``text`` on standard error, if there is any: a word of warning, the work goes on."""
    if text:
        sys.stderr.write(f"mixtally: warning: {text}\n")


def say(console: Console, lines: Iterable[str]) -> None:
    """Sentences, one below the other; whole where no terminal has a width for them."""
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=not console.is_terminal)
