"""Counts over time on a terminal: the largest bins in every epoch, and what people spend."""

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from mixtally.report.table import figures_table
from mixtally.report.trend.trend import Spent, Step, Trend
from mixtally.report.words import at_most

MOST_MEANS = 50


def counts_table(trend: Trend, top: int) -> Table:
    """The ``top`` largest bins: count, interval and change from the epoch before.

    A star marks a change that is sure among all bins and all changes.
    """
    question, level = trend.plan.question, trend.releases[0].estimate.each.level
    table = Table(
        title=Text(trend.title), title_justify="left", header_style="bold", box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0), pad_edge=False,
    )  # fmt: skip
    table.add_column(Text(question.name))
    table.add_column("epoch", no_wrap=True)
    interval = f"{100 * level:g} % interval"
    for heading in ("count", interval, "change", interval):
        table.add_column(heading, justify="right", no_wrap=True)
    if trend.truth is not None:
        table.add_column("truth", justify="right")
    for i in trend.ranked()[:top].tolist():
        for epoch in range(len(trend.epochs)):
            label = Text(question.label(i) if epoch == 0 else "")
            table.add_row(*_cells(trend, i, label, epoch))
        if len(trend.epochs) > 2:
            table.add_row("", Text("first-last", style="dim"), "", "", *_change(trend.steps[-1], i))
        table.add_section()
    return table


def _cells(trend: Trend, i: int, label: Text, epoch: int) -> list[RenderableType]:
    found = trend.releases[epoch].estimate
    return [
        label,
        Text(trend.epochs[epoch]),
        f"{found.counts[i]:,.1f}",
        f"{found.each.lower[i]:,} .. {found.each.upper[i]:,}",
        *(_change(trend.steps[epoch - 1], i) if epoch else ["", ""]),
        *([] if trend.truth is None else [f"{trend.truth[epoch, i]:,}"]),
    ]


def _change(step: Step, i: int) -> list[RenderableType]:
    found = step.change
    star = " *" if found.surely[i] else "  "
    return [
        f"{found.counts[i]:+,.1f}{star}",
        f"{found.each.lower[i]:+,} .. {found.each.upper[i]:+,}",
    ]


def spending_table(trend: Trend) -> Table:
    """What people spend by the number of epochs they take part in."""
    table = Table(header_style="bold")
    for heading in spending_head(trend):
        table.add_column(heading, justify="right")
    for spent in trend.spending:
        table.add_row(*spending_cells(spent))
    return table


def spending_head(trend: Trend) -> list[str]:
    """The columns of ``spending_cells``; how many people there are only where that is known."""
    people = [] if trend.spending[-1].people is None else ["people"]
    spent = f"epsilon at delta {trend.guarantee.delta:g}"
    left = f"delta at epsilon {trend.guarantee.epsilon:g}"
    return ["epochs taken part in", *people, spent, left]


def spending_cells(spent: Spent) -> list[str]:
    """One row: epochs, how many people, epsilon and delta, rounded up."""
    epsilon = "above 20" if spent.epsilon is None else at_most(spent.epsilon, 4)
    people = [] if spent.people is None else [f"{spent.people:,}"]
    return [f"{spent.times:,}", *people, epsilon, at_most(spent.delta)]


def summary(trend: Trend, top: int) -> RenderableType:
    """Both tables, what they show, and who is who."""
    parts: list[RenderableType] = [counts_table(trend, top), Text(trend.findings())]
    for figures in trend.figures:
        level = trend.releases[0].estimate.each.level
        parts += [figures_table(figures, MOST_MEANS, level), Text(figures.note)]
    parts += [spending_table(trend), Text(who(trend))]
    return Group(*parts)


def who(trend: Trend) -> str:
    """How it is known who took part how often."""
    if trend.spending[-1].people is None:
        return (
            "The data does not say who is who: anybody may have taken part in one epoch or in all, "
            "and nobody spent more than the last line."
        )
    return "A person pays only for the epochs they took part in; the last line is the worst case."
