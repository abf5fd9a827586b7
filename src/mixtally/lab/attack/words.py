"""Outcomes of attacks for people: every privacy number rounded to its own side."""

from collections.abc import Sequence

from mixtally.lab.attack.outcome import Outcome, Verdict
from mixtally.report.words import at_least, at_most

COLUMNS = ("attack", "the attacker", "unit", "promised", "attacked", "margin", "verdict", "runs")
LIMITS = (
    "An attack that fails proves nothing: another one, or more runs, may succeed. An attack that "
    "breaks a promise proves it false, but for the stated chance of a false alarm in the whole "
    "table."
)


def cells(outcome: Outcome) -> tuple[str, ...]:
    """One row of the table: attack, case, unit, promised, attacked, margin, verdict, runs."""
    promised = "nothing" if outcome.promised is None else at_most(outcome.promised, 4)
    margin = "" if outcome.margin is None else f"{_nearly_zero(outcome.margin):.3g}"
    return (
        outcome.attack, outcome.case, outcome.unit, promised, at_least(outcome.attacked, 4),
        margin, str(outcome.verdict), f"{outcome.runs:,}",
    )  # fmt: skip


def _nearly_zero(value: float) -> float:
    """Rounding of a measured count is no margin."""
    return 0.0 if abs(value) < 1e-9 else value


def conclusion(outcomes: Sequence[Outcome]) -> str:
    """What the table says, in one sentence."""
    broken = [f"{o.attack} ({o.case})" for o in outcomes if o.verdict is Verdict.BROKEN]
    if broken:
        return "Broken: " + "; ".join(broken) + "."
    promised = sum(o.verdict is Verdict.HOLDS for o in outcomes)
    return f"No attack exceeds its promise: {promised} promises held, {len(outcomes)} attacks made."
