"""A document as one HTML file that opens offline: no scripts, fonts or address of anything else."""

from collections.abc import Mapping, Sequence
from typing import Any

from mixtally.report.document import (
    HOLDS_RAW,
    REHEARSAL,
    Bullets,
    Cell,
    Document,
    FactTable,
    Heading,
    Marked,
    Part,
    Picture,
    Section,
    Table,
    Text,
)
from mixtally.report.style import STYLE
from mixtally.report.svg import Markup, el
from mixtally.report.words import fact
from mixtally.version import VERSION

_MARK = f"<!-- {REHEARSAL}: {HOLDS_RAW} -->\n"
_RAW = (
    f"Rehearsal: {HOLDS_RAW}. It is for whoever has the data; what may be published stands beside "
    "it, without any of them."
)
_IN_WORDS = {"source", "assumption"}
"""Facts of a plan that a page tells in sentences."""


def page(document: Document) -> str:
    """The document as HTML text."""
    head = (
        f"{_MARK * document.rehearsal}"
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"{el('title', document.title)}<style>{STYLE}</style></head><body>"
    )
    sections = document.sections()
    wide = any(
        isinstance(part, Table) and part.wide
        for parts in (document.opening, *(section.parts for section in sections))
        for part in parts
    )
    body = el(
        "main",
        *([el("p", _RAW, class_="raw")] if document.rehearsal else []),
        el("h1", document.title),
        el("ul", *[el("li", line) for line in document.promise], class_="promise"),
        el("p", document.source, class_="source"),
        *_key(document.key),
        *map(_part, document.opening),
        *map(_section, sections),
        el("footer", el("p", ", ".join(filter(None, (f"mixtally {VERSION}", document.closing))))),
        class_="wide" if wide else "usual",
    )
    return f"{head}{body}</body></html>\n"


def _key(figures: Sequence[tuple[str, str]]) -> list[Markup]:
    if not figures:
        return []
    pairs = [el("div", el("dt", name), el("dd", value)) for name, value in figures]
    return [el("dl", *pairs, class_="figures")]


def _section(section: Section) -> Markup:
    return el("section", el("h2", section.title), *map(_part, section.parts))


def _part(part: Part) -> Markup:
    match part:
        case Text(text, note, tone):
            look = " ".join(filter(None, ("note" if note else "", tone or "")))
            return el("p", text, class_=look) if look else el("p", text)
        case Bullets(items):
            return el("ul", *[el("li", *map(_marked, item)) for item in items])
        case Table():
            table = el("div", _table(part), class_="scroll")
            return el("details", el("summary", part.title), table) if part.folded else table
        case FactTable(columns):
            return _facts(columns)
        case Picture(markup):
            return markup
        case Heading(text):
            return el("h3", text)


def _table(table: Table) -> Markup:
    places = range(len(table.columns))
    look = ["" if table.left(place) else "number" for place in places]
    head = el("tr", *[_cell("th", n, c) for n, c in zip(table.columns, look, strict=True)])
    lines = [
        el("tr", *[_cell("td", text, c) for text, c in zip(row, look, strict=True)])
        for row in table.rows
    ]
    kind = "wide" if table.wide else "rows"
    return el("table", el("thead", head), el("tbody", *lines), class_=kind)


def _cell(name: str, text: Cell, look: str) -> Markup:
    return el(name, _marked(text), class_=look) if look else el(name, _marked(text))


def _marked(cell: Cell) -> str | Markup:
    return el("span", cell.text, class_=cell.tone) if isinstance(cell, Marked) else cell


def _facts(columns: tuple[Mapping[str, Any], ...]) -> Markup:
    names = dict.fromkeys(name for facts in columns for name in facts if name not in _IN_WORDS)
    rows = [
        el(
            "tr",
            el("th", name.replace("_", " ")),
            *[el("td", fact(name, facts.get(name, ""))) for facts in columns],
        )
        for name in names
    ]
    return el("div", el("table", *rows, class_="plan"), class_="scroll")
