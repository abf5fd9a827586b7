"""``mixtally reproduce``: the founding documents, computed again."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mixtally.cli import options as o
from mixtally.cli.output import present, progress_bars

if TYPE_CHECKING:
    from rich.table import Table

    from mixtally.literature.reproduce import Reproduction

_COLORS = {"reproduces": "green", "differs": "yellow", "false": "red", "computed": "dim"}


def reproduce(
    out: Annotated[Path, typer.Option("--out", help="Where the report goes.")] = Path(
        "mixtally-reproduce"
    ),
    document: Annotated[
        str | None,
        typer.Option("--document", help="Only one: 000, 002, 003 or 004.", metavar="NUMBER"),
    ] = None,
    json: o.Json = False,
) -> None:
    """Compute the founding documents again.

    Every number, table, figure and claim beside what follows from it, and a verdict on every
    promise, held against the exact laws.
    """
    from mixtally.literature.reproduce import reproduce as compute
    from mixtally.literature.reproduce.page import page
    from mixtally.report.texts import json_text

    with progress_bars() as progress:
        found = compute(document, progress)
    facts = found.facts()
    counts = ", ".join(f"{count:,} {word}" for word, count in facts["words"].items())
    present(
        out,
        json=json,
        files=lambda: {"report.html": page(found), "report.json": json_text(facts)},
        facts=lambda: facts,
        table=lambda: _table(found),
        prose=[counts],
    )


def _table(found: "Reproduction") -> "Table":
    from rich.table import Table
    from rich.text import Text

    table = Table(show_edge=False, pad_edge=False)
    for name in ("document", "place", "what", "printed", "computed", "unit", "word"):
        right = name in ("printed", "computed")
        table.add_column(name, justify="right" if right else "left", no_wrap=name != "what")
    for one in found.findings:
        cells = (
            one.document, one.place, one.what, one.printed or "", one.computed_text(), one.unit,
        )  # fmt: skip
        table.add_row(*map(Text, cells), Text(one.word, style=_COLORS[one.word]))
    return table
