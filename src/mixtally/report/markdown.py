"""A document as Markdown, for readers who edit it or keep it with source code.

``app.plans`` writes approval pages with this module. Charts are left out, because the tables
contain their numbers.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from mixtally.report.document import (
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
from mixtally.report.words import format_fact
from mixtally.version import VERSION

_SPECIAL = re.compile(r"([\\`*_\[\]<>|~$&])")
_BLOCK = re.compile(r"^([#+=-]|\d+(?=[.)]))")
"""Characters that would begin a heading, a list or a rule at the start of a line."""


def markdown(document: Document) -> str:
    """Return the document as GitHub-flavored Markdown.

    Texts from users are escaped, so that Markdown does not interpret any of their characters.
    """
    blocks = [f"# {_inline(document.title)}"]
    blocks += [_bullets(Bullets.of(document.lines)), _line(document.source)]
    if document.key:
        blocks.append(_rows(("figure", "value"), document.key, ("", "number")))
    blocks += _parts(document.opening)
    for section in document.sections():
        blocks += [f"## {_inline(section.title)}", *_parts(section.parts)]
    blocks.append(_line(", ".join(filter(None, (f"mixtally {VERSION}", document.closing)))))
    return "\n\n".join(blocks) + "\n"


def _parts(parts: Sequence[Part]) -> list[str]:
    return [text for part in parts if (text := _part(part))]


def _part(part: Part) -> str:
    match part:
        case Text(text):
            return _line(text)
        case Bullets():
            return _bullets(part)
        case Table(columns, rows):
            look = [
                "" if part.is_left_aligned(place) else "number" for place in range(len(columns))
            ]
            title = f"**{_inline(part.title)}**\n\n" if part.title else ""
            return title + _rows(columns, rows, look)
        case FactTable(columns, title):
            return (f"**{_inline(title)}**\n\n" if title else "") + _facts(columns)
        case Heading(text):
            return f"### {_inline(text)}"
        case Picture():
            return ""


def _bullets(part: Bullets) -> str:
    return "\n".join(f"- {_escaped_start(''.join(map(_inline, item)))}" for item in part.items)


def _facts(columns: Sequence[Mapping[str, Any]]) -> str:
    names = list(dict.fromkeys(name for facts in columns for name in facts))
    rows = [
        (name.replace("_", " "), *[format_fact(name, facts.get(name, "")) for facts in columns])
        for name in names
    ]
    return _rows(("fact", *["value"] * len(columns)), rows, [""] * (len(columns) + 1))


def _rows(columns: Sequence[str], rows: Sequence[Sequence[Cell]], look: Sequence[str]) -> str:
    rule = ["---:" if one else "---" for one in look]
    return "\n".join(
        "| " + " | ".join(cells) + " |"
        for cells in ([*map(_inline, columns)], rule, *[[*map(_inline, row)] for row in rows])
    )


def _line(text: str) -> str:
    """Return a paragraph, escaped so that it begins neither a heading nor a list."""
    return _escaped_start(_inline(text))


def _escaped_start(text: str) -> str:
    """Escape the start of a text that would begin a heading, a list or a rule."""
    found = _BLOCK.match(text)
    if found is None:
        return text
    if found[1].isdigit():
        return f"{found[1]}\\{text[len(found[1]) :]}"
    return f"\\{text}"


def _inline(cell: Cell) -> str:
    """Return a cell on one line with its special characters escaped."""
    text = cell.text if isinstance(cell, Marked) else cell
    # A line break in a text would end the paragraph or the row of a table.
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
