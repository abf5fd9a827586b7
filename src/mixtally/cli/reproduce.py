"""``mixtally reproduce``: the founding documents, computed again."""

from pathlib import Path
from typing import Annotated

from rich.console import Group
from rich.constrain import Constrain
from rich.table import Table
from rich.text import Text

from mixtally.cli import options as o
from mixtally.cli.screen import present, progress_bars
from mixtally.literature.reproduce import DOCUMENTS, Reproduction
from mixtally.literature.reproduce import reproduce as compute
from mixtally.literature.reproduce.page import page
from mixtally.report.texts import json_text

_WIDEST = 120
_COLORS = {"reproduces": "green", "differs": "yellow", "false": "red", "computed": "dim"}


def reproduce(
    out: Annotated[Path, o.folder_option("Where the report goes.")] = Path("mixtally-reproduce"),
    document: Annotated[
        str | None,
        o.option("--document", "Only one: 000, 001, 002, 003 (brings 001) or 004.", "NUMBER"),
    ] = None,
    json: o.Json = False,
) -> None:
    """Compute the founding documents again.

    Every number, table, figure and claim beside what follows from it, and a verdict on every
    promise, held against the exact laws.
    """
    with progress_bars() as progress:
        found = compute(document, progress)
    facts = found.facts()
    counts = ", ".join(f"{count:,} {word}" for word, count in facts["words"].items())
    present(
        out,
        json=json,
        files=lambda: {"report.html": page(found), "report.json": json_text(facts)},
        facts=lambda: facts,
        table=lambda: _tables(found),
        prose=[counts],
    )


def _tables(found: Reproduction) -> Group:
    """A table a document; on 80 columns what does not fit goes on in the next line."""
    parts: list[Text | Constrain] = []
    for name in dict.fromkeys(one.document for one in found.findings):
        table = Table(show_edge=False, pad_edge=False, expand=True)
        table.add_column("place", ratio=12)
        table.add_column("what", ratio=26)
        table.add_column("printed", justify="right", no_wrap=True)
        table.add_column("computed", justify="right", ratio=13)
        table.add_column("word", no_wrap=True)
        for one in found.findings:
            if one.document == name:
                computed = f"{one.computed_text()} {one.unit}".strip()
                cells = (one.place, one.what, one.printed or "", computed)
                table.add_row(*map(Text, cells), Text(one.word, style=_COLORS[one.word]))
        parts += [
            Text(f"{name}: {DOCUMENTS[name]}", style="bold"),
            Constrain(table, _WIDEST),
            Text(""),
        ]
    return Group(*parts)
