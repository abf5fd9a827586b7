"""Outcomes of attacks for people: every privacy number rounded to its own side."""

from collections.abc import Sequence

from mixtally.attacks.outcome import Outcome, Verdict
from mixtally.report.words import at_least, at_most

COLUMNS = ("attack", "the attacker", "noise", "promised", "attacked", "margin", "verdict", "runs")
TEXTS = ("attack", "the attacker", "noise", "verdict")
"""Columns of words, the others hold numbers."""
LIMITS = (
    "An attack that fails proves nothing: another one, or more runs, may succeed. An attack that "
    "violates a promise proves it false, but for the stated chance of a false alarm in the whole "
    "table; best is about what half of all repetitions of as many runs prove, whatever the test. "
    "Noise from the code is what devices and mixes run; noise from the distribution is what they "
    "are meant to have, in many more runs."
)


def cells(outcome: Outcome) -> tuple[str, ...]:
    """One row of the table, a text for each of ``COLUMNS``."""
    promised = "nothing" if outcome.promised is None else at_most(outcome.promised, 4)
    attacked = f"{at_least(outcome.attacked, 4)} {outcome.unit}"
    if outcome.best is not None:
        attacked += f"\nbest {at_least(outcome.best, 3)}"
    margin = "" if outcome.margin is None else f"{_nearly_zero(outcome.margin):.3g}"
    return (
        outcome.attack,
        outcome.case,
        str(outcome.noise),
        promised,
        attacked,
        margin,
        str(outcome.verdict),
        f"{outcome.runs:,}",
    )


def _nearly_zero(value: float) -> float:
    """Rounding of a measured count is no margin."""
    return 0.0 if abs(value) < 1e-9 else value


def conclusion(outcomes: Sequence[Outcome]) -> str:
    """What the table says, in one sentence."""
    violated = [o.title for o in outcomes if o.verdict is Verdict.VIOLATED]
    if violated:
        return "Violated: " + "; ".join(violated) + "."
    consistent = sum(o.verdict is Verdict.CONSISTENT for o in outcomes)
    promises, made = _counted(consistent, "promise"), _counted(len(outcomes), "attack")
    return (
        f"No attack exceeds its promise: {made} made, {promises} consistent with what they prove."
    )


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + "s" * (number != 1)
