"""The tables that ``mixtally plan`` prints."""

from collections.abc import Mapping, Sequence
from typing import Any

from mixtally.cli.display import table_of
from mixtally.model.costs import Costs
from mixtally.planning import Candidate, Choice, Relaxation
from mixtally.planning.reason import worthwhile_alternatives
from mixtally.report.folding import FoldingTable
from mixtally.report.numbers import error_text, number
from mixtally.report.words import format_fact

_RARE = ("prime", "digits", "crowd_counted", "messages_per_mix")
"""Facts that are hidden if no plan has a value for them."""
_BESIDE = 2
"""Number of alternatives next to the chosen plan. ``front_table`` lists further plans."""
_IN_WORDS = ("name", "protocol", "source", "assumption")


def alternatives_table(answer: Choice) -> FoldingTable:
    """Return a table with a column for the chosen plan and for each of the best alternatives.

    It has a row for every number of the plans.
    """
    others = worthwhile_alternatives(answer.plan, answer.others)[:_BESIDE]
    offers = [answer.plan, *others]
    table = FoldingTable(header_style="bold")
    table.add_column("")
    for place, offer in enumerate(offers):
        table.add_column(offer.name, justify="right", style="bold" if place == 0 else "dim")
    varied = any(offer.varies_by_count for offer in offers)
    every = [
        {**answer.plan.facts(), **answer.plan.errors(answer.count)},
        *(one.facts() for one in others),
    ]
    for name in dict.fromkeys(name for facts in every for name in facts):
        values = [facts[name] for facts in every if name in facts]
        if _is_shown(name, values, varied=varied):
            table.add_row(name.replace("_", " "), *[_cell(name, facts) for facts in every])
    return table


def _is_shown(name: str, values: list[Any], *, varied: bool) -> bool:
    """Return whether the row of a fact is shown.

    ``values`` are the values of the fact in all plans. ``varied`` says whether any of the plans has
    an error that depends on the count.
    """
    if name == "cover":
        return len(set(values)) > 1
    if name in ("error_at", "standard_error_at"):
        return varied
    return name not in _IN_WORDS and (name not in _RARE or any(values))


def _cell(name: str, facts: Mapping[str, Any]) -> str:
    """Return the text of a fact; an empty text if the plan does not have this fact.

    If the fact is a list, its entries are separated by commas, and equal entries are shown once.
    """
    if name not in facts:
        return ""
    value = facts[name]
    each = value if isinstance(value, list) else [value]
    return ", ".join(dict.fromkeys(format_fact(name, one) for one in each))


def front_table(offers: list[Candidate]) -> FoldingTable:
    """Return the table of feasible plans: standard error, messages, bytes, and who adds the fakes.

    The column on fakes is left out if it is the same for all plans.
    """
    differ = len({offer.cover for offer in offers}) > 1
    texts = ["protocol", "cover by"] if differ else ["protocol"]
    numbers = ["standard error", "messages per user", "bytes per user"]
    table = table_of("Within the budget", texts, numbers)
    for offer in offers:
        cover = [str(offer.cover)] if differ else []
        table.add_row(offer.name, *cover, *_costs(offer, offer.error))
    return table


def nearest_table(found: Sequence[Relaxation]) -> FoldingTable:
    """Return the table of changes to the request that make a plan feasible."""
    numbers = ["error", "messages per user", "bytes per user"]
    table = table_of("The closest feasible requests", ["change", "protocol"], numbers)
    # A change is an option that users copy, so it is never wrapped.
    table.columns[0].no_wrap = True
    for near in found:
        table.add_row(near.change, near.plan.name, *_costs(near.plan, near.plan.standard_error))
    return table


def explanation_table(sources: dict[str, str]) -> FoldingTable:
    """Return a table that states the source of every number of a plan."""
    table = table_of("Where the numbers come from", ["number", "source"], [])
    for name, text in sources.items():
        table.add_row(name.replace("_", " "), text)
    return table


def _costs(offer: Costs, error: float) -> list[str]:
    return [
        error_text(error),
        number(offer.messages_per_user, 4),
        number(offer.bytes_per_user, 4),
    ]
