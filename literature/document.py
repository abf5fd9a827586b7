"""The report on the founding documents."""

from collections.abc import Sequence

from literature import DOCUMENTS, Reproduction
from literature.finding import COMPUTED, DIFFERS, FALSE, REPRODUCES, Finding, VerdictRow
from mixtally.report.curves import draw
from mixtally.report.document import (
    Bullets,
    Cell,
    Document,
    Heading,
    Marked,
    Part,
    Section,
    Table,
    Text,
    Tone,
)

TITLE = "The founding documents, computed again"
_INTRO = (
    "Every number, table, figure and claim of the documents on which this package is based, "
    "compared with its recomputation. Guarantees are compared with the exact divergence for an "
    "observer who receives every shuffled message, unless the row names another observer. All "
    "verdicts are computed; only the printed numbers were typed in."
)
_LINES = (
    "Protects: nobody, because no data are collected here. Guarantees of the documents are "
    "compared with what an observer of all shuffled messages, or the observer that a row names, "
    "can learn about one person.",
    "Each row has the epsilon and delta of the document and the exact divergence, which is proved "
    "under the assumptions of the row.",
    "Expected error: a printed number counts as reproduced if the computed number agrees to half "
    "a unit of the last printed digit.",
)
_WORDS = {
    REPRODUCES: "the printed number is right to half a unit of its last digit, or the claim holds",
    DIFFERS: "the document's own formula, or the exact distribution, gives another number",
    FALSE: "the exact distributions or a counterexample contradict the claim",
    COMPUTED: "not printed in the document: a number for comparison",
}
_TONES = {
    REPRODUCES: Tone.GOOD,
    "holds": Tone.GOOD,
    DIFFERS: Tone.DOUBTFUL,
    "undecided": Tone.DOUBTFUL,
    FALSE: Tone.BAD,
    COMPUTED: Tone.SOFT,
}


def document(found: Reproduction) -> Document:
    """Return the report on every finding; a terminal shows one table for each document."""
    facts, names = found.facts(), dict.fromkeys(one.document for one in found.findings)
    words = [one.word for one in found.findings]
    return Document(
        title=TITLE,
        source=_INTRO,
        promise=_LINES,
        key=tuple((word, f"{words.count(word):,}") for word in _WORDS),
        opening=(Bullets(tuple((_word(w), f" {text}") for w, text in _WORDS.items())),),
        sections=lambda: (
            Section("Verdicts", (_verdicts(found.rows),)),
            *(Section(f"{n}: {DOCUMENTS[n]}", tuple(_parts(found, n))) for n in names),
        ),
        summary=lambda: tuple(_summary(found)),
        prose=(", ".join(f"{count:,} {word}" for word, count in facts["words"].items()),),
        facts=lambda: facts,
    )


def _summary(found: Reproduction) -> list[Part]:
    """Return one table for each document."""
    parts: list[Part] = []
    for name in dict.fromkeys(one.document for one in found.findings):
        parts += [Heading(f"{name}: {DOCUMENTS[name]}"), _short(_of(found, name)), Text("")]
    return parts


def _of(found: Reproduction, name: str) -> list[Finding]:
    return [one for one in found.findings if one.document == name]


def _word(word: str) -> Marked:
    return Marked(word, _TONES.get(word, Tone.SOFT))


def _verdicts(rows: Sequence[VerdictRow]) -> Table:
    head = ("document", "place", "formula or claim", "truth", "factor or reason", "verdict")
    lines = [
        (row.document, row.place, row.promise, row.truth, row.factor, _word(row.word))
        for row in rows
    ]
    return Table(head, lines, words=frozenset(head), wide=True)


def _parts(found: Reproduction, name: str) -> list[Part]:
    findings, parts = _of(found, name), list[Part]()
    if wrong := [_wrong(one) for one in findings if one.word in (FALSE, DIFFERS)]:
        parts += [Heading("Where it is wrong"), Bullets(tuple(wrong))]
    for chart in found.charts:
        if chart.document == name:
            parts += [Heading(chart.title), draw(chart), Text(chart.caption, note=True)]
    return [*parts, Heading("Every number and claim"), _full(findings)]


def _wrong(one: Finding) -> tuple[Cell, ...]:
    computed = f"{one.computed_text()} {one.unit}".strip()
    if one.word == DIFFERS:
        text = f"{one.what}: printed {one.printed}, it is {computed}"
    else:
        text = f"{one.what}: {computed}" if ": " in one.what else f"{one.what}: no, {computed}"
    note = f" ({one.note})" if one.note else ""
    return (f"{one.place}: {text}{note}. ", _word(one.word))


def _full(findings: Sequence[Finding]) -> Table:
    head = ("document", "place", "what", "printed", "computed", "unit", "word", "note")
    lines = [
        (
            one.document,
            one.place,
            one.what,
            one.printed or "",
            one.computed_text(),
            one.unit,
            _word(one.word),
            one.note,
        )
        for one in findings
    ]
    return Table(head, lines, words=frozenset(head) - {"printed", "computed"}, wide=True)


def _short(findings: Sequence[Finding]) -> Table:
    head = ("place", "what", "printed", "computed", "word")
    lines = [
        (
            one.place,
            one.what,
            one.printed or "",
            f"{one.computed_text()} {one.unit}".strip(),
            _word(one.word),
        )
        for one in findings
    ]
    return Table(head, lines, words=frozenset({"what", "word"}), wide=True)
