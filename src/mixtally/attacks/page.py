"""The attacks as one HTML file that opens offline, in the style of the other reports."""

from collections.abc import Sequence
from typing import Any

from mixtally.attacks.outcome import Outcome
from mixtally.attacks.words import COLUMNS, LIMITS, TEXTS, cells, conclusion
from mixtally.report.curves import STYLE, draw
from mixtally.report.parts import document
from mixtally.report.svg import Markup, el
from mixtally.version import VERSION

_STYLE = (
    STYLE
    + """
main{max-width:1120px}.c1{stroke:var(--soft);stroke-dasharray:3 4}.c2{stroke:var(--truth)}
.dot.c1{fill:var(--soft)}.dot.c2{fill:var(--truth)}
.word{font-weight:600}.consistent{color:var(--own)}.violated{color:var(--bad)}
.measured{color:var(--soft)}
.figure,th.figure{text-align:right;white-space:nowrap}
"""
)


def page(title: str, promise: str, outcomes: Sequence[Outcome], facts: dict[str, Any]) -> str:
    """The report as HTML text."""
    heading = f"Attacks on {title}"
    sections = [_section(outcome) for outcome in outcomes]
    return document(
        heading,
        promise,
        el("p", conclusion(outcomes)),
        _table(outcomes),
        el("p", LIMITS, class_="note"),
        *sections,
        el("footer", el("p", f"mixtally {VERSION}, {_settings(facts)}")),
        style=_STYLE,
    )


def _settings(facts: dict[str, Any]) -> str:
    seed = "secure randomness" if facts["seed"] is None else f"seed {facts['seed']}"
    return f"{seed}, level {facts['level']:g}"


def _table(outcomes: Sequence[Outcome]) -> Markup:
    names = [
        el("th", name) if name in TEXTS else el("th", name, class_="figure") for name in COLUMNS
    ]
    head = el("thead", el("tr", *names))
    lines = [el("tr", *_cells(outcome)) for outcome in outcomes]
    return el("div", el("table", head, el("tbody", *lines)), class_="scroll")


def _cells(outcome: Outcome) -> list[Markup]:
    return [_cell(name, text) for name, text in zip(COLUMNS, cells(outcome), strict=True)]


def _cell(name: str, text: str) -> Markup:
    if name == "verdict":
        return el("td", el("span", text, class_=f"word {text.split()[0]}"))
    return el("td", text) if name in TEXTS else el("td", text, class_="figure")


def _section(outcome: Outcome) -> Markup:
    parts = [el("p", f"Played: {outcome.played}. Test: {outcome.test}.", class_="note")]
    for flag in outcome.numbers.get("flags", []):
        text = (
            f"{flag['test']}, place {flag['place']:,}: counted {flag['counted']:,} of "
            f"{flag['of']:,}, expected {flag['expected']:.1f}"
        )
        parts.append(el("p", text, class_="violated"))
    for chart in outcome.charts:
        parts += [
            draw(chart),
            el(
                "p",
                chart.caption
                if chart.title == outcome.title
                else f"{chart.title}. {chart.caption}",
                class_="note",
            ),
        ]
    return el("section", el("h2", outcome.title), *parts)
