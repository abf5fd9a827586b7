"""Results of a round for people: estimates with intervals, messages received, and the guarantee.

One document becomes the web page of a round, the text on a terminal, JSON and CSV.
"""

from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec

from mixtally.model.certificate import Certificate
from mixtally.model.received import Received
from mixtally.model.result import Result
from mixtally.protocol.estimate.covering_hops import find_covering_hops
from mixtally.protocol.estimate.received import find_coin_warnings
from mixtally.report.counts_view import TABLE_BINS, CountsView
from mixtally.report.document import Document, Facts, Heading, Part, Section, Text, Tone
from mixtally.report.promise import promise_of_round
from mixtally.report.received import (
    count_facts,
    intake_table,
    key_figures,
    refusal_text,
    trust_facts,
)
from mixtally.report.sections import promise_sections
from mixtally.report.texts import whole_facts
from mixtally.report.words import not_promised, promise_paragraphs
from mixtally.server.collector.concluding import Conclusion
from mixtally.server.collector.contracts import SignedContract


class ShownRound(NamedTuple):
    """A round with the data needed to show it."""

    agreed: SignedContract
    number: int
    opens: int
    closes: int
    """Opening and closing time of the window, in seconds since 1970."""
    overruled: tuple[str, ...] = ()
    """Names of silent peers for which the collector did not wait when it started."""

    @property
    def title(self) -> str:
        """Name of the question, and number of the round."""
        return f"{self.agreed.contract.plan.question.name}, round {self.number}"


def format_utc(seconds: int) -> str:
    """Return a time in seconds since 1970 as UTC text for people."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def round_document(shown_round: ShownRound, conclusion: Conclusion, top: int) -> Document:
    """Return the document of a round; its summary shows the ``top`` largest bins."""
    contract, result = shown_round.agreed.contract, conclusion.result
    plan, shown = contract.plan, _counts_view(conclusion)
    people = "unknown" if conclusion.received is None else f"{conclusion.received.contributors:,}"
    return Document(
        title=shown_round.title,
        promise=promise_of_round(plan, result),
        source=f"Answers taken from {format_utc(shown_round.opens)} to "
        f"{format_utc(shown_round.closes)} under contract "
        f"{contract.name}, serial {contract.serial}.",
        key=key_figures(plan, people, result),
        sections=lambda: (
            Section("Counts", _parts(shown_round, conclusion, shown, TABLE_BINS, chart=True)),
            *promise_sections(
                promise_paragraphs(plan, _certificate(shown_round, conclusion)), not_promised(plan)
            ),
        ),
        summary=lambda: _parts(shown_round, conclusion, shown, top, chart=False),
        facts=lambda: _facts(shown_round, conclusion, shown),
        tables=dict if shown is None else shown.tables,
        closing=f"contract {shown_round.agreed.fingerprint}",
    )


def result_facts(shown_round: ShownRound, conclusion: Conclusion) -> dict[str, Any]:
    """Return the result of a round as the JSON object that is published."""
    return whole_facts(round_document(shown_round, conclusion, top=0))


def _counts_view(conclusion: Conclusion) -> CountsView | None:
    """Return the view of the counts, or None if nothing is released."""
    return None if conclusion.result is None else CountsView(conclusion.result)


def round_parts(
    shown_round: ShownRound, conclusion: Conclusion, most: int, *, chart: bool
) -> tuple[Part, ...]:
    """Return the parts of a document that show the counts and the messages received.

    If nothing is released, the reason replaces the counts. The table has the ``most`` largest bins.
    With ``chart``, a chart and a heading are added.
    """
    return _parts(shown_round, conclusion, _counts_view(conclusion), most, chart=chart)


def _parts(
    shown_round: ShownRound,
    conclusion: Conclusion,
    counted: CountsView | None,
    most: int,
    *,
    chart: bool,
) -> tuple[Part, ...]:
    plan, shown = shown_round.agreed.contract.plan, list[Part]()
    if counted is None:
        shown.append(refusal_text(conclusion.refusal))
    else:
        shown += [counted.chart()] * chart
        shown += [
            counted.table(most, "" if chart else shown_round.title),
            Text(counted.findings(most)),
        ]
        shown += counted.figures()
    if conclusion.received is not None:
        shown += [Heading("Messages received")] * chart
        shown.append(intake_table(plan, conclusion.received))
        shown += [Text(text) for text in _describe_dropped(conclusion.received)]
    if conclusion.result is not None:
        shown += [
            Text(text, tone=Tone.BAD) for text in _list_warnings(shown_round, conclusion.result)
        ]
    if shown_round.overruled:
        silent = ", ".join(shown_round.overruled)
        shown.append(Text(f"Silent at the start and not waited for: {silent}.", tone=Tone.BAD))
    return tuple(shown)


def _facts(shown_round: ShownRound, conclusion: Conclusion, view: CountsView | None) -> Facts:
    """Return the result as a JSON object."""
    contract, result = shown_round.agreed.contract, conclusion.result
    plan = contract.plan
    said: Facts = {
        "contract": contract.name,
        "serial": contract.serial,
        "fingerprint": shown_round.agreed.fingerprint,
        "round": shown_round.number,
        "of_rounds": plan.collections,
        "opens": shown_round.opens,
        "closes": shown_round.closes,
        "question": plan.question.name,
        "epsilon": plan.certificate.epsilon,
        "delta": plan.certificate.upper,
        "assumption": _certificate(shown_round, conclusion).assumption,
        **trust_facts(plan),
        "overruled": list(shown_round.overruled),
        "received": None
        if conclusion.received is None
        else msgspec.to_builtins(conclusion.received),
        "released": result is not None,
        "refusal": conclusion.refusal,
    }
    if result is None or view is None:
        return said
    return {
        **said,
        "doubts": [*find_coin_warnings(plan, result.received), *result.warnings],
        "rests_on": _covering_hops(shown_round, result),
        **count_facts(view),
    }


def _certificate(shown_round: ShownRound, conclusion: Conclusion) -> Certificate:
    plan = shown_round.agreed.contract.plan
    return plan.certificate if conclusion.result is None else conclusion.result.certificate


def _covering_hops(shown_round: ShownRound, result: Result) -> list[str]:
    """Return the names of the hops that declare all the fakes that their recipe requires."""
    contract = shown_round.agreed.contract
    return [
        contract.hops[hop - 1].name for hop in find_covering_hops(contract.plan, result.received)
    ]


def _list_warnings(shown_round: ShownRound, result: Result) -> list[str]:
    rest = _covering_hops(shown_round, result)
    lazy = [role.name for role in shown_round.agreed.contract.hops if role.name not in rest]
    said = [*find_coin_warnings(result.plan, result.received), *result.warnings]
    if lazy:
        said.append(
            f"Fewer fakes than the recipe requires were added by {', '.join(lazy)}: "
            f"{' or '.join(rest)} must be honest."
        )
    return said


def _describe_dropped(received: Received) -> list[str]:
    """Return a text for each reason why received messages are not in the counts."""
    several = [("Bundles left out whole", received.left_out)]
    several += [
        (f"Messages dropped in part {place}", one.dropped)
        for place, one in enumerate(received.parts, 1)
    ]
    return [
        f"{what}: " + ", ".join(f"{many:,} for {reason}" for reason, many in dropped.items()) + "."
        for what, dropped in several
        if dropped
    ]
