"""Document of counts over time: lines with intervals, changes, and spending.

``app.epochs`` calls `document`.
"""

import numpy as np

from mixtally.lab.simulation.trend.charts import changes_chart, counts_chart, select_bins
from mixtally.lab.simulation.trend.facts import TrendNumbers
from mixtally.lab.simulation.trend.trend import EpochSpending, Trend
from mixtally.model.result import Step
from mixtally.report import counts
from mixtally.report.document import Cell, Document, Part, Promise, Section, Table, Text, columns
from mixtally.report.numbers import at_most, error_text, interval_text, percent, round_to_error
from mixtally.report.promise import build_promise, error_line
from mixtally.report.sections import plan_section, promise_sections
from mixtally.report.words import not_promised, promise_paragraphs

_PANELS = 12
_ROWS = 200
_MOST_MEANS = 50
_LEANING = (
    "The noise of two collections is in every change. Consecutive changes share one of them: they "
    "are negatively correlated."
)


def document(trend: Trend, top: int) -> Document:
    """Return the document of a simulation, or of a publishable result if the truth is missing.

    A terminal shows the ``top`` largest bins.
    """
    numbers = TrendNumbers(trend)
    return trend.document(
        promise=_lines(trend),
        key=_key_figures(trend),
        sections=lambda: _sections(trend),
        summary=lambda: _summary(trend, top),
        prose=(trend.provenance.reason, *_left_out(numbers.listed_bins, trend)),
        facts=numbers.facts,
        tables=numbers.tables,
        origin=(trend.plan.fingerprint,),
    )


def _left_out(listed: list[int], trend: Trend) -> list[str]:
    """Return a sentence on the bins that JSON does not list, if there are any."""
    bins = trend.plan.question.bins
    if len(listed) == bins:
        return []
    return [
        f"JSON lists {len(listed):,} of {bins:,} bins: the largest and those that changed. "
        "counts.csv and changes.csv have all of them."
    ]


def _lines(trend: Trend) -> Promise:
    """Return the lines of the promise, for all epochs together."""
    found, worst = trend.estimate, trend.worst_change
    note = f", for all {len(trend.epochs):,} epochs together"
    local = trend.plan.local_epsilon_of(len(trend.epochs))
    change = "" if worst is None else f"; of a change {error_text(worst)}"
    third = error_line(found.standard_error, found.individual.level, change)
    return build_promise(
        trend.certificate, local, third, note, "each person's answers in all epochs"
    )


def _sections(trend: Trend) -> tuple[Section, ...]:
    chart = counts_chart(trend, _PANELS)
    return (
        Section("Counts over time", (chart, Text(_legend(trend) + _findings(trend), note=True))),
        *([_changes(trend)] if trend.steps else []),
        *_figures(trend),
        Section("Who spends what", (_spending(trend), Text(_attendance_text(trend), note=True))),
        plan_section(
            trend.provenance.reason,
            trend.plan.facts(),
            note="One epoch under this plan, planned for the smallest crowd:",
        ),
        *promise_sections(_promise(trend), _not_promised(trend)),
    )


def _summary(trend: Trend, top: int) -> tuple[Part, ...]:
    return (
        _counts(trend, top),
        Text(_findings(trend)),
        *(part for one in _figures(trend) for part in one.parts),
        _spending(trend),
        Text(_attendance_text(trend)),
    )


def _legend(trend: Trend) -> str:
    ring = ", ring: true count" * (trend.truth is not None)
    return f"Every panel has its own scale (line: estimate, bar: interval{ring}). "


def _figures(trend: Trend) -> list[Section]:
    figures, level = trend.series.figures, trend.estimate.individual.level
    return counts.figure_sections(figures, level, _MOST_MEANS, trend.true_figures)


def _key_figures(trend: Trend) -> tuple[tuple[str, str], ...]:
    few, many = min(trend.users), max(trend.users)
    return (
        ("epochs", f"{len(trend.epochs):,}"),
        ("people an epoch", f"{few:,}" if few == many else f"{few:,} to {many:,}"),
        ("bins", f"{trend.plan.question.bins:,}"),
        ("epsilon, all epochs", at_most(trend.certificate.epsilon)),
        ("delta at most", at_most(trend.certificate.upper)),
        ("standard error, counts", error_text(trend.estimate.standard_error)),
    )


def _findings(trend: Trend) -> str:
    """Return the main findings in a few sentences."""
    found, bins, worst = trend.estimate, trend.plan.question.bins, trend.worst_change
    text = f"A count has a standard error of {error_text(found.standard_error)}. "
    if worst is not None:
        text += f"A change has one of {error_text(worst)}. "
    text += (
        f"Intervals are {percent(found.individual.level)} for each number alone "
        f"({found.individual.method})."
    )
    if trend.steps:
        text += (
            f" Counting all bins and all changes at once, {trend.series.changed_count:,} of "
            f"{bins:,} "
            "bins have a change that is distinguishable from zero."
        )
    if trend.truth is not None and trend.steps:
        text += " " + trend.coverage().text(found.individual.level, "true change")
    return text


