"""What is said of a round under a contract: what came, and what opens its page."""

from mixtally.model.contract import Plan
from mixtally.model.received import Received
from mixtally.model.result import Result
from mixtally.report.counts import message_facts
from mixtally.report.counts_view import CountsView
from mixtally.report.document import Cell, Facts, Table, Text, Tone
from mixtally.report.numbers import at_most, error_text

_CAME = ("part", "messages tallied", "of hops", "of people", "dropped", "bytes each")


def intake_table(plan: Plan, received: Received) -> Table:
    """What each part's messages were, by what hops declared."""
    rows = list[list[Cell]]()
    for place, (part, one) in enumerate(zip(plan.parts, received.parts, strict=True), 1):
        numbers = (
            one.received,
            one.added_count,
            one.received_count - one.added_count,
            one.received_count - one.received,
        )
        cells = [f"{many:,}" for many in (*numbers, part.layout.message_bytes)]
        rows.append([f"{place}: {part.protocol}", *cells])
    return Table(_CAME, rows, title="What came")


def refusal_text(refusal: str | None) -> Text:
    """Why there are no counts."""
    return Text(f"Nothing is released. {refusal}.", tone=Tone.BAD)


def key_figures(plan: Plan, people: str, result: Result | None) -> tuple[tuple[str, str], ...]:
    """Names and values that the page of a round opens with."""
    shown = [
        ("people", people),
        ("bins", f"{plan.question.bins:,}"),
        ("epsilon", at_most(plan.certificate.epsilon)),
        ("delta at most", at_most(plan.certificate.upper)),
    ]
    if result is not None:
        shown.append(("standard error, counts", error_text(result.estimate.standard_error)))
    return tuple(shown)


def trust_facts(plan: Plan) -> Facts:
    """Whom a round rests on, and what is left of it without them."""
    return {
        "cover": str(plan.cover),
        "hops": plan.hops,
        "minimum_crowd": plan.minimum_crowd,
        "local_epsilon": plan.local_epsilon,
    }


def count_facts(shown: CountsView) -> Facts:
    """The counts of a round, how they were made, and how far off they are where that is known."""
    return {
        **message_facts(shown.result),
        "standard_error": shown.result.estimate.standard_error,
        **shown.measure_errors(),
        **shown.facts(),
    }
