"""Counts and changes over time, a panel a bin."""

import numpy as np

from mixtally.report import counts
from mixtally.report.document import Picture
from mixtally.report.panels import Panel, panels_chart
from mixtally.simulation.trend.trend import Trend


def shown(trend: Trend, most: int) -> list[int]:
    """The largest bins of all epochs, in the order of the question or of their counts."""
    ranked, given = trend.series.ranked(), trend.about.ordered
    return counts.largest(trend.plan.question, ranked, most, given=given)


def counts_chart(trend: Trend, top: int) -> Picture:
    """The estimates of the ``top`` largest bins in every epoch."""
    series = trend.series
    panels = [
        Panel(
            name=trend.plan.question.label(i),
            values=series.counts[:, i],
            lower=np.array([r.estimate.each.lower[i] for r in series.results]),
            upper=np.array([r.estimate.each.upper[i] for r in series.results]),
            marks=None if trend.truth is None else trend.truth[:, i],
        )
        for i in shown(trend, top)
    ]
    return panels_chart("Counts of the largest bins over time", panels, list(trend.epochs))


def changes_chart(trend: Trend, top: int) -> Picture:
    """The change from each epoch to the next of the ``top`` largest bins."""
    steps = trend.steps[: len(trend.epochs) - 1]
    panels = [
        Panel(
            name=trend.plan.question.label(i),
            values=np.array([step.change.counts[i] for step in steps]),
            lower=np.array([step.change.each.lower[i] for step in steps]),
            upper=np.array([step.change.each.upper[i] for step in steps]),
            marks=None
            if trend.truth is None
            else np.array([trend.true_change(step)[i] for step in steps]),
            zero=True,
        )
        for i in shown(trend, top)
    ]
    return panels_chart("Changes of the largest bins", panels, list(trend.epochs[1:]))
