"""What the collector holds at the end: the tally and the estimate."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """How often each bin was set, fakes and noise included.

    where
      counts     shape (bins,), int64
      messages   messages counted, fakes included
    """

    counts: NDArray[np.int64]
    messages: int


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """Whole-number bounds for every bin's true count, shape (bins,) each, at confidence ``level``.

    ``method`` says how they were made; ``simultaneous`` whether the level holds for all bins at
    once or for each bin alone.
    """

    lower: NDArray[np.int64]
    upper: NDArray[np.int64]
    level: float
    method: str
    simultaneous: bool


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """Unbiased counts with their errors.

    where
      counts           shape (bins,), float64, unbiased, may be negative
      standard_error   of one bin's count, in counts; the largest where they differ
      each             intervals that hold for each bin alone
      together         intervals that hold for all bins at once
      projected        counts moved to the nearest histogram of ``users`` people, None unless asked
    """

    counts: NDArray[np.float64]
    standard_error: float
    each: Intervals
    together: Intervals
    projected: NDArray[np.float64] | None = None
    errors: NDArray[np.float64] | None = None
    """Standard error of each bin's count where they differ, shape (bins,); None where alike."""

    def error_of(self, bin_index: int) -> float:
        """Standard error of one bin's count, in counts."""
        return self.standard_error if self.errors is None else float(self.errors[bin_index])


@dataclass(frozen=True, slots=True)
class Figure:
    """One number that is no bin's count, with its error and an interval at the table's level.

    where
      standard_error   by noise; None where only the interval is known
      truth            None outside the lab
      resolution       what the width of bins leaves open beside the noise, held by the interval:
                       on each side of a mean, of either end of a quantile; None where there is none
    """

    label: str
    estimate: float
    lower: float
    upper: float
    standard_error: float | None = None
    truth: float | None = None
    resolution: float | None = None


@dataclass(frozen=True, slots=True)
class Figures:
    """Numbers derived from the messages of one release, which cost no further privacy.

    where
      name    one word for files
      title   for people
      note    what they are and what they rest on
    """

    name: str
    title: str
    note: str
    rows: tuple[Figure, ...]