def _changes(trend: Trend) -> Section:
    return Section(
        "Changes from epoch to epoch",
        (changes_chart(trend, _PANELS), Text(_LEANING, note=True), _largest_changes(trend)),
    )


def _largest_changes(trend: Trend) -> Table:
    """Return the table of the significant changes, largest first.

    The significance takes into account that all changes were tested.
    """
    question = trend.plan.question
    significant = [
        (step, i) for step in trend.steps for i in np.flatnonzero(step.change.significant).tolist()
    ]
    significant.sort(key=lambda item: -abs(item[0].change.counts[item[1]]))
    rows = [
        (
            question.label(i),
            trend.epochs[step.first],
            trend.epochs[step.last],
            round_to_error(step.change.counts[i], step.change.standard_error, sign="+"),
            interval_text(step.change.individual.lower[i], step.change.individual.upper[i], "+"),
            interval_text(
                step.change.simultaneous.lower[i], step.change.simultaneous.upper[i], "+"
            ),
        )
        for step, i in significant[:_ROWS]
    ]
    return Table(
        (question.name, "from", "to", "change", "interval", "interval, all"),
        rows,
        words=frozenset({"from", "to"}),
        folded=True,
        title=f"The {len(rows):,} largest of {len(significant):,} significant changes",
    )


def _counts(trend: Trend, top: int) -> Table:
    """Return the table of the ``top`` largest bins: counts, intervals, changes between epochs.

    A star marks a significant change. The significance takes into account that the changes of all
    bins in all epochs were tested.
    """
    question, interval = trend.plan.question, f"{percent(trend.estimate.individual.level)} interval"
    rows: list[list[Cell]] = []
    bins, truth = select_bins(trend, top), None if trend.truth is None else trend.truth.counts
    for i in bins:
        for epoch, result in enumerate(trend.series.results):
            row = result.row(i)
            change = _change(trend.steps[epoch - 1], i) if epoch else ["", ""]
            rows.append(
                [
                    row.label if epoch == 0 else "",
                    trend.epochs[epoch],
                    counts.estimate(row),
                    counts.interval(row),
                    *change,
                    *([] if truth is None else [f"{truth[epoch, i]:,}"]),
                ]
            )
        # With two epochs, the second row already has the change from the first to the last.
        if len(trend.epochs) > 2:
            last = ["", "first-last", "", "", *_change(trend.steps[-1], i)]
            rows.append([*last, *[""] * (truth is not None)])
    true = ["true count"] * (truth is not None)
    return Table(
        (question.name, "epoch", "count", interval, "change", interval, *true),
        rows,
        words=frozenset({"epoch"}),
        title=f"{trend.provenance.title}: {counts.shown_text(len(bins), question.bins)}",
        wide=True,
    )


def _change(step: Step, i: int) -> list[str]:
    found = step.change
    star = " *" if found.significant[i] else "  "
    return [
        f"{round_to_error(found.counts[i], found.standard_error, sign='+')}{star}",
        interval_text(found.individual.lower[i], found.individual.upper[i], "+"),
    ]


def _spending(trend: Trend) -> Table:
    """Return the table of the privacy that people spend, by the number of their epochs."""
    known = trend.spending[-1].people is not None
    shown = columns(
        trend.spending,
        ("epochs taken part in", lambda spent: f"{spent.times:,}"),
        *[("people", lambda spent: f"{spent.people:,}")] * known,
        (f"epsilon at delta {at_most(trend.guarantee.delta, 6)}", _least_epsilon),
        (
            f"delta at epsilon {at_most(trend.guarantee.epsilon, 6)}",
            lambda spent: at_most(spent.delta),
        ),
    )
    return Table(*shown)


def _least_epsilon(spent: EpochSpending) -> str:
    return "above 20" if spent.epsilon is None else at_most(spent.epsilon, 4)


def _attendance_text(trend: Trend) -> str:
    """Return a sentence on what is known about the number of epochs that people took part in."""
    if trend.truth is None:
        return "The worst case is all epochs; people who took part in fewer of them spent less."
    if trend.spending[-1].people is None:
        return (
            "The data does not identify people: anybody may have taken part in one epoch or in "
            "all, and nobody spent more than the last line."
        )
    return "A person pays only for the epochs they took part in; the last line is the worst case."


def _promise(trend: Trend) -> list[str]:
    first = (
        f"All of this holds for the {len(trend.epochs):,} epochs together, for a person who takes "
        "part in every one of them and whose answers may differ in every one."
    )
    return [first, *promise_paragraphs(trend.plan, trend.certificate)]


def _not_promised(trend: Trend) -> list[str]:
    return [
        *not_promised(trend.plan),
        "How many people take part in each epoch can be counted by their messages.",
        "Further epochs, of this question or another, spend more.",
    ]
