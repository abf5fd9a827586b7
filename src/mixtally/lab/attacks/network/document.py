"""The report on attacks of hostile hops: one line for each attack and each hop concerned.

``app.attack_network`` passes the document to the writers of ``mixtally.report``.
"""

from collections.abc import Sequence

from mixtally.lab.attacks.document import TONES, promise_lines, violations
from mixtally.lab.attacks.network.adversary import ATTACKS
from mixtally.lab.attacks.outcome import Outcome, Verdict
from mixtally.report.document import Cell, Document, Facts, Marked, Table, Text
from mixtally.report.numbers import at_least, at_most

_COLUMNS = ("attack", "place", "promised", "rests on", "proved", "verdict", "rounds")
_LIMITS = (
    "Honest mixes are roles of the product with their keys, databases and files, in this process "
    "and without sockets. The collector helps the attacker. Proved is a lower bound of epsilon "
    "from all rounds of a line. An attack that fails proves nothing."
)


def network_document(
    title: str, promise: str, outcomes: Sequence[Outcome], facts: Facts
) -> Document:
    """Return the report on all outcomes of attacks on running roles (mixes and collector).

    ``promise`` is the guarantee under attack, in words. ``facts`` are further numbers for JSON.
    """
    heading = f"Attacks on real roles: {title}"
    table = Table(
        _COLUMNS, [_cells(one) for one in outcomes], words=frozenset(_COLUMNS[:4]), wide=True
    )
    notes = [Text(f"{name}: a hostile mix {ATTACKS[name].text}.", note=True)
             for name in dict.fromkeys(one.attack for one in outcomes)]  # fmt: skip
    notes += [Text(line, note=True) for line in dict.fromkeys(map(_remark, outcomes)) if line]
    said = _conclusion(outcomes)
    return Document(
        title=heading,
        source="Measured privacy loss of hostile mixes, compared with the guarantee.",
        promise=promise_lines(promise, facts["level"]),
        opening=(Text(said), table, *notes, Text(_LIMITS, note=True)),
        sections=lambda: (),
        summary=lambda: (Text(heading), table, *notes),
        prose=(said, _LIMITS),
        facts=lambda: facts,
        closing=f"secure randomness, level {facts['level']:g}",
    )


def _cells(outcome: Outcome) -> list[Cell]:
    rests = outcome.numbers["rests_on"]
    return [
        outcome.attack,
        outcome.case,
        "nothing" if outcome.promised is None else at_most(outcome.promised, 4),
        rests or "not covered: the plan relies on the first mix",
        at_least(outcome.attacked, 4),
        Marked(str(outcome.verdict), TONES[outcome.verdict]),
        f"{outcome.numbers['rounds']:,}",
    ]


def _remark(outcome: Outcome) -> str:
    """Return a sentence on refused sheets or on lengths of messages; empty if neither occurred."""
    numbers = outcome.numbers
    if numbers["refused"]:
        many = f"{numbers['refused']:,} of {2 * outcome.runs:,}"
        return f"own-sheet, {outcome.case}: devices refused {many} sheets. {numbers['refusal']}"
    if outcome.attack == "long":
        lengths = " or ".join(f"{length:,}" for length in numbers["lengths"])
        return f"long, {outcome.case}: everything that it received has {lengths} bytes."
    return ""


def _conclusion(outcomes: Sequence[Outcome]) -> str:
    """Return the result of the table as one sentence."""
    if violated := violations(outcomes):
        return violated
    outside = sum(one.verdict is Verdict.OUTSIDE for one in outcomes)
    return f"No attack exceeds its promise: {len(outcomes):,} made" + (
        f", of which {outside:,} are outside the guarantee." if outside else "."
    )
