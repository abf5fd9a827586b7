"""What the collector computes: tallies, estimates, changes, and the rows that are shown."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """How often each bin was set, fakes and noise included.

    where
      counts     shape (bins,), int64
      messages   messages counted, fakes included
      pairs      how many messages had bits i and j set, shape (bins, bins), int64; None where that
                 was not counted
      codes      the bins that ``counts`` are of, ascending, where there are too many for a count
                 each: all others are 0; None where every bin has one
    """

    counts: NDArray[np.int64]
    messages: int
    pairs: NDArray[np.int64] | None = None
    codes: NDArray[np.int64] | None = None

    @property
    def nonzero_counts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The bins that were set, ascending, and how often each was."""
        if self.codes is not None:
            return self.codes, self.counts
        (codes,) = np.nonzero(self.counts)
        return codes.astype(np.int64, copy=False), self.counts[codes]

    def first_bins(self, bins: int) -> "Tally":
        """The counts of the first ``bins`` alone; itself where there are no others."""
        if len(self.counts) == bins:
            return self
        return Tally(self.counts[:bins], self.messages)


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """Whole-number bounds for every bin's true count, shape (bins,) each, at confidence ``level``.

    ``method`` says how they were made.
    """

    lower: NDArray[np.int64]
    upper: NDArray[np.int64]
    level: float
    method: str


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """Unbiased counts with their errors.

    where
      counts           shape (bins,), float64, unbiased, may be negative
      standard_error   of one bin's count, in counts; the largest where they differ
      each             intervals that hold for each bin alone
      together         intervals that hold for all bins at once
      projected        counts moved to the nearest histogram of ``users`` people, None unless asked
      people           how many people took part, where shares of them are shown; None otherwise
    """

    counts: NDArray[np.float64]
    standard_error: float
    individual: Intervals
    simultaneous: Intervals
    projected: NDArray[np.float64] | None = None
    errors: NDArray[np.float64] | None = None
    """Standard error of each bin's count where they differ, shape (bins,); None where alike."""
    people: int | None = None

    def error_of(self, bin_index: int) -> float:
        """Standard error of one bin's count, in counts."""
        return self.standard_error if self.errors is None else float(self.errors[bin_index])

    def row(self, bin_index: int, label: str) -> "Row":
        """One bin's count as it is shown; a count that says nothing has no standard error."""
        error = self.error_of(bin_index)
        stated = None if math.isnan(error) else error
        return make_row(self.counts, stated, self.individual, self.simultaneous, bin_index, label)


@dataclass(frozen=True, slots=True)
class Row:
    """One number that was estimated.

    where
      standard_error       by noise; None where only the interval is known
      lower, upper         the interval of this number alone
      lower_simultaneous,  the interval that holds for all numbers of its kind at once; None where
      upper_simultaneous   there is none
      resolution           what the width of bins leaves open beside the noise, held by the
                           interval: on each side of a mean, of either end of a quantile; None
                           where there is none
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
        """Return this count as a share of ``people``, whose number is known.

        A known number divides the estimate, its standard error and the ends of both intervals
        alike, so that an interval of the share covers exactly when that of the count does.
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
    """Numbers derived from the messages of one collection, which cost no further privacy.

    where
      name    one word for files
      title   for people
      note    what they are and what they rest on
      about   the bins that each row speaks of; empty where they speak of the whole crowd
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
    together: Intervals,
    place: int,
    label: str,
) -> Row:
    """One number of many, with its interval alone and among all."""
    return Row(
        label=label,
        estimate=float(counts[place]),
        standard_error=standard_error,
        lower=int(each.lower[place]),
        upper=int(each.upper[place]),
        lower_simultaneous=int(together.lower[place]),
        upper_simultaneous=int(together.upper[place]),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """The count of the later collection minus that of the earlier one, bin by bin.

    where
      counts           shape (bins,), float64, unbiased
      standard_error   of one bin's change, in counts: the noise of both collections
      each             intervals that hold for each bin alone
      together         intervals that hold for all bins, of all changes looked at, at once
    """

    counts: NDArray[np.float64]
    standard_error: float
    individual: Intervals
    simultaneous: Intervals

    @property
    def significant(self) -> NDArray[np.bool_]:
        """Bins that changed, all intervals taken together, shape (bins,)."""
        changed: NDArray[np.bool_] = (self.simultaneous.lower > 0) | (self.simultaneous.upper < 0)
        return changed

    def row(self, bin_index: int, label: str) -> Row:
        """One bin's change as it is shown."""
        error = self.standard_error
        return make_row(self.counts, error, self.individual, self.simultaneous, bin_index, label)
