"""What is shown of attacks: the table of all, then each with its charts."""

from collections.abc import Sequence

from mixtally.attacks.outcome import Outcome, Verdict
from mixtally.attacks.words import COLUMNS, LIMITS, TEXTS, cells, conclusion
from mixtally.report.curves import draw
from mixtally.report.document import (
    Cell,
    Document,
    Facts,
    Marked,
    Part,
    Picture,
    Section,
    Table,
    Text,
    Tone,
)

_TONES = {
    Verdict.CONSISTENT: Tone.GOOD,
    Verdict.VIOLATED: Tone.BAD,
    Verdict.MEASURED: Tone.SOFT,
}


def document(title: str, promise: str, outcomes: Sequence[Outcome], facts: Facts) -> Document:
    """All outcomes, after the ``promise`` under attack in a sentence or two."""
    heading, table = f"Attacks on {title}", _table(outcomes)
    seed = "secure randomness" if facts["seed"] is None else f"seed {facts['seed']}"
    return Document(
        title=heading,
        source=promise,
        opening=(Text(conclusion(outcomes)), table, Text(LIMITS, note=True)),
        sections=lambda: tuple(Section(one.title, tuple(_parts(one))) for one in outcomes),
        summary=lambda: (Text(heading), Text(promise), table),
        prose=(conclusion(outcomes), LIMITS),
        facts=lambda: facts,
        closing=f"{seed}, level {facts['level']:g}",
    )


def _table(outcomes: Sequence[Outcome]) -> Table:
    rows: list[list[Cell]] = []
    for outcome in outcomes:
        texts = dict(zip(COLUMNS, cells(outcome), strict=True))
        verdict = Marked(texts.pop("verdict"), _TONES[outcome.verdict])
        rows.append([verdict if name == "verdict" else texts[name] for name in COLUMNS])
    return Table(COLUMNS, rows, words=frozenset(TEXTS), wide=True)


def _parts(outcome: Outcome) -> list[Part]:
    parts: list[Part] = [Text(f"Played: {outcome.played}. Test: {outcome.test}.", note=True)]
    for flag in outcome.numbers.get("flags", []):
        text = (
            f"{flag['test']}, place {flag['place']:,}: counted {flag['counted']:,} of "
            f"{flag['of']:,}, expected {flag['expected']:.1f}"
        )
        parts.append(Text(text, tone=Tone.BAD))
    for chart in outcome.charts:
        named = chart.title == outcome.title
        caption = chart.caption if named else f"{chart.title}. {chart.caption}"
        parts += [Picture(draw(chart)), Text(caption, note=True)]
    return parts
