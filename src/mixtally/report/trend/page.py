"""Counts over time as one HTML file that opens offline."""

from mixtally.ground.codec import fingerprint
from mixtally.protocols.facts import plan_facts
from mixtally.report.page import document, figures_list, figures_section, section
from mixtally.report.svg import Markup, el
from mixtally.report.trend.chart import STYLE, changes_chart, counts_chart
from mixtally.report.trend.table import spending_cells, who
from mixtally.report.trend.trend import Trend
from mixtally.report.words import at_most, fact, not_promised, number, promise
from mixtally.version import VERSION

_PANELS = 12
_ROWS = 200


def page(trend: Trend) -> str:
    """The report as HTML text."""
    body = el(
        "main",
        el("h1", trend.title),
        el("p", trend.source, class_="source"),
        _key_figures(trend),
        section(
            "Counts over time",
            counts_chart(trend, _PANELS),
            el("p", _legend(trend) + trend.findings(), class_="note"),
        ),
        *([_changes(trend)] if trend.steps else []),
        *map(figures_section, trend.figures),
        section("Who spends what", _spending(trend), el("p", who(trend), class_="note")),
        section("The plan", el("p", trend.reason), _plan_table(trend)),
        section("What is promised", *[el("p", text) for text in _promise(trend)]),
        section("What is not promised", el("ul", *[el("li", t) for t in _not_promised(trend)])),
        el("footer", el("p", _footer(trend))),
    )
    return document(trend.title, body, STYLE)


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
        el(
            "p",
            "The noise of two collections is in every change. Neighboring changes share one of "
            "them, so they lean against each other.",
            class_="note",
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
        el("tr", *[el("td", cell) for cell in (
            question.label(i), trend.epochs[step.first], trend.epochs[step.last],
            f"{step.change.counts[i]:+,.1f}",
            f"{step.change.each.lower[i]:+,} .. {step.change.each.upper[i]:+,}",
            f"{step.change.together.lower[i]:+,} .. {step.change.together.upper[i]:+,}",
        )])
        for step, i in sure[:_ROWS]
    ]  # fmt: skip
    table = el(
        "table",
        el("thead", el("tr", *[el("th", name) for name in head])),
        el("tbody", *rows),
        class_="bins",
    )
    title = f"The {len(rows):,} largest of {len(sure):,} sure changes"
    return el("details", el("summary", title), el("div", table, class_="scroll"))


def _spending(trend: Trend) -> Markup:
    promised = trend.guarantee
    head = ["epochs taken part in"]
    head += [] if trend.spending[-1].people is None else ["people"]
    head += [f"epsilon at delta {promised.delta:g}", f"delta at epsilon {promised.epsilon:g}"]
    rows = [
        el("tr", *[el("td", cell) for cell in spending_cells(trend, spent.times)])
        for spent in trend.spending
    ]
    table = el(
        "table",
        el("thead", el("tr", *[el("th", name) for name in head])),
        el("tbody", *rows),
        class_="bins",
    )
    return el("div", table, class_="scroll")


def _plan_table(trend: Trend) -> Markup:
    hidden = {"source", "assumption"}  # told in words below
    rows = [
        el("tr", el("th", name.replace("_", " ")), el("td", fact(name, value)))
        for name, value in plan_facts(trend.plan, trend.protocol).items()
        if name not in hidden
    ]
    table = el("table", *rows, class_="plan")
    note = "One epoch under this plan, planned for the smallest crowd:"
    return el("div", el("p", note, class_="note"), table, class_="scroll")


def _promise(trend: Trend) -> list[str]:
    first = (
        f"All of this holds for the {len(trend.epochs):,} epochs together, for a person who takes "
        "part in every one of them and whose answers may differ in every one."
    )
    return [first, *promise(trend.plan, trend.whole)]


def _not_promised(trend: Trend) -> list[str]:
    return [
        *not_promised(trend.plan, trend.protocol),
        "How many people take part in each epoch can be counted by their messages.",
        "Further epochs, of this question or another, spend more.",
    ]


def _footer(trend: Trend) -> str:
    chance = "randomness from the operating system" if trend.seed is None else f"seed {trend.seed}"
    return f"mixtally {VERSION}, {chance}, plan {fingerprint(trend.plan)}"
