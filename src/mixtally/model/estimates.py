"""Tallies, estimates with intervals, changes, and the rows of tables."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixtally.primitives.wide import Numbers


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """The number of messages that set each bin, before fakes and noise are subtracted.

    Fakes are dummy messages.

    Attributes
    ----------
    counts : array of int, shape (bins,)
        The number of messages that set each bin.
    messages : int
        The number of counted messages, fakes included.
    pairs : array of int, shape (bins, bins), or None
        Entry (i, j) is the number of messages that set both bit i and bit j. None if pairs were not
        counted.
    codes : array of int or None
        If there are too many bins for a dense array: the bin of each entry of ``counts``, in
        ascending order. The counts of all other bins are 0. None if ``counts`` has every bin.
    """

    counts: NDArray[np.int64]
    messages: int
    pairs: NDArray[np.int64] | None = None
    codes: Numbers | None = None

    @property
    def nonzero_counts(self) -> tuple[Numbers, NDArray[np.int64]]:
        """The bins with a count above 0, in ascending order, and their counts."""
        if self.codes is not None:
            return self.codes, self.counts
        (codes,) = np.nonzero(self.counts)
        return codes.astype(np.int64, copy=False), self.counts[codes]

    def first_bins(self, bins: int) -> "Tally":
        """Return the tally of the first ``bins`` bins."""
        if len(self.counts) == bins:
            return self
        return Tally(self.counts[:bins], self.messages)


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """Confidence intervals for the true count of every bin, at the confidence ``level``.

    ``lower`` and ``upper`` are integers, shape (bins,). ``method`` names the method that computed
    the intervals.
    """

    lower: NDArray[np.int64]
    upper: NDArray[np.int64]
    level: float
    method: str


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """Unbiased estimates of counts, with their errors and intervals.

    Attributes
    ----------
    counts : array of float, shape (bins,)
        Unbiased estimates, which may be negative.
    standard_error : float
        The standard error of one count, or the largest if they differ.
    individual : Intervals
        Intervals each of which covers its count at the confidence level.
    simultaneous : Intervals
        Intervals that cover all counts together at the confidence level.
    projected : array of float or None
        The possible histogram of the people who took part that is nearest to ``counts``. None if it
        was not requested.
    people : int or None
        The number of people who took part. None if counts are not also shown as shares of people.
    """

    counts: NDArray[np.float64]
    standard_error: float
    individual: Intervals
    simultaneous: Intervals
    projected: NDArray[np.float64] | None = None
    errors: NDArray[np.float64] | None = None
    """The standard error of each count, shape (bins,); None if all are equal."""
    people: int | None = None

    def error_of(self, bin_index: int) -> float:
        """Return the standard error of one bin's count, in counts."""
        return self.standard_error if self.errors is None else float(self.errors[bin_index])

    def row(self, bin_index: int, label: str) -> "Row":
        """Return the row of one bin; a standard error of NaN becomes None in the row."""
        error = self.error_of(bin_index)
        stated = None if math.isnan(error) else error
        return make_row(self.counts, stated, self.individual, self.simultaneous, bin_index, label)


@dataclass(frozen=True, slots=True)
class Row:
    """One estimated number.

    Attributes
    ----------
    standard_error : float or None
        The standard error due to noise. None if only an interval is known.
    lower, upper : float
        The interval of this number.
    lower_simultaneous, upper_simultaneous : float or None
        The interval that covers this number together with all others of its kind.
    resolution : float or None
        For a mean or a quantile: the uncertainty in the unit of the numbers that is due to the
        width of bins or the distance of grid points. The interval already includes it. None for
        other rows.
    """

    label: str
    estimate: float
    lower: float
    upper: float
    standard_error: float | None = None
    lower_simultaneous: float | None = None
    upper_simultaneous: float | None = None
    resolution: float | None = None

    def share_of(self, people: int) -> "Row":
        """Return this count as a share of ``people``, a known number.

        Estimate, standard error and interval ends are divided by the same number. So the interval
        of the share covers the true share exactly when the interval of the count covers the true
        count.
        """

        def part(value: float | None) -> float | None:
            return None if value is None else value / people

        return Row(
            label=self.label,
            estimate=self.estimate / people,
            lower=self.lower / people,
            upper=self.upper / people,
            standard_error=part(self.standard_error),
            lower_simultaneous=part(self.lower_simultaneous),
            upper_simultaneous=part(self.upper_simultaneous),
        )


@dataclass(frozen=True, slots=True)
class Figures:
    """Numbers derived from the messages of one collection, at no further privacy cost.

    Attributes
    ----------
    name : str
        One word, which is the key of these figures in files.
    title : str
        The title for people.
    note : str
        The meaning of the numbers and their assumptions.
    about : tuple of tuples of int
        For each row, the bins that the row refers to. Empty if all rows refer to all people.
    """

    name: str
    title: str
    note: str
    rows: tuple[Row, ...]
    about: tuple[tuple[int, ...], ...] = ()


def make_row(
    counts: NDArray[np.float64],
    standard_error: float | None,
    each: Intervals,
    simultaneous: Intervals,
    place: int,
    label: str,
) -> Row:
    """Return the row of the number at index ``place``, with both of its intervals.

    ``each`` has the individual intervals, and ``simultaneous`` the simultaneous ones.
    """
    return Row(
        label=label,
        estimate=float(counts[place]),
        standard_error=standard_error,
        lower=int(each.lower[place]),
        upper=int(each.upper[place]),
        lower_simultaneous=int(simultaneous.lower[place]),
        upper_simultaneous=int(simultaneous.upper[place]),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Change(Estimate):
    """The counts of a later collection minus those of an earlier one, as unbiased differences.

    The standard error is that of one difference, with the noise of both collections. The
    simultaneous intervals cover all differences of all compared collections together.
    """

    @property
    def significant(self) -> NDArray[np.bool_]:
        """Whether the simultaneous interval of each bin excludes zero, shape (bins,)."""
        changed: NDArray[np.bool_] = (self.simultaneous.lower > 0) | (self.simultaneous.upper < 0)
        return changed
