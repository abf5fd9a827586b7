"""A document as one HTML file that opens offline: no scripts, fonts or address of anything else."""

from collections.abc import Mapping, Sequence
from typing import Any

from mixtally.report.axes import swatch
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
        el("ul", *[el("li", line) for line in document.lines], class_="promise"),
        el("p", document.source, class_="source"),
        *_key(document.key),
        *_parts(document.opening, document.title),
        *map(_section, sections),
        _footer(document),
        class_="wide" if wide else "usual",
    )
    return f"{head}{body}</body></html>\n"


def _footer(document: Document) -> Markup:
    version = ", ".join(filter(None, (f"mixtally {VERSION}", document.closing)))
    made = [el("p", "Made by ", el("code", document.made_by))] if document.made_by else []
    return el("footer", *made, el("p", version))


def _key(figures: Sequence[tuple[str, str]]) -> list[Markup]:
    if not figures:
        return []
    pairs = [el("div", el("dt", name), el("dd", value)) for name, value in figures]
    return [el("dl", *pairs, class_="figures")]


def _section(section: Section) -> Markup:
    return el("section", el("h2", section.title), *_parts(section.parts, section.title))


def _parts(parts: Sequence[Part], title: str) -> list[Markup]:
    """``parts`` below ``title``, which names what has no name of its own."""
    made = []
    for part in parts:
        title = part.text if isinstance(part, Heading) else title
        made.append(_part(part, title))
    return made


def _part(part: Part, title: str) -> Markup:
    match part:
        case Text(text, note, tone):
            look = " ".join(filter(None, ("note" if note else "", tone or "")))
            return el("p", text, class_=look) if look else el("p", text)
        case Bullets(items):
            return el("ul", *[el("li", *map(_marked, item)) for item in items])
        case Table():
            name = part.title or title
            table = _scroll(name, _table(part, name, seen=not part.folded and name != title))
            return el("details", el("summary", name), table) if part.folded else table
        case FactTable(columns):
            return _scroll(title, _facts(columns, title))
        case Picture():
            return _figure(part, part.title or title)
        case Heading(text):
            return el("h3", text)


def _scroll(name: str, inner: Markup, look: str = "scroll") -> Markup:
    """What may be wider than the page; keys reach it, so that they can move it."""
    return el("div", inner, class_=look, tabindex=0, role="group", aria_label=name)


def _figure(picture: Picture, name: str) -> Markup:
    marks = [el("li", swatch(kind), el("span", text)) for kind, text in picture.marks]
    told = [el("ul", *marks, class_="key")] if marks else []
    if picture.reading:
        told.append(el("p", el("strong", "How to read this: "), picture.reading, class_="note"))
    below = [el("figcaption", *told)] if told else []
    return el("figure", _scroll(name, picture.markup, "scroll chart"), *below)


def _table(table: Table, name: str, *, seen: bool) -> Markup:
    places = range(len(table.columns))
    look = ["" if table.left(place) else "number" for place in places]
    head = [_head(text, "col", c) for text, c in zip(table.columns, look, strict=True)]
    lines = [
        el("tr", _head(row[0], "row", ""), *map(_cell, row[1:], look[1:])) for row in table.rows
    ]
    kind = "wide" if table.wide else "rows"
    parts = (_caption(name, seen=seen), el("thead", el("tr", *head)), el("tbody", *lines))
    return el("table", *parts, class_=kind)


def _caption(name: str, *, seen: bool) -> Markup:
    """The name of a table; one that stands above it already is for those who hear the page."""
    return el("caption", name) if seen else el("caption", name, class_="unseen")


def _head(text: Cell, scope: str, look: str) -> Markup:
    """The name of a column or a row; a corner without one is no name."""
    if not text:
        return el("td", "")
    return el("th", _marked(text), scope=scope, **({"class_": look} if look else {}))


def _cell(text: Cell, look: str) -> Markup:
    return el("td", _marked(text), class_=look) if look else el("td", _marked(text))


def _marked(cell: Cell) -> str | Markup:
    return el("span", cell.text, class_=cell.tone) if isinstance(cell, Marked) else cell


def _facts(columns: tuple[Mapping[str, Any], ...], name: str) -> Markup:
    names = dict.fromkeys(name for facts in columns for name in facts if name not in _IN_WORDS)
    rows = [
        el(
            "tr",
            el("th", key.replace("_", " "), scope="row"),
            *[el("td", fact(key, facts.get(key, ""))) for facts in columns],
        )
        for key in names
    ]
    return el("table", _caption(name, seen=False), *rows, class_="plan")
