"""Document of the item sets and rules found in a collection.

``app.baskets`` calls `document`. All numbers shown are also in ``BasketFindings.facts``.
"""

from collections.abc import Sequence

from mixtally.lab.simulation.baskets.facts import QUOTIENTS, BasketFindings
from mixtally.report import counts
from mixtally.report.charts import bars_of, intervals_chart
from mixtally.report.counts_view import CHART_BINS, TABLE_BINS
from mixtally.report.document import Document, Facts, Part, Rows, Section, Table, Text, columns
from mixtally.report.numbers import at_least, at_most, error_text, interval_text, number, percent
from mixtally.report.promise import promise_of_result
from mixtally.report.sections import plan_section, promise_sections
from mixtally.report.words import not_promised, promise_paragraphs

_PLAN = (
    "protocol", "users", "bins", "fakes", "flip_probability", "replace_probability",
    "standard_error",
    "messages_per_user", "bytes_per_user", "epsilon", "delta", "delta_lower", "status",
    "assumption", "fingerprint",
)  # fmt: skip


def document(findings: BasketFindings, top: int) -> Document:
    """Return the document of a simulation, or of a publishable result if the truth is missing.

    A terminal shows ``top`` rows of each table.
    """
    items, sets, rules = findings.result.items, findings.sets, findings.rules
    plan = counts.facts(items)
    return findings.document(
        promise=promise_of_result(items),
        key=(
            *counts.key_figures(items),
            ("sets found", f"{len(sets):,}"),
            ("rules", f"{len(rules):,}"),
        ),
        sections=lambda: (
            Section(
                "Sets held together", (_chart(findings), Text(_findings_text(findings), note=True))
            ),
            Section("Rules", (_rules(findings, TABLE_BINS), Text(_RULES, note=True))),
            Section("All sets", (_sets(findings, TABLE_BINS, folded=True),)),
            Section("Single items", (findings.items.table(TABLE_BINS),)),
            plan_section(
                findings.provenance.reason, {name: plan[name] for name in _PLAN if name in plan}
            ),
            *promise_sections(
                promise_paragraphs(items.plan, items.certificate), not_promised(items.plan)
            ),
        ),
        summary=lambda: (_sets(findings, top), _rules(findings, top)),
        prose=(_findings_text(findings), findings.provenance.reason),
        facts=lambda: findings.facts,
        tables=lambda: {
            "items.csv": Rows(findings.items.rows),
            "sets.csv": _csv(sets, ("items", "size", "estimate", "standard_error", *_ENDS)),
            "rules.csv": _csv(rules, ("given", "then", *_RULE_COLUMNS)),
        },
        origin=(items.plan.fingerprint,),
    )


_ENDS = ("lower", "upper")
_ESTIMATE = ("estimate", *_ENDS, "standard_error")
_RULE_COLUMNS = tuple(f"{name}{end}" for name in QUOTIENTS for end in ("", "_lower", "_upper"))
_RULES = (
    "A => B: people who hold A also hold B. Support is the share of all people who hold both; "
    "confidence is the share among those who hold A; lift compares with the share if A and B were "
    "independent. Rules are sorted by the lower end of the confidence."
)


def _csv(rows: Sequence[Facts], names: tuple[str, ...]) -> Rows:
    """Return the CSV table of ``rows``, in which the items of a set are joined in one cell.

    ``names`` are the columns if there are no rows.
    """
    written = [
        {
            key: _join_items(value) if isinstance(value, list) else value
            for key, value in row.items()
        }
        for row in rows
    ]
    return Rows(written, tuple(written[0]) if written else names)


def _join_items(items: Sequence[str]) -> str:
    return " + ".join(items)


def _findings_text(findings: BasketFindings) -> str:
    facts = findings.facts
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
    if findings.truth is None:
        return text
    pairs = sum(row["size"] == 2 for row in facts["sets"])
    text += (
        f" Of {findings.truth.pairs:,} pairs that are truly held by {more} {pairs:,} were found; "
        f"of all sets found {findings.false_positives:,} are not."
    )
    covered, every = findings.coverage()
    if every:
        text += f" {covered:,} of the {every:,} intervals of sets hold the true count."
    return text


def _chart(findings: BasketFindings) -> Part:
    bars = bars_of(findings.sets[:CHART_BINS], lambda row: _join_items(row["items"]))
    if not bars:
        return Text("No set was certainly held by enough people.")
    return intervals_chart(bars, "most frequent sets")


def _sets(findings: BasketFindings, most: int, *, folded: bool = False) -> Table:
    every, shown = findings.sets, findings.sets[:most]
    table = columns(
        shown,
        ("set", lambda row: _join_items(row["items"])),
        ("estimate", lambda row: counts.clip_text(*(row[name] for name in _ESTIMATE))),
        ("standard error", lambda row: error_text(row["standard_error"])),
        (
            f"{percent(findings.result.level)} interval, all sets",
            lambda row: interval_text(row["lower"], row["upper"]),
        ),
        *[("true count", lambda row: f"{row['truth']:,}")] * findings.is_simulated,
    )
    title = f"Sets held together, {counts.shown_text(len(shown), len(every))}"
    return Table(*table, title=title, folded=folded)


def _rules(findings: BasketFindings, most: int) -> Table:
    every, shown = findings.rules, findings.rules[:most]
    level = f"{percent(findings.result.level)} interval"
    table = columns(
        shown,
        ("rule", lambda row: f"{_join_items(row['given'])} => {row['then']}"),
        ("support", lambda row: number(row["support"], 2)),
        ("confidence", lambda row: number(row["confidence"], 2)),
        (level, lambda row: _interval_text(row, "confidence")),
        *[("truth", lambda row: number(row["confidence_truth"], 2))] * findings.is_simulated,
        ("lift", lambda row: number(row["lift"], 2)),
        (level, lambda row: _interval_text(row, "lift")),
    )
    shown_note = counts.shown_text(len(shown), len(every), ranking="the surest")
    return Table(*table, title=f"Rules, {shown_note}")


def _interval_text(row: Facts, name: str) -> str:
    """Return the ends of the interval of ``name`` as text, each rounded outwards."""
    return f"{at_least(row[f'{name}_lower'], 2)} .. {at_most(row[f'{name}_upper'], 2)}"
