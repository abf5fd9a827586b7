"""Counts over time as one JSON object and as rows of CSV files."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

from mixtally.lab.simulation.trend.trend import Trend
from mixtally.report.counts import figure_rows, precision
from mixtally.report.document import Batches, Column, Facts, Rows, broadcast_columns
from mixtally.report.estimates import estimates_of, estimates_of_rows, rename_columns, rows_of

MOST_LISTED = 200_000
"""Largest number of estimates that JSON lists. CSV files have all of them."""
LARGEST = 1_000
"""Number of bins that shortened JSON lists because they are large.

Up to the same number is listed because of significant changes.
"""
_CHANGE = {"estimate": "change"}


class TrendNumbers:
    """All numbers of a series, as flat JSON objects and as columns for CSV."""

    def __init__(self, trend: Trend) -> None:
        self._trend = trend

    @cached_property
    def listed_bins(self) -> list[int]:
        """The bins that JSON lists, in their order.

        These are all bins, unless the series has more than 200,000 numbers. Then they are the 1,000
        largest bins, and the 1,000 largest of the other bins with a significant change.
        """
        trend = self._trend
        bins, numbers = trend.plan.question.bins, len(trend.epochs) + len(trend.steps)
        if bins * numbers <= MOST_LISTED:
            return self._bins
        ranked = trend.series.rank_bins()
        rest = ranked[LARGEST:]
        changed = rest[trend.series.is_significant[rest]]
        return sorted({*ranked[:LARGEST].tolist(), *changed[:LARGEST].tolist()})

    def _counts(self, bins: list[int]) -> Iterator[dict[str, Column]]:
        """Yield, for each epoch in order, the columns of the counts of ``bins``, by name."""
        trend, labels = self._trend, self._labels_of(bins)
        for epoch, result in enumerate(trend.series.results):
            found = estimates_of(result.estimate, labels, bins).columns()
            true = (
                {} if trend.truth is None else {"truth": trend.truth.counts[epoch][bins].tolist()}
            )
            yield {"epoch": trend.epochs[epoch], "bin": bins, **found, **true}

    def _changes(self, bins: list[int]) -> Iterator[dict[str, Column]]:
        """Yield, for each change in order, its columns of numbers for ``bins``, by name."""
        trend, labels = self._trend, self._labels_of(bins)
        for step in trend.steps:
            found = estimates_of(step.change, labels, bins).columns()
            known = trend.truth is not None
            yield {
                "from": trend.epochs[step.first],
                "to": trend.epochs[step.last],
                "bin": bins,
                **rename_columns(found, _CHANGE),
                "significant": step.change.significant[bins].tolist(),
                **({"truth": trend.true_change(step)[bins].tolist()} if known else {}),
            }

    @cached_property
    def _bins(self) -> list[int]:
        return list(range(self._trend.plan.question.bins))

    @cached_property
    def _labels(self) -> list[str]:
        return [self._trend.plan.question.label(i) for i in self._bins]

    def _labels_of(self, bins: list[int]) -> list[str]:
        return self._labels if bins is self._bins else [self._labels[i] for i in bins]

    @cached_property
    def derived_rows(self) -> dict[str, list[Facts]]:
        """The rows of each figure derived in addition to the counts, by the name of the figure."""
        true = self._trend.true_figures
        return {
            one.name: figure_rows(one, {} if true is None else {"truth": true[one.name]})
            for one in self._trend.series.figures
        }

    def facts(self) -> Facts:
        """Return one JSON object: the plan, what it spends, the counts and the changes."""
        trend, whole = self._trend, self._trend.certificate
        every = len(self.listed_bins) == trend.plan.question.bins
        return {
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
            **({} if trend.truth is None else _measured_facts(trend)),
            **({} if every else {"bins_listed": len(self.listed_bins)}),
            "spending": [
                {"epochs": s.times, "people": s.people, "epsilon": s.epsilon, "delta": s.delta}
                for s in trend.spending
            ],
            "epochs": [
                {
                    "epoch": name,
                    "users": users,
                    "messages": result.messages,
                    "estimates": rows_of(_spread_columns(columns)),
                }
                for name, users, result, columns in zip(
                    trend.epochs,
                    trend.users,
                    trend.series.results,
                    self._counts(self.listed_bins),
                    strict=True,
                )
            ],
            "changes": [
                row
                for columns in self._changes(self.listed_bins)
                for row in rows_of(_spread_columns(columns))
            ],
            **self.derived_rows,
        }

    def tables(self) -> dict[str, Rows | Batches]:
        """Return the CSV tables: one line for each bin of an epoch or change, and for each mean."""
        numbers, true = estimates_of_rows(()).columns(), ("truth",) * self._trend.is_simulated
        changes = "from", "to", "bin", *rename_columns(numbers, _CHANGE), "significant", *true
        return {
            "counts.csv": self._batches(("epoch", "bin", *numbers, *true), self._counts),
            "changes.csv": self._batches(changes, self._changes),
            **{f"{name}.csv": Rows(rows) for name, rows in self.derived_rows.items()},
        }

    def _batches(
        self, names: tuple[str, ...], made: Callable[[list[int]], Iterable[dict[str, Column]]]
    ) -> Batches:
        # A series may have millions of rows, so they are made while they are written.
        return Batches(names, lambda: (list(columns.values()) for columns in made(self._bins)))


def _spread_columns(columns: dict[str, Column]) -> dict[str, Sequence[object]]:
    """Return the columns, in which a value that all rows share is repeated for each row."""
    return dict(zip(columns, broadcast_columns(list(columns.values())), strict=True))


def _measured_facts(trend: Trend) -> Facts:
    return {
        "measured_count_error": trend.count_error(),
        "measured_change_error": trend.change_error(),
        "changes_covered": trend.coverage().share,
    }
