"""``mixtally reproduce``: the founding documents, computed again."""

from pathlib import Path
from typing import Annotated

from mixtally.cli import options as o
from mixtally.cli.screen import progress_bars, show
from mixtally.literature.reproduce import reproduce as compute
from mixtally.literature.reproduce.document import document as shown


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
    promise, held against the exact divergences.
    """
    with progress_bars() as progress:
        found = compute(document, progress)
    show(shown(found), out, json=json)
