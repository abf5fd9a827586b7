"""Charts of counts and changes over time, with one panel for each bin."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mixtally.lab.simulation.trend.trend import Trend
from mixtally.model.estimates import Change, Estimate
from mixtally.report import counts
from mixtally.report.document import Picture
from mixtally.report.panels import Panel, panels_chart


def select_bins(trend: Trend, most: int) -> list[int]:
    """Return the ``most`` bins with the largest counts in all epochs together.

    They are in the order of the question if this order was fixed, otherwise largest first.
    """
    ranked, given = trend.series.rank_bins(), trend.provenance.ordered
    return counts.select_bins(trend.plan.question, ranked, most, labels_given=given)


def counts_chart(trend: Trend, top: int) -> Picture:
    """Return the chart of the ``top`` largest bins' estimates in every epoch."""
    every = [result.estimate for result in trend.series.results]
    truth = None if trend.truth is None else trend.truth.counts
    panels = _panels(trend, top, every, truth)
    return panels_chart("Counts of the largest bins over time", panels, list(trend.epochs))


def changes_chart(trend: Trend, top: int) -> Picture:
    """Return the chart of the ``top`` largest bins' changes from each epoch to the next."""
    # The steps between neighboring epochs come first. One more step may follow, which compares the
    # first epoch with the last.
    every = [step.change for step in trend.steps[: len(trend.epochs) - 1]]
    truth = None if trend.truth is None else np.diff(trend.truth.counts, axis=0)
    panels = _panels(trend, top, every, truth, zero=True)
    return panels_chart("Changes of the largest bins", panels, list(trend.epochs[1:]))


def _panels(
    trend: Trend,
    top: int,
    estimates: Sequence[Estimate | Change],
    truth: NDArray[np.integer] | None,
    *,
    zero: bool = False,
) -> list[Panel]:
    """Return one panel for each bin, with one point for each of ``estimates``.

    ``truth`` has one row for each point. ``zero`` says whether a line at zero is drawn.
    """
    return [
        Panel(
            name=trend.plan.question.label(i),
            values=np.array([one.counts[i] for one in estimates]),
            lower=np.array([one.individual.lower[i] for one in estimates]),
            upper=np.array([one.individual.upper[i] for one in estimates]),
            marks=None if truth is None else truth[:, i],
            zero=zero,
        )
        for i in select_bins(trend, top)
    ]
