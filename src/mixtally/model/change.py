"""How much every bin's count rose between two collections under one plan."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixtally.model.results import Intervals, Row, row_of


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
    each: Intervals
    together: Intervals

    @property
    def significant(self) -> NDArray[np.bool_]:
        """Bins that changed, all intervals taken together, shape (bins,)."""
        changed: NDArray[np.bool_] = (self.together.lower > 0) | (self.together.upper < 0)
        return changed

    def row(self, bin_index: int, label: str) -> Row:
        """One bin's change as it is shown."""
        error = self.standard_error
        return row_of(self.counts, error, self.each, self.together, bin_index, label)
