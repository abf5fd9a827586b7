"""The report on attacks: a table of all attacks, then each attack with its charts.

The applications pass the document to the writers of ``mixtally.report``.
"""

from collections.abc import Sequence

from mixtally.errors import pluralize
from mixtally.lab.attacks.outcome import Outcome, Verdict
from mixtally.model.guarantee import Observer
from mixtally.report.curves import draw
from mixtally.report.document import (
    Cell,
    Document,
    Facts,
    Marked,
    Part,
    Promise,
    Section,
    Table,
    Text,
    Tone,
)
from mixtally.report.numbers import at_least, at_most
from mixtally.report.promise import protection_line

_COLUMNS = (
    "attack", "the attacker", "noise", "promised", "attacked", "best", "margin", "verdict", "runs"
)  # fmt: skip
_SHORT = ("attack", "the attacker", "noise", "promised", "attacked", "verdict")
"""The columns that fit a terminal without cutting a word."""
_TEXTS = ("attack", "the attacker", "noise", "verdict")
"""The columns that contain words; the others contain numbers."""
_LIMITS = (
    "An attack that fails proves nothing: another one, or more runs, may succeed. An attack that "
    "violates a promise proves it false, except with the stated false-alarm probability of the "
    "whole table. Best is about the epsilon that the best test proves in half of all repetitions "
    "with as many runs. Noise from the code is drawn by the code of devices and mixes. Noise from "
    "the distribution is drawn from its specified distribution, in many more runs."
)
TONES = {
    Verdict.CONSISTENT: Tone.GOOD,
    Verdict.VIOLATED: Tone.BAD,
    Verdict.MEASURED: Tone.SOFT,
    Verdict.OUTSIDE: Tone.SOFT,
}


def document(
    title: str, promise: str, outcomes: Sequence[Outcome], facts: Facts, *, linked: bool = False
) -> Document:
    """Return the report on all outcomes of attacks.

    ``promise`` is the guarantee under attack, in words. ``facts`` are further numbers for JSON.
    ``linked`` says whether the observer of the guarantee knows the sender of every message.
    """
    heading = f"Attacks on {title}"
    seed = "secure randomness" if facts["seed"] is None else f"seed {facts['seed']}"
    return Document(
        title=heading,
        source="Measured privacy loss of each attack, compared with the guarantee.",
        promise=promise_lines(promise, facts["level"], linked=linked),
        opening=(Text(_conclusion(outcomes)), _table(outcomes), Text(_LIMITS, note=True)),
        sections=lambda: tuple(Section(one.title, tuple(_outcome_parts(one))) for one in outcomes),
        summary=lambda: (Text(heading), _table(outcomes, _SHORT)),
        prose=(_conclusion(outcomes), _LIMITS),
        facts=lambda: facts,
        closing=f"{seed}, level {facts['level']:g}",
    )


def promise_lines(promise: str, level: float, *, linked: bool = False) -> Promise:
    """Return the section with the observer, the guarantee and the false-alarm probability.

    ``level`` is the confidence level of the whole table.
    """
    return (
        protection_line(Observer.LINKED if linked else Observer.MESSAGES),
        f"Under attack: {promise}",
        f"False-alarm probability of the whole table: at most {at_most(1.0 - level)}.",
    )


def _table(outcomes: Sequence[Outcome], columns: tuple[str, ...] = _COLUMNS) -> Table:
    rows = [[_table_cells(outcome)[name] for name in columns] for outcome in outcomes]
    return Table(columns, rows, words=frozenset(_TEXTS), wide=True)


def _outcome_parts(outcome: Outcome) -> list[Part]:
    parts: list[Part] = [Text(f"Played: {outcome.played}. Test: {outcome.test}.", note=True)]
    for flag in outcome.numbers.get("flags", []):
        text = (
            f"{flag['test']}, place {flag['place']:,}: counted {flag['counted']:,} of "
            f"{flag['trials']:,}, expected {flag['expected']:.1f}"
        )
        parts.append(Text(text, tone=Tone.BAD))
    for chart in outcome.charts:
        named = chart.title == outcome.title
        caption = chart.caption if named else f"{chart.title}. {chart.caption}"
        parts += [draw(chart), Text(caption, note=True)]
    return parts


def _table_cells(outcome: Outcome) -> dict[str, Cell]:
    """Return one row of the table, a cell for each of ``_COLUMNS``."""
    margin = outcome.margin
    return {
        "attack": outcome.attack,
        "the attacker": outcome.case,
        "noise": str(outcome.noise),
        "promised": "nothing" if outcome.promised is None else at_most(outcome.promised, 4),
        "attacked": f"{at_least(outcome.attacked, 4)} {outcome.unit}",
        "best": "" if outcome.best is None else at_least(outcome.best, 3),
        # A margin that only rounding distinguishes from 0 is shown as 0.
        "margin": "" if margin is None else f"{0.0 if abs(margin) < 1e-9 else margin:.3g}",
        "verdict": Marked(str(outcome.verdict), TONES[outcome.verdict]),
        "runs": f"{outcome.runs:,}",
    }


def _conclusion(outcomes: Sequence[Outcome]) -> str:
    """Return the result of the table as one sentence."""
    if violated := violations(outcomes):
        return violated
    consistent = sum(o.verdict is Verdict.CONSISTENT for o in outcomes)
    promises, made = pluralize(consistent, "promise"), pluralize(len(outcomes), "attack")
    return (
        f"No attack exceeds its promise: {made} made, {promises} consistent with what they prove."
    )


def violations(outcomes: Sequence[Outcome]) -> str:
    """Return a sentence that lists the violated guarantees; an empty text if there are none."""
    violated = [one.title for one in outcomes if one.verdict is Verdict.VIOLATED]
    return f"Violated: {'; '.join(violated)}." if violated else ""
