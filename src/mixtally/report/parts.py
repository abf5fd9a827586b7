"""What pages share: the document, sections, tables, lists, the last line."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mixtally.report.style import STYLE
from mixtally.report.svg import Markup, el
from mixtally.report.words import fact
from mixtally.version import VERSION

_IN_WORDS = {"source", "assumption"}
"""Facts of a plan that a page tells in sentences."""


def document(title: str, source: str, *parts: Markup, style: str = "") -> str:
    """A whole HTML file: its heading, where its numbers come from, its parts; more style if any."""
    head = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"{el('title', title)}<style>{STYLE}{style}</style></head><body>"
    )
    body = el("main", el("h1", title), el("p", source, class_="source"), *parts)
    return f"{head}{body}</body></html>\n"


def section(title: str, *parts: Markup) -> Markup:
    """A part of a page under its heading."""
    return el("section", el("h2", title), *parts)


def figures_list(figures: Iterable[tuple[str, str]]) -> Markup:
    """Names and values that a page opens with."""
    return el(
        "dl",
        *[el("div", el("dt", name), el("dd", value)) for name, value in figures],
        class_="figures",
    )


def rows_table(head: Iterable[str], rows: Iterable[Iterable[str]], look: str = "bins") -> Markup:
    """A table of names and numbers, wide ones in a frame that scrolls."""
    top = el("thead", el("tr", *[el("th", name) for name in head]))
    lines = [el("tr", *[el("td", cell) for cell in row]) for row in rows]
    return el("div", el("table", top, el("tbody", *lines), class_=look), class_="scroll")


def folded(title: str, table: Markup) -> Markup:
    """A long table that is opened by its title."""
    return el("details", el("summary", title), table)


def facts_table(*columns: Mapping[str, Any]) -> Markup:
    """The facts of one plan or of several side by side, a row a name."""
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


def plain_list(texts: Iterable[str]) -> Markup:
    """Sentences one below the other."""
    return el("ul", *[el("li", text) for text in texts])


def paragraphs(texts: Sequence[str]) -> list[Markup]:
    """A paragraph a text."""
    return [el("p", text) for text in texts]


def note(text: str) -> Markup:
    """Words beside a picture or a table."""
    return el("p", text, class_="note")


def footer(seed: int | None, fingerprint: str, plan: str = "plan") -> Markup:
    """Version, randomness (None: the operating system's) and plan."""
    chance = "randomness from the operating system" if seed is None else f"seed {seed}"
    return el("footer", el("p", f"mixtally {VERSION}, {chance}, {plan} {fingerprint}"))
