"""The nearest histogram: no negative count, and a sum that is the number of people."""

import numpy as np
from numpy.typing import NDArray


def nearest_histogram(counts: NDArray[np.float64], total: float) -> NDArray[np.float64]:
    """The point of {x >= 0, sum x = total} nearest to ``counts`` (norm-sub), shape (bins,).

    All counts give up the same amount and those that would fall below zero become zero. Biased:
    small counts are pulled to zero, so it stands beside the unbiased estimate.

    Source: Wang et al., Locally Differentially Private Frequency Estimation with Consistency
    (2020), section 4.4.
    """
    falling = np.sort(counts)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(counts) + 1)
    kept = int(np.flatnonzero(falling > excess)[-1])
    nearest: NDArray[np.float64] = np.maximum(counts - excess[kept], 0.0)
    return nearest
