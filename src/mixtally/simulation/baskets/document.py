"""What is shown of the sets and rules in a collection; all of it is in the facts."""

from collections.abc import Sequence

import numpy as np

from mixtally.report import counts
from mixtally.report.charts import bars_of, intervals_chart
from mixtally.report.counted import CHART_BINS, TABLE_BINS, Counted
from mixtally.report.document import (
    Document,
    Facts,
    Part,
    Rows,
    Section,
    Table,
    Text,
    closing,
    columns,
)
from mixtally.report.numbers import at_least, at_most, ends, error_text, number, percent
from mixtally.report.promise import of_result
from mixtally.report.sections import promises, the_plan
from mixtally.report.words import not_promised, promise
from mixtally.simulation.baskets.facts import QUOTIENTS
from mixtally.simulation.baskets.found import Found
from mixtally.simulation.truth import Truth

_PLAN = (
    "protocol", "users", "bins", "fakes", "flip_probability", "replace_probability",
    "standard_error",
    "messages_per_user", "bytes_per_user", "epsilon", "delta", "delta_lower", "status",
    "assumption", "fingerprint",
)  # fmt: skip


def document(found: Found, facts: Facts, top: int) -> Document:
    """Everything in ``facts``; a release when none of it needs the truth."""
    simulation = "ghosts" in facts
    sets, rules, plan = facts["sets"], facts["rules"], facts["collection"]
    return Document(
        title=facts["title"],
        source=facts["source"],
        promise=of_result(found.items),
        simulation=simulation,
        key=(
            *counts.key_figures(found.items),
            ("sets found", f"{len(sets):,}"),
            ("rules", f"{len(rules):,}"),
        ),
        sections=lambda: (
            Section("Sets held together", (_chart(facts), Text(_findings(facts), note=True))),
            Section("Rules", (_rules(facts, TABLE_BINS), Text(_RULES, note=True))),
            Section("All sets", (_sets(facts, TABLE_BINS, folded=True),)),
            Section("Single items", (_items(found, facts),)),
            the_plan(facts["reason"], {name: plan[name] for name in _PLAN if name in plan}),
            *promises(
                promise(found.items.plan, found.items.certificate), not_promised(found.items.plan)
            ),
        ),
        summary=lambda: (_sets(facts, top), _rules(facts, top)),
        prose=(_findings(facts), facts["reason"]),
        facts=lambda: facts,
        tables=lambda: {
            "items.csv": Rows(facts["items"]),
            "sets.csv": _csv(sets, ("items", "size", "estimate", "standard_error", *_ENDS)),
            "rules.csv": _csv(rules, ("given", "then", *_RULE_COLUMNS)),
        },
        closing=closing(facts["seed"], plan["fingerprint"]),
    )


_ENDS = ("lower", "upper")
_ESTIMATE = ("estimate", *_ENDS, "standard_error")
_RULE_COLUMNS = tuple(f"{name}{end}" for name in QUOTIENTS for end in ("", "_lower", "_upper"))
_RULES = (
    "A => B: who holds A holds B. Support is the share of all people who hold both; confidence the "
    "share of those who hold A; lift how many times as often as if A and B had nothing to do with "
    "each other. The surest are first: by the lower end of the confidence."
)


def _csv(rows: Sequence[Facts], names: tuple[str, ...]) -> Rows:
    """Rows whose sets are written in one cell."""
    written = [
        {key: _named(value) if isinstance(value, list) else value for key, value in row.items()}
        for row in rows
    ]
    return Rows(written, tuple(written[0]) if written else names)


def _named(items: Sequence[str]) -> str:
    return " + ".join(items)


def _findings(facts: Facts) -> str:
    more = f"more than {facts['support']:,} people" if facts["support"] else "somebody"
    text = (
        f"{len(facts['sets']):,} sets are certainly held by {more}. All intervals of sets and "
        f"rules hold at once with {percent(facts['level'])} confidence."
    )
    if facts["least_confidence"]:
        text += (
            f" {len(facts['rules']):,} of {facts['rules_found']:,} rules have a confidence of "
            f"certainly {facts['least_confidence']:g} or more."
        )
    if "ghosts" not in facts:
        return text
    pairs = sum(row["size"] == 2 for row in facts["sets"])
    text += (
        f" Of {facts['pairs_held']:,} pairs that are truly held by {more} {pairs:,} were found; of "
        f"all sets found {facts['ghosts']:,} are not."
    )
    if facts["covered"] is not None:
        held = round(facts["covered"] * len(facts["sets"]))
        text += f" {held:,} of the {len(facts['sets']):,} intervals of sets hold the true count."
    return text


def _chart(facts: Facts) -> Part:
    bars = bars_of(facts["sets"][:CHART_BINS], lambda row: _named(row["items"]))
    if not bars:
        return Text("No set was certainly held by enough people.")
    return intervals_chart(bars, "most frequent sets")


def _sets(facts: Facts, most: int, *, folded: bool = False) -> Table:
    every, shown = facts["sets"], facts["sets"][:most]
    found = columns(
        shown,
        ("set", lambda row: _named(row["items"])),
        ("estimate", lambda row: counts.clipped(*(row[name] for name in _ESTIMATE))),
        ("standard error", lambda row: error_text(row["standard_error"])),
        (
            f"{percent(facts['level'])} interval, all sets",
            lambda row: ends(row["lower"], row["upper"]),
        ),
        *[("true count", lambda row: f"{row['truth']:,}")] * ("ghosts" in facts),
    )
    title = f"Sets held together, {counts.shown_of(len(shown), len(every))}"
    return Table(*found, title=title, folded=folded)


def _rules(facts: Facts, most: int) -> Table:
    every, shown = facts["rules"], facts["rules"][:most]
    level = f"{percent(facts['level'])} interval"
    found = columns(
        shown,
        ("rule", lambda row: f"{_named(row['given'])} => {row['then']}"),
        ("support", lambda row: number(row["support"], 2)),
        ("confidence", lambda row: number(row["confidence"], 2)),
        (level, lambda row: _between(row, "confidence")),
        *[("truth", lambda row: number(row["confidence_truth"], 2))] * ("ghosts" in facts),
        ("lift", lambda row: number(row["lift"], 2)),
        (level, lambda row: _between(row, "lift")),
    )
    told = counts.shown_of(len(shown), len(every), which="the surest")
    return Table(*found, title=f"Rules, {told}")


def _between(row: Facts, name: str) -> str:
    """Both ends, each rounded to its own side."""
    return f"{at_least(row[f'{name}_lower'], 2)} .. {at_most(row[f'{name}_upper'], 2)}"


def _items(found: Found, facts: Facts) -> Table:
    truth = None
    if "ghosts" in facts:
        truth = Truth(np.array([row["truth"] for row in facts["items"]], dtype=np.int64))
    return Counted(found.items, given=False, truth=truth).table(TABLE_BINS)
