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
"""Not shown where all have none of it."""
_BESIDE = 2
"""More columns than these are not read; the front has all that are worth their cost."""
_IN_WORDS = ("name", "protocol", "source", "assumption")


def alternatives_table(answer: Choice) -> FoldingTable:
    """Every number of the plan beside those that are known of the candidates worth a look."""
    others = worthwhile_alternatives(answer.plan, answer.others)[:_BESIDE]
    offers = [answer.plan, *others]
    table = FoldingTable(header_style="bold")
    table.add_column("")
    for place, offer in enumerate(offers):
        table.add_column(offer.name, justify="right", style="bold" if place == 0 else "dim")
    replaced = any(offer.parts[0].replaced is not None for offer in offers)
    every = [
        {**answer.plan.facts(), **answer.plan.errors(answer.count)},
        *(one.facts() for one in others),
    ]
    for name in dict.fromkeys(name for facts in every for name in facts):
        values = [facts[name] for facts in every if name in facts]
        if _is_shown(name, values, replaced=replaced):
            table.add_row(name.replace("_", " "), *[_cell(name, facts) for facts in every])
    return table


def _is_shown(name: str, values: list[Any], *, replaced: bool) -> bool:
    """Whether a fact with these ``values`` is shown, where some plan has some ``replaced``."""
    if name == "cover":
        return len(set(values)) > 1
    if name in ("error_at", "standard_error_at"):
        return replaced
    return name not in _IN_WORDS and (name not in _RARE or any(values))


def _cell(name: str, facts: Mapping[str, Any]) -> str:
    """A fact for people, blank where it is not known; of a list every number that is in it."""
    if name not in facts:
        return ""
    value = facts[name]
    each = value if isinstance(value, list) else [value]
    return ", ".join(dict.fromkeys(format_fact(name, one) for one in each))


def front_table(offers: list[Candidate]) -> FoldingTable:
    """What can be had: error against messages and bytes, and who brings the cover if it differs."""
    differ = len({offer.cover for offer in offers}) > 1
    texts = ["protocol", "cover by"] if differ else ["protocol"]
    numbers = ["standard error", "messages per user", "bytes per user"]
    table = table_of("Within the budget", texts, numbers)
    for offer in offers:
        cover = [str(offer.cover)] if differ else []
        table.add_row(offer.name, *cover, *_costs(offer, offer.error))
    return table


def nearest_table(found: Sequence[Relaxation]) -> FoldingTable:
    """The changes that would make a plan possible."""
    numbers = ["error", "messages per user", "bytes per user"]
    table = table_of("The nearest plans that can be had", ["with", "protocol"], numbers)
    table.columns[0].no_wrap = True
    for near in found:
        table.add_row(near.change, near.plan.name, *_costs(near.plan, near.plan.standard_error))
    return table


def explanation_table(sources: dict[str, str]) -> FoldingTable:
    """Where every number comes from."""
    table = table_of("Where the numbers come from", ["number", "comes from"], [])
    for name, text in sources.items():
        table.add_row(name.replace("_", " "), text)
    return table


def _costs(offer: Costs, error: float) -> list[str]:
    return [
        error_text(error),
        number(offer.messages_per_user, 4),
        number(offer.bytes_per_user, 4),
    ]
