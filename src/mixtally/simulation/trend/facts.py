"""Counts over time as one JSON object and as rows of CSV files."""

import math
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from mixtally.records.change import Change
from mixtally.records.result import Step
from mixtally.records.results import Estimate
from mixtally.report.counts import figure_rows, precision
from mixtally.report.document import Batches, Column, Facts, Rows
from mixtally.report.texts import row_facts
from mixtally.simulation.trend.trend import Trend

MOST_LISTED = 200_000
"""Numbers of a series that JSON lists; CSV files have all of them."""
LARGEST = 1_000


class Numbers:
    """All numbers of a series as flat objects for JSON, and as columns for CSV."""

    def __init__(self, trend: Trend) -> None:
        self._trend = trend

    @cached_property
    def listed(self) -> list[int]:
        """The bins that JSON lists, in their order.

        All of them, or of a series of more than 200,000 numbers the 1,000 largest and the 1,000
        that are the next largest among those that changed.
        """
        trend = self._trend
        bins, numbers = trend.plan.question.bins, len(trend.epochs) + len(trend.steps)
        if bins * numbers <= MOST_LISTED:
            return list(range(bins))
        ranked = trend.series.ranked()
        rest = ranked[LARGEST:]
        changed = rest[trend.series.significant[rest]]
        return sorted({*ranked[:LARGEST].tolist(), *changed[:LARGEST].tolist()})

    def _counts(self) -> list[list[Facts]]:
        """Return an object a listed bin for every epoch."""
        truth = self._trend.truth
        return [
            [
                {"epoch": name, "bin": i, **row_facts(result.row(i)), **_true(truth, (epoch, i))}
                for i in self.listed
            ]
            for epoch, (name, result) in enumerate(
                zip(self._trend.epochs, self._trend.series.results, strict=True)
            )
        ]

    def _changes(self) -> list[Facts]:
        """Return an object a listed bin for one change after the other."""
        return [row for step in self._trend.steps for row in self._changed(step)]

    def _changed(self, step: Step) -> list[Facts]:
        trend, found, question = self._trend, step.change, self._trend.plan.question
        truth = None if trend.truth is None else trend.true_change(step)
        significant, rows = found.significant, []
        for i in self.listed:
            row = row_facts(found.row(i, question.label(i)))
            change = {_RENAMED.get(name, name): value for name, value in row.items()}
            rows.append(
                {
                    "from": trend.epochs[step.first],
                    "to": trend.epochs[step.last],
                    "bin": i,
                    **change,
                    "significant": bool(significant[i]),
                    **_true(truth, i),
                }
            )
        return rows

    def _count_batches(self) -> Iterator[list[Column]]:
        """Yield the columns of all counts of each epoch."""
        trend, labels = self._trend, self._labels
        for epoch, (name, result) in enumerate(
            zip(trend.epochs, trend.series.results, strict=True)
        ):
            found = result.estimate
            error: Column = _number(found.standard_error)
            if found.errors is not None:
                error = [_number(one) for one in found.errors.tolist()]
            true = [] if trend.truth is None else [trend.truth[epoch].tolist()]
            bins = list(range(len(labels)))
            yield [name, bins, labels, found.counts.tolist(), error, *_ends(found), *true]

    def _change_batches(self) -> Iterator[list[Column]]:
        """Yield the columns of all changes of each step."""
        trend, labels = self._trend, self._labels
        for step in trend.steps:
            found = step.change
            names = trend.epochs[step.first], trend.epochs[step.last]
            true = [] if trend.truth is None else [trend.true_change(step).tolist()]
            yield [
                *names, list(range(len(labels))), labels, found.counts.tolist(),
                found.standard_error, *_ends(found), found.significant.tolist(), *true,
            ]  # fmt: skip

    @cached_property
    def _labels(self) -> list[str]:
        question = self._trend.plan.question
        return [question.label(i) for i in range(question.bins)]

    @cached_property
    def derived(self) -> dict[str, list[Facts]]:
        """By the name of numbers that were derived beside the counts, an object each."""
        true = self._trend.true_figures
        return {
            one.name: figure_rows(one, {} if true is None else {"truth": true[one.name]})
            for one in self._trend.series.figures
        }

    def facts(self) -> Facts:
        """Everything as one JSON object: the plan, what it spends, the counts, the changes."""
        trend, whole, counts = self._trend, self._trend.whole, self._counts()
        every = len(self.listed) == trend.plan.question.bins
        return {
            "title": trend.about.title,
            "source": trend.about.told(simulation=trend.truth is not None),
            "seed": trend.about.seed,
            "reason": trend.about.reason,
            "question": trend.plan.question.name,
            "epsilon": trend.guarantee.epsilon,
            "delta_target": trend.guarantee.delta,
            "delta": whole.upper,
            "delta_lower": whole.lower,
            "observer": whole.observer,
            "status": whole.status,
            "composed_by": whole.source,
            "assumption": whole.assumption,
            "plan": trend.plan.facts(),
            "fingerprint": trend.plan.fingerprint,
            **precision(trend.estimate),
            **({} if trend.truth is None else _measured(trend)),
            **({} if every else {"bins_listed": len(self.listed)}),
            "spending": [
                {"epochs": s.times, "people": s.people, "epsilon": s.epsilon, "delta": s.delta}
                for s in trend.spending
            ],
            "epochs": [
                {
                    "epoch": name,
                    "users": trend.users[i],
                    "messages": trend.series.results[i].messages,
                    "estimates": counts[i],
                }
                for i, name in enumerate(trend.epochs)
            ],
            "changes": self._changes(),
            **self.derived,
        }

    def tables(self) -> dict[str, Rows | Batches]:
        """A line an epoch and bin, a line a change and bin, a line a mean."""
        true = ("truth",) * (self._trend.truth is not None)
        ends = ("lower", "upper", "lower_simultaneous", "upper_simultaneous")
        counts = ("epoch", "bin", "label", "estimate", "standard_error", *ends, *true)
        changes = "from", "to", "bin", "label", "change", "standard_error", *ends, "significant"
        return {
            "counts.csv": Batches(counts, self._count_batches),
            "changes.csv": Batches((*changes, *true), self._change_batches),
            **{f"{name}.csv": Rows(rows) for name, rows in self.derived.items()},
        }


_RENAMED = {"estimate": "change"}


def _ends(found: Estimate | Change) -> list[list[int]]:
    """Return the ends of the intervals of each bin alone and of all at once."""
    intervals = found.each, found.together
    return [end.tolist() for one in intervals for end in (one.lower, one.upper)]


def _number(value: float) -> float | None:
    """Return an error, or None for one that is not known."""
    return None if math.isnan(value) else value


def _measured(trend: Trend) -> Facts:
    return {
        "measured_count_error": trend.count_error(),
        "measured_change_error": trend.change_error(),
        "changes_covered": trend.covered(),
    }


def _true(truth: Any, place: Any) -> Mapping[str, int]:
    """What stands beside a number where the truth is known."""
    return {} if truth is None else {"truth": int(truth[place])}
