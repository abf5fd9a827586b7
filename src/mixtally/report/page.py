"""A document as one HTML file that works offline: no scripts, fonts or links to other places.

``texts`` writes this page for every result, and the collector serves it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from mixtally.report.axes import swatch
from mixtally.report.document import (
    HOLDS_RAW,
    SIMULATION,
    Bullets,
    Cell,
    Document,
    FactTable,
    Heading,
    Marked,
    Part,
    Picture,
    Table,
    Text,
)
from mixtally.report.style import STYLE
from mixtally.report.svg import Markup, el
from mixtally.report.words import format_fact
from mixtally.version import VERSION

_MARK = f"<!-- {SIMULATION}: {HOLDS_RAW} -->\n"
_RAW = (
    f"Simulation: this page {HOLDS_RAW}. Do not publish it. The files next to this folder contain "
    "no raw counts and may be published."
)
_KINDS = ((328.0, "few"), (668.0, "rows"), (1072.0, "wide"))
"""The pixels that a phone, a tablet and a desktop have for a table, and the class of such tables.

A screen that is too narrow for a table shows it as a list.
"""
_WIDE = '<table class="wide'
"""The first characters of a table that needs a broad page.

Texts from users cannot contain them, because quotes in these texts are escaped.
"""
_LETTER, _GAP, _WRAPPED = 8.4, 14.4, 24
"""Pixels of a letter, pixels between two columns, and letters after which words are wrapped."""
_IN_WORDS = {"source", "assumption"}
"""Facts of a plan that a page shows in sentences."""


def page(document: Document, links: Sequence[tuple[str, str]] = ()) -> str:
    """Return the document as an HTML page; ``links`` are the texts and addresses of links in it."""
    head = (
        f"{_MARK * document.simulation}"
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"{el('title', document.title)}<style>{STYLE}</style></head><body>"
    )
    sections = [
        el("section", el("h2", one.title), *_parts(_for_readers(document, one.parts), one.title))
        for one in document.sections()
    ]
    opening = _parts(document.opening, document.title)
    body = el(
        "main",
        *([el("p", _RAW, class_="raw")] if document.simulation else []),
        el("h1", document.title),
        el("ul", *[el("li", line) for line in document.lines], class_="promise"),
        el("p", document.source, class_="source"),
        *_key(document.key),
        *opening,
        *sections,
        *_links(links),
        _footer(document),
        class_="broad" if any(_WIDE in part for part in (*opening, *sections)) else "usual",
    )
    return f"{head}{body}</body></html>\n"


def _footer(document: Document) -> Markup:
    version = ", ".join(filter(None, (f"mixtally {VERSION}", document.closing)))
    seen = document.simulation and document.made_by
    made = [el("p", "Made by ", el("code", document.made_by))] if seen else []
    return el("footer", *made, el("p", version))


def _links(links: Sequence[tuple[str, str]]) -> list[Markup]:
    if not links:
        return []
    items = [el("li", el("a", text, href=address)) for text, address in links]
    return [el("nav", el("ul", *items), aria_label="Other pages")]


def _key(figures: Sequence[tuple[str, str]]) -> list[Markup]:
    if not figures:
        return []
    pairs = [el("div", el("dt", name), el("dd", value)) for name, value in figures]
    return [el("dl", *pairs, class_="figures")]


def _for_readers(document: Document, parts: Sequence[Part]) -> list[Part]:
    """Return the parts that a page shows; only a simulation shows texts ``for_user``."""
    return [p for p in parts if document.simulation or not (isinstance(p, Text) and p.for_user)]


def _parts(parts: Sequence[Part], title: str) -> list[Markup]:
    """Render ``parts`` below ``title``, which also names the parts without a title."""
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
            return el("ul", *[el("li", *map(_render_text, item)) for item in items])
        case Table():
            name = part.title or title
            if not part.rows:
                return el("p", part.without_rows(name), class_="note")
            table = _table(part, name, seen=not part.folded and name != title)
            return el("details", el("summary", name), table) if part.folded else table
        case FactTable(columns, folded):
            facts = _facts(columns, folded or title)
            return el("details", el("summary", folded), facts) if folded else facts
        case Picture():
            return _figure(part)
        case Heading(text):
            return el("h3", text)


def _figure(picture: Picture) -> Markup:
    marks = [el("li", swatch(kind), el("span", text)) for kind, text in picture.marks]
    parts = [el("ul", *marks, class_="key")] if marks else []
    if picture.reading:
        parts.append(el("p", el("strong", "How to read this: "), picture.reading, class_="note"))
    below = [el("figcaption", *parts)] if parts else []
    if picture.wide is None:
        return el("figure", el("div", picture.markup, class_="chart"), *below)
    phone = el("div", picture.markup, class_="chart narrow")
    return el("figure", phone, el("div", picture.wide, class_="chart broad"), *below)


def _table(table: Table, name: str, *, seen: bool) -> Markup:
    columns = table.columns
    look = ["" if table.is_left_aligned(place) else "number" for place in range(len(columns))]
    head = [_head(text, "col", c) for text, c in zip(columns, look, strict=True)]
    lines = [
        el("tr", _head(row[0], "row", ""), *map(_cell, row[1:], look[1:], columns[1:]))
        for row in table.rows
    ]
    parts = (_caption(name, seen=seen), el("thead", el("tr", *head)), el("tbody", *lines))
    return el("table", *parts, class_=_table_class(table))


def _table_class(table: Table) -> str:
    """Return the CSS class of a table, which depends on the width that its columns need."""
    pixels = 0.0
    for place, name in enumerate(table.columns):
        cells = (row[place] for row in table.rows)
        texts = (cell.text if isinstance(cell, Marked) else cell for cell in cells)
        longest = max(map(len, texts), default=0)
        if table.is_left_aligned(place):
            longest = min(longest, _WRAPPED)
        pixels += _LETTER * max(longest, *map(len, name.split() or [""])) + _GAP
    return next((kind for room, kind in _KINDS if pixels <= room), "wide list")


def _caption(name: str, *, seen: bool) -> Markup:
    """Return the caption of a table; unless ``seen``, only screen readers get it.

    A caption is hidden in this way if it repeats a visible title.
    """
    return el("caption", name) if seen else el("caption", name, class_="unseen")


def _head(text: Cell, scope: str, look: str) -> Markup:
    """Return the header cell of a column or a row; if ``text`` is empty, an empty plain cell."""
    if not text:
        return el("td", "")
    return el("th", _render_text(text), scope=scope, **({"class_": look} if look else {}))


def _cell(text: Cell, look: str, name: str) -> Markup:
    """Return a cell. On a phone a table is shown as a list, with ``name`` before the cell."""
    seen = {"class_": look} if look else {}
    return el("td", el("span", _render_text(text)), data_name=name, **seen)


def _render_text(cell: Cell) -> str | Markup:
    return el("span", cell.text, class_=cell.tone) if isinstance(cell, Marked) else cell


def _facts(columns: tuple[Mapping[str, Any], ...], name: str) -> Markup:
    names = dict.fromkeys(name for facts in columns for name in facts if name not in _IN_WORDS)
    rows = [
        el(
            "tr",
            _head(key.replace("_", " "), "row", ""),
            *[_cell(format_fact(key, f.get(key, "")), "", f.get("protocol", "")) for f in columns],
        )
        for key in names
    ]
    kind = "plan rows" if len(columns) > 1 else "plan few"
    return el("table", _caption(name, seen=False), el("tbody", *rows), class_=kind)
