"""Elements of documents about a round under a contract: received messages, key figures, facts.

The collector and the simulation of contracts call these functions.
"""

from mixtally.model.contract import Plan
from mixtally.model.received import Received
from mixtally.model.result import Result
from mixtally.report.counts import message_facts
from mixtally.report.counts_view import CountsView
from mixtally.report.document import Cell, Facts, Table, Text, Tone
from mixtally.report.numbers import at_most, error_text

_COLUMNS = ("part", "messages tallied", "of hops", "of people", "dropped", "bytes each")


def intake_table(plan: Plan, received: Received) -> Table:
    """Return the table of the messages of each part, as the hops (mixes) declared them.

    Parameters
    ----------
    plan : Plan
        The plan of the round.
    received : Received
        The numbers of messages that hops and the collector state.
    """
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
    return Table(_COLUMNS, rows, title="Messages received")


def refusal_text(refusal: str | None) -> Text:
    """Return the paragraph that says why there are no counts."""
    return Text(f"Nothing is released. {refusal}", tone=Tone.BAD)


def key_figures(plan: Plan, people: str, result: Result | None) -> tuple[tuple[str, str], ...]:
    """Return the names and values at the beginning of the page of a round.

    Parameters
    ----------
    plan : Plan
        The plan of the round.
    people : str
        The number of people who took part, as text.
    result : Result or None
        The result; None if nothing is released.
    """
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
    """Return the facts on who must be trusted, and on the guarantee that remains otherwise."""
    return {
        "cover": str(plan.cover),
        "hops": plan.hops,
        "minimum_crowd": plan.minimum_crowd,
        "local_epsilon": plan.local_epsilon,
    }


def count_facts(view: CountsView) -> Facts:
    """Return the counts of a round, how they were computed, and their error if it is known."""
    return {
        **message_facts(view.result),
        "standard_error": view.result.estimate.standard_error,
        **view.measure_errors(),
        **view.facts(),
    }
