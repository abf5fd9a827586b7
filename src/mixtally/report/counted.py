"""Counts and what follows from them as parts of a document: chart, tables, findings, rows of files.

One place for every document that has counts, with true numbers beside them where a lab knows them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mixtally.records.result import Findings
from mixtally.records.results import Figures
from mixtally.report.charts import Bar, rows_chart
from mixtally.report.counts import (
    as_csv,
    count_rows,
    estimate,
    figure_rows,
    figures_table,
    inside,
    interval,
    largest,
    shown_of,
    simultaneous,
)
from mixtally.report.document import Cell, Facts, Marked, Picture, Rows, Table, Text, Tone
from mixtally.report.numbers import supported

CHART_BINS, TABLE_BINS = 30, 1000
"""The most bins that a page draws and lists, the largest."""


class Known(Protocol):
    """True numbers, which a lab alone has."""

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many people are in each bin, shape (bins,)."""

    @property
    def figures(self) -> Mapping[str, Sequence[float | None]]:
        """By the name of the result's figures, a value a row."""

    def inside(self, result: Findings) -> NDArray[np.bool_]:
        """Which bins' own intervals cover the true count, shape (bins,)."""

    def measured_error(self, result: Findings) -> float:
        """Root mean square error over the bins, in counts."""

    def covered(self, result: Findings) -> float:
        """Share of bins whose own interval covers the true count."""

    def covered_text(self, result: Findings) -> str:
        """The same in a sentence, with what chance explains."""


@dataclass(frozen=True, eq=False)
class Counted:
    """A result of counts as it is shown.

    where
      given   whether the order of its bins was given, rather than found in the data
      truth   None in what may be published
    """

    result: Findings
    given: bool = True
    truth: Known | None = None

    def bins(self, most: int) -> list[int]:
        """The ``most`` largest bins: in their order, or from the largest estimate down."""
        return largest(self.result.question, self.result.ranked(), most, given=self.given)

    def chart(self, most: int = CHART_BINS) -> Picture:
        """The ``most`` largest estimates with their intervals; rings at true counts."""
        found, true = self.result.estimate, self.truth
        bars = [
            Bar(
                self.result.question.label(i),
                float(found.counts[i]),
                float(found.each.lower[i]),
                float(found.each.upper[i]),
                None if true is None else float(true.counts[i]),
            )
            for i in self.bins(most)
        ]
        return rows_chart(bars, f"The {len(bars)} largest bins with their intervals")

    def table(self, most: int, lead: str = "") -> Table:
        """The ``most`` largest bins with both intervals; folded where no ``lead`` names it."""
        bins, question = self.bins(most), self.result.question
        found = self.result.estimate
        level = f"{100 * found.each.level:g} % interval"
        columns: dict[str, Sequence[Cell]] = {}
        if found.projected is not None:
            columns["simplex"] = [supported(found.projected[i], found.error_of(i)) for i in bins]
        if self.truth is not None:
            columns |= self._errors(self.truth, bins)
        rows = []
        for place, i in enumerate(bins):
            row = self.result.row(i)
            cells: list[Cell] = [row.label, estimate(row), interval(row), simultaneous(row)]
            rows.append([*cells, *(column[place] for column in columns.values())])
        shown = shown_of(len(bins), question.bins, "" if lead else " bins")
        return Table(
            (question.name, "estimate", level, f"{level}, all bins", *columns),
            rows,
            title=f"{lead}: {shown}" if lead else shown.capitalize(),
            folded=not lead,
        )

    def _errors(self, truth: Known, bins: Sequence[int]) -> dict[str, Sequence[Cell]]:
        """True counts and by how much the estimates shown err; marked where an interval misses."""
        found, true, held = self.result.estimate, truth.counts, truth.inside(self.result)
        errors: list[Cell] = []
        for i in bins:
            value = inside(found.counts[i], found.each.lower[i], found.each.upper[i])
            text = supported(value - true[i], found.error_of(i), sign="+")
            errors.append(text if held[i] else Marked(text, Tone.BAD))
        return {"true count": [f"{true[i]:,}" for i in bins], "error": errors}

    def findings(self, most: int) -> str:
        """What the counts show, in sentences; ``most`` are shown."""
        found, bins = self.result.estimate, self.result.question.bins
        above = int((found.together.lower > 0).sum())
        text = (
            f"Intervals are {100 * found.each.level:g} % for each bin alone "
            f"({found.each.method}). Counting all bins at once, {above:,} of {bins:,} are "
            "distinguishable from zero."
        )
        covered = "" if self.truth is None else self.truth.covered_text(self.result)
        return " ".join(filter(None, (text, self._moved(self.bins(most)), covered)))

    def _moved(self, bins: Sequence[int]) -> str:
        """A sentence on estimates that are displayed where a count can be, empty without one."""
        each, found = self.result.estimate.each, self.result.estimate.counts
        outside = [i for i in bins if not each.lower[i] <= found[i] <= each.upper[i]]
        if not outside:
            return ""
        one = len(outside) == 1
        return (
            f"{len(outside):,} estimate{'' if one else 's'} that no count can be "
            f"{'is' if one else 'are'} shown as the nearest that can; files keep the unbiased "
            f"number{'' if one else 's'}."
        )

    def figures(self, one: Figures, most: int, *, titled: bool) -> tuple[Table, Text]:
        """Numbers derived from the same messages, at most ``most``, and what is said of them."""
        level = self.result.estimate.each.level
        values = {} if self.truth is None else {"true value": self.truth.figures[one.name]}
        shown = figures_table(one, level, most, values, titled=titled)
        return shown, Text(one.note, note=not titled)

    @cached_property
    def rows(self) -> list[Facts]:
        """One flat object a bin, in the order of the bins."""
        return count_rows(self.result, self._beside(None))

    def facts(self) -> Facts:
        """Every count and every number derived beside them, by name."""
        return {
            "estimates": self.rows,
            **{one.name: figure_rows(one, self._beside(one)) for one in self.result.figures},
        }

    def measured(self) -> Facts:
        """How far off the counts are, where the truth is known."""
        if self.truth is None:
            return {}
        return {
            "measured_error": self.truth.measured_error(self.result),
            "covered": self.truth.covered(self.result),
        }

    def tables(self) -> dict[str, Rows]:
        """CSV files: the bins in their order or from the largest down, and every number derived."""
        rows = [self.rows[i] for i in self.bins(len(self.rows))]
        return {
            "estimates.csv": as_csv(rows),
            **{
                f"{one.name}.csv": as_csv(figure_rows(one, self._beside(one)))
                for one in self.result.figures
            },
        }

    def _beside(self, one: Figures | None) -> Mapping[str, Sequence[Any]]:
        if self.truth is None:
            return {}
        return {
            "truth": self.truth.counts.tolist() if one is None else self.truth.figures[one.name]
        }
