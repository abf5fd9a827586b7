"""The findings as one HTML file that opens offline, in the style of the other reports."""

from collections.abc import Iterable

from mixtally.literature.reproduce import DOCUMENTS, Reproduction
from mixtally.literature.reproduce.finding import COMPUTED, DIFFERS, FALSE, REPRODUCES, Finding, Row
from mixtally.report.curves import STYLE, draw
from mixtally.report.parts import document, figures_list, section
from mixtally.report.svg import Markup, el
from mixtally.version import VERSION

TITLE = "The founding documents, computed again"
_STYLE = (
    STYLE
    + """
main{max-width:1120px}h3{font-size:1rem;margin:1.6rem 0 .5rem}
.word{font-weight:600;white-space:nowrap}.reproduces,.holds{color:var(--own)}
.differs,.undecided{color:var(--truth)}.false{color:var(--bad)}.computed{color:var(--soft)}
.place{white-space:nowrap}.figure{text-align:right;white-space:nowrap}td{min-width:4.5rem}
.wrong{font-size:.9rem}.wide{font-size:.8rem}.wide th{color:var(--soft);font-weight:400}
"""
)
_WORDS = {
    REPRODUCES: "the printed number follows, to half a unit of its last digit, or the claim holds",
    DIFFERS: "the document's own formula, or the exact law, gives another number",
    FALSE: "the exact laws or a counterexample contradict the claim",
    COMPUTED: "not printed in the document: the number that belongs beside it",
}


def page(found: Reproduction) -> str:
    """The report as HTML text."""
    documents = dict.fromkeys(one.document for one in found.findings)
    intro = (
        "Every number, table, figure and claim of the documents that this package was made from, "
        "beside what follows. Promises are held against the exact divergence for an observer who "
        "receives every shuffled message, unless the row names another. Nothing in the verdicts "
        "was typed in; only the printed numbers were."
    )
    return document(
        TITLE,
        intro,
        _key_figures(found.findings),
        el("ul", *[el("li", _word(w), f" {text}") for w, text in _WORDS.items()], class_="note"),
        section("Verdicts", _verdicts(found.rows)),
        *[_document(name, found) for name in documents],
        el("footer", el("p", f"mixtally {VERSION}")),
        style=_STYLE,
    )


def _word(word: str) -> Markup:
    return el("span", word, class_=f"word {word}")


def _key_figures(findings: Iterable[Finding]) -> Markup:
    words = [one.word for one in findings]
    return figures_list((word, f"{words.count(word):,}") for word in _WORDS)


def _table(names: tuple[str, ...], rows: list[Markup]) -> Markup:
    head = el("thead", el("tr", *[el("th", name) for name in names]))
    return el("div", el("table", head, el("tbody", *rows), class_="wide"), class_="scroll")


def _verdicts(rows: Iterable[Row]) -> Markup:
    lines = [
        el(
            "tr",
            el("td", row.document),
            el("td", row.place),
            el("td", row.promise),
            el("td", row.truth),
            el("td", row.factor),
            el("td", _word(row.word)),
        )
        for row in rows
    ]
    names = ("document", "place", "formula or claim", "truth", "factor or reason", "verdict")
    return _table(names, lines)


def _document(name: str, found: Reproduction) -> Markup:
    findings = [one for one in found.findings if one.document == name]
    wrong = [one for one in findings if one.word in (FALSE, DIFFERS)]
    parts = []
    if wrong:
        parts += [
            el("h3", "Where it is wrong"),
            el("ul", *[_wrong(one) for one in wrong], class_="wrong"),
        ]
    for chart in found.charts:
        if chart.document == name:
            parts += [el("h3", chart.title), draw(chart), el("p", chart.caption, class_="note")]
    parts += [el("h3", "Every number and claim"), _findings(findings)]
    return section(f"{name}: {DOCUMENTS[name]}", *parts)


def _wrong(one: Finding) -> Markup:
    computed = f"{one.computed_text()} {one.unit}".strip()
    if one.word == DIFFERS:
        text = f"{one.what}: printed {one.printed}, it is {computed}"
    else:
        text = f"{one.what}: {computed}" if ": " in one.what else f"{one.what}: no, {computed}"
    note = f" ({one.note})" if one.note else ""
    return el("li", el("b", one.place), f" {text}{note}. ", _word(one.word))


def _findings(findings: Iterable[Finding]) -> Markup:
    lines = [
        el(
            "tr",
            el("td", one.document),
            el("td", one.place, class_="place"),
            el("td", one.what),
            el("td", one.printed or "", class_="figure"),
            el("td", one.computed_text(), class_="figure"),
            el("td", one.unit),
            el("td", _word(one.word)),
            el("td", one.note),
        )
        for one in findings
    ]
    names = ("document", "place", "what", "printed", "computed", "unit", "word", "note")
    return _table(names, lines)
