"""Estimates of every kind of result as columns, for JSON and CSV files.

All kinds of results use ``Estimates.columns``: counts, changes, figures, words, sets and rules,
memoized answers and votes. A new column there appears in the files of all of them.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mixtally.model.estimates import Estimate, Row
from mixtally.report.document import Facts

Columns = dict[str, Sequence[object]]
"""A list for each name, all of one length."""


@dataclass(frozen=True, slots=True)
class Estimates:
    """Estimated numbers of one kind with their errors and intervals.

    Attributes
    ----------
    labels : sequence of str
        The label of each number.
    values : sequence of float
        The unbiased estimates.
    errors : sequence of float or None
        Standard errors; None for a number of which only the interval is known.
    lower, upper : sequence of float
        The ends of the individual intervals, whose level is for each number separately.
    lower_simultaneous, upper_simultaneous : sequence of float or None
        The ends of the simultaneous intervals, whose level is for all numbers together. None for a
        number without such an interval.
    """

    labels: Sequence[str]
    values: Sequence[float]
    errors: Sequence[float | None]
    lower: Sequence[float]
    upper: Sequence[float]
    lower_simultaneous: Sequence[float | None]
    upper_simultaneous: Sequence[float | None]

    def columns(self) -> Columns:
        """Return the columns by name. The files of all kinds of results have these columns."""
        return {
            "label": self.labels,
            "estimate": self.values,
            "standard_error": self.errors,
            "lower": self.lower,
            "upper": self.upper,
            "lower_simultaneous": self.lower_simultaneous,
            "upper_simultaneous": self.upper_simultaneous,
        }

    def shares(self, people: int) -> "Estimates":
        """Return the numbers divided by ``people``, which is known without error."""
        return Estimates(
            self.labels,
            [value / people for value in self.values],
            [_part(error, people) for error in self.errors],
            [end / people for end in self.lower],
            [end / people for end in self.upper],
            [_part(end, people) for end in self.lower_simultaneous],
            [_part(end, people) for end in self.upper_simultaneous],
        )


def _part(value: float | None, people: int) -> float | None:
    return None if value is None else value / people


def estimates_of(
    source: Estimate, labels: Sequence[str], places: Sequence[int] | None = None
) -> Estimates:
    """Return the estimates of all bins, or of those at ``places``, with their ``labels``.

    If the messages contain no information about an estimate, its standard error is None.

    Parameters
    ----------
    source : Estimate
        Estimated counts or changes.
    labels : sequence of str
        The labels of all bins.
    places : sequence of int or None
        The bins to return, in their order; None for all.
    """
    chosen = slice(None) if places is None else list(places)
    errors: list[float | None] = [source.standard_error] * len(labels)
    if source.errors is not None:
        errors = source.errors[chosen].tolist()
    each, simultaneous = source.individual, source.simultaneous
    return Estimates(
        labels,
        source.counts[chosen].tolist(),
        [None if error is None or math.isnan(error) else error for error in errors],
        *(
            end[chosen].tolist()
            for end in (each.lower, each.upper, simultaneous.lower, simultaneous.upper)
        ),
    )


def estimates_of_rows(rows: Iterable[Row]) -> Estimates:
    """Return the estimates, errors and intervals of rows as columns."""
    every = list(rows)
    return Estimates(
        [row.label for row in every],
        [row.estimate for row in every],
        [row.standard_error for row in every],
        [row.lower for row in every],
        [row.upper for row in every],
        [row.lower_simultaneous for row in every],
        [row.upper_simultaneous for row in every],
    )


def rename_columns(columns: Columns, names: Mapping[str, str | None]) -> Columns:
    """Rename the columns of a table.

    Parameters
    ----------
    columns : Columns
        The columns by name.
    names : mapping of str to str or None
        The new names by old name. A column whose new name is None is left out; a column without an
        entry keeps its name.
    """
    kept = {name: names.get(name, name) for name in columns}
    return {new: columns[name] for name, new in kept.items() if new is not None}


def prefix_columns(columns: Columns, prefix: str) -> Columns:
    """Rename the columns of additional numbers: estimate to PREFIX, lower to PREFIX_lower, etc.

    Parameters
    ----------
    columns : Columns
        The columns by their names in ``Estimates.columns``.
    prefix : str
        The prefix of the new names.
    """
    own = rename_columns(columns, {"label": None})
    return {prefix if name == "estimate" else f"{prefix}_{name}": own[name] for name in own}


def rows_of(columns: Mapping[str, Sequence[object]]) -> list[Facts]:
    """Return one flat object for each row."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
