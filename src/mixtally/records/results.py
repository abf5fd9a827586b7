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
      standard_error   of one bin's count, in counts
      each             intervals that hold for each bin alone
      together         intervals that hold for all bins at once
      projected        counts moved to the nearest histogram of ``users`` people, None unless asked
    """

    counts: NDArray[np.float64]
    standard_error: float
    each: Intervals
    together: Intervals
    projected: NDArray[np.float64] | None = None
