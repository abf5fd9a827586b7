"""Unbiased random rounding of a number to one of the two nearest points of a grid.

The grid has the points low + i w for i = 0, 1, .., where w = (high - low) / (points - 1). A number
y is first clipped to [low, high]. Let

    t = (y - low) / w,    i = floor t,    f = t - i    in [0, 1).

Point i + 1 is sent with probability f, and point i otherwise. So the sent point has the mean y and
the variance w^2 f (1 - f), which is at most w^2 / 4. The implementation uses the probability
floor(2^64 f) / 2^64, computed exactly from the doubles y, low and high. So the mean differs from y
by less than w / 2^64.

Rounding costs no privacy. For a fixed y, the distribution of a person's messages is a mixture of
the distributions for two bins, with weights f and 1 - f. Hockey-stick divergences are jointly
convex. So delta for two numbers is at most that of the worst pair of bins, for every f.
"""

import math
import sys
from typing import NamedTuple

from mixtally.device.contract.fields import Fields, make_refusal
from mixtally.device.contract.part import SCALE

MOST_POINTS = 1_000_000
_LARGEST = sys.float_info.max


class ContractGrid(NamedTuple):
    """``points`` numbers at equal distances from ``low`` to ``high``."""

    low: float
    high: float
    points: int

    def round_randomly(self, number: float, word: int) -> int:
        """Return the index of the point to which a finite ``number`` is rounded.

        ``word`` is a uniform 64-bit word. The number and the two ends of the grid are converted to
        fractions with a common denominator, so that only integers are compared.
        """
        inside = min(max(number, self.low), self.high)
        ratios = [value.as_integer_ratio() for value in (self.low, inside, self.high)]
        unit = max(below for _, below in ratios)  # powers of two, so each divides the largest
        low, y, high = (above * (unit // below) for above, below in ratios)
        point, rest = divmod((y - low) * (self.points - 1), high - low)
        return point + (word < rest * SCALE // (high - low))


def read_grid(value: object, bins: int) -> ContractGrid | None:
    """Read the grid of a question, or raise RefusedError.

    Parameters
    ----------
    value : object
        The decoded JSON of the grid.
    bins : int
        The number of bins of the question.
    """
    if value is None:
        return None
    fields = Fields(value, "plan.grid", "low high points")
    low, high = (fields.number(end, -_LARGEST, _LARGEST, "grid-ends") for end in ("low", "high"))
    if not low < high or math.isinf(high - low):
        expected = "low below high, at a distance that is a double"
        raise make_refusal("grid-ends", "plan.grid", expected, (low, high))
    points = fields.whole("points", 2, MOST_POINTS, "grid-points")
    if points != bins:
        raise make_refusal("grid-points", fields.at("points"), f"{bins}, one a bin", points)
    return ContractGrid(low, high, points)
