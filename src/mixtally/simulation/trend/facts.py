"""Counts over time as one JSON object and as rows of CSV files."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from mixtally.records.result import Step
from mixtally.report.counts import figure_rows, precision
from mixtally.report.document import Facts, Rows
from mixtally.report.texts import row_facts
from mixtally.simulation.trend.trend import Trend


class Numbers:
    """All numbers of a series as flat objects, which JSON and CSV share; made once."""

    def __init__(self, trend: Trend) -> None:
        self._trend = trend

    @cached_property
    def counts(self) -> list[list[Facts]]:
        """An object a bin, in the order of the bins, for every epoch."""
        truth = self._trend.truth
        return [
            [
                {"epoch": name, "bin": i, **row_facts(result.row(i)), **_true(truth, (epoch, i))}
                for i in range(result.question.bins)
            ]
            for epoch, (name, result) in enumerate(
                zip(self._trend.epochs, self._trend.series.results, strict=True)
            )
        ]

    @cached_property
    def changes(self) -> list[Facts]:
        """An object a bin, in the order of the bins, for one change after the other."""
        return [row for step in self._trend.steps for row in self._changed(step)]

    def _changed(self, step: Step) -> list[Facts]:
        trend, found, question = self._trend, step.change, self._trend.plan.question
        truth = None if trend.truth is None else trend.true_change(step)
        rows = []
        for i in range(question.bins):
            row = row_facts(found.row(i, question.label(i)))
            change = {"change" if name == "estimate" else name: v for name, v in row.items()}
            rows.append(
                {
                    "from": trend.epochs[step.first],
                    "to": trend.epochs[step.last],
                    "bin": i,
                    **change,
                    "significant": bool(found.significant[i]),
                    **_true(truth, i),
                }
            )
        return rows

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
        trend, whole = self._trend, self._trend.whole
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
            "spending": [
                {"epochs": s.times, "people": s.people, "epsilon": s.epsilon, "delta": s.delta}
                for s in trend.spending
            ],
            "epochs": [
                {
                    "epoch": name,
                    "users": trend.users[i],
                    "messages": trend.series.results[i].messages,
                    "estimates": self.counts[i],
                }
                for i, name in enumerate(trend.epochs)
            ],
            "changes": self.changes,
            **self.derived,
        }

    def tables(self) -> dict[str, Rows]:
        """A line an epoch and bin, a line a change and bin, a line a mean."""
        counts = [row for epoch in self.counts for row in epoch]
        every = {"counts": counts, "changes": self.changes, **self.derived}
        return {f"{name}.csv": Rows(rows) for name, rows in every.items()}


def _measured(trend: Trend) -> Facts:
    return {
        "measured_count_error": trend.count_error(),
        "measured_change_error": trend.change_error(),
        "changes_covered": trend.covered(),
    }


def _true(truth: Any, place: Any) -> Mapping[str, int]:
    """What stands beside a number where the truth is known."""
    return {} if truth is None else {"truth": int(truth[place])}
