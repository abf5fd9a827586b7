"""Counts as parts of a document: chart, tables, sentences and rows of files.

All documents with counts use ``CountsView``. Only simulations know true numbers and show them next
to the estimates.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mixtally.model.estimates import Figures
from mixtally.model.result import Result
from mixtally.report.charts import Bar, intervals_chart
from mixtally.report.counts import (
    count_rows,
    estimate,
    figure_rows,
    figure_sections,
    interval,
    select_bins,
    share,
    shares_note,
    shown_text,
    simultaneous,
    truth_cells,
)
from mixtally.report.coverage import Coverage, coverage, measured_error
from mixtally.report.document import Cell, Facts, Part, Picture, Rows, Section, Table, Text
from mixtally.report.numbers import percent, round_to_error

CHART_BINS, TABLE_BINS = 30, 1000
"""The largest numbers of bins that the chart and the table of a page show."""


class TrueNumbers(Protocol):
    """The true numbers of a simulation."""

    @property
    def counts(self) -> NDArray[np.int64]:
        """The number of people in each bin, shape (bins,)."""

    @property
    def figures(self) -> Mapping[str, Sequence[float | None]]:
        """The true value of each row of each figure, by the name of the figure."""


@dataclass(frozen=True, eq=False)
class CountsView:
    """The counts of a result, with the choices of how to show them.

    ``has_given_order`` says whether the order of the bins was fixed in advance rather than found in
    the data. ``truth`` is None in every document that may be published.
    """

    result: Result
    has_given_order: bool = True
    truth: TrueNumbers | None = None

    def bins(self, most: int) -> list[int]:
        """Return the numbers of the ``most`` largest bins.

        They are in the order of the question if this order has a meaning, otherwise largest first.
        """
        return select_bins(
            self.result.question, self.result.rank_bins(), most, labels_given=self.has_given_order
        )

    def chart(self, most: int = CHART_BINS) -> Picture:
        """Draw the ``most`` largest estimates with their intervals, and rings at true counts."""
        bars = [
            Bar(
                *(row.label, row.estimate, row.lower, row.upper),
                None if self.truth is None else float(self.truth.counts[i]),
            )
            for i, row in ((i, self.result.row(i)) for i in self.bins(most))
        ]
        return intervals_chart(bars, "largest bins")

    def table(self, most: int, lead: str = "") -> Table:
        """Return the table of the ``most`` largest bins.

        If ``lead`` is not empty, it is the table's title. Otherwise a page shows the table folded.
        """
        bins, question = self.bins(most), self.result.question
        found = self.result.estimate
        level = f"{percent(found.individual.level)} interval"
        shown = shown_text(len(bins), question.bins, "" if lead else " bins")
        shares = ["share", f"{level}, share"] * (found.people is not None)
        simplex = ["simplex"] * (found.projected is not None)
        errors = ["true count", "error"] * (self.truth is not None)
        return Table(
            (question.name, "estimate", level, f"{level}, all bins", *shares, *simplex, *errors),
            [self._cells(i) for i in bins],
            title=f"{lead}: {shown}" if lead else shown.capitalize(),
            folded=not lead,
        )

    def _cells(self, i: int) -> list[Cell]:
        """Return the cells of one bin: its intervals, then its share, projection and true count.

        The last three are left out if they do not exist.
        """
        found, row = self.result.estimate, self.result.row(i)
        cells: list[Cell] = [row.label, estimate(row), interval(row), simultaneous(row)]
        if found.people is not None:
            cells += share(row, found.people)
        if found.projected is not None:
            cells.append(round_to_error(found.projected[i], found.error_of(i)))
        if self.truth is not None:
            ends = (row.lower, row.upper)
            cells += truth_cells(row.estimate, *ends, row.standard_error, int(self.truth.counts[i]))
        return cells

    def findings(self, most: int) -> str:
        """Describe the counts in sentences; ``most`` is the number of counts that are shown."""
        found, bins = self.result.estimate, self.result.question.bins
        above, method = int((found.simultaneous.lower > 0).sum()), found.simultaneous.method
        how = "" if method == found.individual.method else f" ({method})"
        text = (
            f"Intervals are {percent(found.individual.level)} for each bin alone "
            f"({found.individual.method}). Counting all bins at once{how}, "
            f"{f'{above:,}' if above else 'none'} of {bins:,} are distinguishable from zero."
        )
        level, covered = found.individual.level, self.coverage
        coverage_text = "" if covered is None else covered.text(level)
        moved = self._clipping_note(self.bins(most))
        return " ".join(filter(None, (text, moved, shares_note(found.people), coverage_text)))

    def _clipping_note(self, bins: Sequence[int]) -> str:
        """Return a sentence about estimates outside of their interval; empty if there are none."""
        each, found = self.result.estimate.individual, self.result.estimate.counts
        outside = [i for i in bins if not each.lower[i] <= found[i] <= each.upper[i]]
        if not outside:
            return ""
        one = len(outside) == 1
        return (
            f"{len(outside):,} estimate{'' if one else 's'} outside of the interval "
            f"{'is' if one else 'are'} shown as the nearest end; files contain the unbiased "
            f"number{'' if one else 's'}."
        )

    def section(self, *more: Part) -> Section:
        """Return the section with the chart, the findings and then the parts ``more``."""
        said = Text(self.findings(TABLE_BINS), note=True)
        return Section("Counts", (self.chart(), said, *more))

    def figures(self, most: int | None = None) -> list[Part]:
        """Return the parts of all figures, at most ``most`` rows of each."""
        return [part for one in self.figure_sections(most, note=False) for part in one.parts]

    def figure_sections(self, most: int | None = None, *, note: bool = True) -> list[Section]:
        """Return one section for each figure; ``note`` as in ``counts.figure_sections``."""
        figures, level = self.result.figures, self.result.estimate.individual.level
        true = None if self.truth is None else self.truth.figures
        return figure_sections(figures, level, most, true, note=note)

    @cached_property
    def rows(self) -> list[Facts]:
        """One flat object for each bin, in the order of the bins."""
        return count_rows(self.result, self._truth_column(None))

    @cached_property
    def derived_rows(self) -> dict[str, list[Facts]]:
        """One flat object for each row of each figure, by the name of the figure."""
        return {one.name: figure_rows(one, self._truth_column(one)) for one in self.result.figures}

    def facts(self) -> Facts:
        """Return every count and every figure by name."""
        return {"estimates": self.rows, **self.derived_rows}

    @property
    def coverage(self) -> Coverage | None:
        """How many individual intervals cover the true count; None if true counts are unknown."""
        if self.truth is None:
            return None
        each = self.result.estimate.individual
        return coverage((each.lower, self.truth.counts, each.upper))

    @property
    def measured_error(self) -> float | None:
        """The root mean square error over the bins, in counts; None if true counts are unknown."""
        if self.truth is None:
            return None
        return measured_error(self.result.estimate.counts - self.truth.counts)

    def measure_errors(self) -> Facts:
        """Return the measured error and coverage; empty if true counts are unknown."""
        covered = self.coverage
        if covered is None:
            return {}
        return {"measured_error": self.measured_error, "covered": covered.share}

    def tables(self) -> dict[str, Rows]:
        """Return the rows of the CSV files by name: one file of counts, and one for each figure."""
        ranked = [self.rows[i] for i in self.bins(len(self.rows))]
        every = {"estimates": ranked, **self.derived_rows}
        return {f"{name}.csv": Rows(rows) for name, rows in every.items()}

    def _truth_column(self, one: Figures | None) -> Mapping[str, Sequence[Any]]:
        """Return the column "truth": true values of the figure ``one``, or of the counts if None.

        Without true values, there is no column.
        """
        if self.truth is None:
            return {}
        return {
            "truth": self.truth.counts.tolist() if one is None else self.truth.figures[one.name]
        }
