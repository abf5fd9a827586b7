"""Numbers rounded at random to a grid, many at once: by the very rule of ``device.contract.grid``.

With t the place of a number on the grid and u its word, both over what they are counted in,

    up  if  u < floor(2^64 f),  that is  point = floor(t - (u + 1) / 2^64) + 1

In doubles t is off by less than 2^-51 t, below 10^-9, and the word by 2^-52: where t - u / 2^64 is
farther than that from a whole number the decision is certain, and elsewhere, two numbers in 10^8,
it is made exactly. So equal words give equal points, here and on devices.
"""

import numpy as np
from numpy.typing import NDArray

from mixtally.device.contract.grid import Grid as ExactGrid
from mixtally.model.grid import Grid

_DOUBT = 1e-8


def rounded(
    grid: Grid, values: NDArray[np.float64], words: NDArray[np.uint64]
) -> NDArray[np.int64]:
    """The point of each of ``values``, finite, by the word beside it; shape as ``values``."""
    inside = np.clip(values, grid.low, grid.high)
    places = (inside - grid.low) / grid.range * (grid.points - 1)
    gaps = places - words.astype(np.float64) * 2.0**-64
    points = np.floor(gaps).astype(np.int64) + 1
    exact = ExactGrid(grid.low, grid.high, grid.points)
    for doubtful in np.flatnonzero(np.abs(gaps - np.rint(gaps)) < _DOUBT).tolist():
        points[doubtful] = exact.rounded(float(values[doubtful]), int(words[doubtful]))
    return points
