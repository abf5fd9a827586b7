"""Counts over time as one HTML file that opens offline."""

from mixtally.ground.codec import fingerprint
from mixtally.report.page import figures_section
from mixtally.report.parts import (
    document,
    facts_table,
    figures_list,
    folded,
    footer,
    note,
    paragraphs,
    plain_list,
    rows_table,
    section,
)
from mixtally.report.svg import Markup, el
from mixtally.report.trend.chart import STYLE, changes_chart, counts_chart
from mixtally.report.trend.table import spending_cells, spending_head, who
from mixtally.report.trend.trend import Trend
from mixtally.report.words import at_most, not_promised, number, promise

_PANELS = 12
_ROWS = 200


def page(trend: Trend) -> str:
    """The report as HTML text."""
    return document(
        trend.title,
        trend.source,
        _key_figures(trend),
        section(
            "Counts over time",
            counts_chart(trend, _PANELS),
            note(_legend(trend) + trend.findings()),
        ),
        *([_changes(trend)] if trend.steps else []),
        *map(figures_section, trend.figures),
        section(
            "Who spends what",
            rows_table(spending_head(trend), map(spending_cells, trend.spending)),
            note(who(trend)),
        ),
        section(
            "The plan",
            el("p", trend.reason),
            note("One epoch under this plan, planned for the smallest crowd:"),
            facts_table(trend.plan.facts()),
        ),
        section("What is promised", *paragraphs(_promise(trend))),
        section("What is not promised", plain_list(_not_promised(trend))),
        footer(trend.seed, fingerprint(trend.plan)),
        style=STYLE,
    )


def _legend(trend: Trend) -> str:
    rings = "" if trend.truth is None else ", ring: truth"
    return f"Every panel has a scale of its own (line: estimate, bar: interval{rings}). "


def _key_figures(trend: Trend) -> Markup:
    few, many = min(trend.users), max(trend.users)
    figures = [
        ("epochs", f"{len(trend.epochs):,}"),
        ("people an epoch", f"{few:,}" if few == many else f"{few:,} to {many:,}"),
        ("bins", f"{trend.plan.question.bins:,}"),
        ("epsilon, all epochs", at_most(trend.whole.epsilon)),
        ("delta at most", at_most(trend.whole.upper)),
        ("standard error, counts", number(trend.releases[0].estimate.standard_error)),
    ]
    return figures_list(figures)


def _changes(trend: Trend) -> Markup:
    return section(
        "Changes from epoch to epoch",
        changes_chart(trend, _PANELS),
        note(
            "The noise of two collections is in every change. Neighboring changes share one of "
            "them, so they lean against each other."
        ),
        _largest(trend),
    )


def _largest(trend: Trend) -> Markup:
    """Changes that are sure among all of them, the largest first."""
    question = trend.plan.question
    sure = [(step, i) for step in trend.steps for i, held in enumerate(step.change.surely) if held]
    sure.sort(key=lambda item: -abs(item[0].change.counts[item[1]]))
    head = [question.name, "from", "to", "change", "interval", "interval, all"]
    rows = [
        (
            question.label(i), trend.epochs[step.first], trend.epochs[step.last],
            f"{step.change.counts[i]:+,.1f}",
            f"{step.change.each.lower[i]:+,} .. {step.change.each.upper[i]:+,}",
            f"{step.change.together.lower[i]:+,} .. {step.change.together.upper[i]:+,}",
        )
        for step, i in sure[:_ROWS]
    ]  # fmt: skip
    title = f"The {len(rows):,} largest of {len(sure):,} sure changes"
    return folded(title, rows_table(head, rows))


def _promise(trend: Trend) -> list[str]:
    first = (
        f"All of this holds for the {len(trend.epochs):,} epochs together, for a person who takes "
        "part in every one of them and whose answers may differ in every one."
    )
    return [first, *promise(trend.plan, trend.whole)]


def _not_promised(trend: Trend) -> list[str]:
    return [
        *not_promised([trend.plan]),
        "How many people take part in each epoch can be counted by their messages.",
        "Further epochs, of this question or another, spend more.",
    ]
