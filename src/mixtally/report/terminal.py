"""A document on a terminal: its summary as tables and sentences.

The command line prints every outcome with this module.
"""

from rich.console import Group, RenderableType
from rich.text import Text as RichText

from mixtally.report.document import (
    Bullets,
    Cell,
    Document,
    Heading,
    Marked,
    Part,
    Table,
    Text,
    Tone,
)
from mixtally.report.folding import FoldingTable

_COLORS = {Tone.GOOD: "green", Tone.BAD: "yellow", Tone.DOUBTFUL: "yellow", Tone.SOFT: "dim"}


def opening_lines(document: Document) -> list[str]:
    """Return the first lines on a terminal: the promise and, for a simulation, a warning."""
    raw = "Simulation: true counts and errors are raw data. Do not publish them."
    return [*document.lines, *([raw] if document.simulation else [])]


def render_summary(document: Document) -> RenderableType:
    """Return the summary, ready for a console."""
    return Group(*[shown for part in document.summary() for shown in _part(part)])


def _part(part: Part) -> list[RenderableType]:
    match part:
        case Text(text, _, tone):
            return [RichText(text, style=_COLORS[tone] if tone else "")]
        case Heading(text):
            return [RichText(text, style="bold")]
        case Bullets(items):
            return [RichText("- ").append_text(_join_cells(item)) for item in items]
        case Table():
            return [render_table(part)] if part.rows else [RichText(part.without_rows())]
        case _:
            raise TypeError(f"expected tables and texts for a terminal, got {type(part).__name__}")


def render_table(table: Table) -> FoldingTable:
    """Return a table for a console; a wide one has no frame."""
    shown = FoldingTable(
        title=RichText(table.title) if table.title else None,
        title_justify="left",
        header_style="bold",
        show_edge=not table.wide,
        pad_edge=not table.wide,
        collapse_padding=table.wide,
    )
    for place, name in enumerate(table.columns):
        shown.add_column(
            RichText(name),
            justify="left" if table.is_left_aligned(place) else "right",
        )
    for row in table.rows:
        shown.add_row(*map(_cell, row))
    return shown


def _cell(cell: Cell) -> RichText:
    # Text objects keep rich from reading square brackets in texts of users as markup.
    if isinstance(cell, Marked):
        return RichText(cell.text, style=_COLORS[cell.tone])
    return RichText(cell)


def _join_cells(cells: tuple[Cell, ...]) -> RichText:
    return RichText("").join(_cell(cell) for cell in cells)
