"""Rounding at random: a number goes to one of the two nearest points of a grid, right on average.

Point i of so many ``points`` lies at low + i w, w = (high - low) / (points - 1): the ends are
points themselves. A number y, moved into [low, high], stands at the place

    t = (y - low) / w,    i = floor t,    f = t - i    in [0, 1)

and is sent as point i + 1 with chance f, as point i otherwise: so what is sent is y on average,
and of a spread of w^2 f (1 - f), at most w^2 / 4. The chance is the integer floor(2^64 f) over
2^64, computed exactly from the doubles that y, low and high are: the average is off by less than
w / 2^64.

No privacy is spent. Given y the distribution of a person's messages is the mixture, f to 1 - f, of
those of two bins, and hockey sticks are jointly convex: delta of two numbers is at most that of the
worst pair of bins, whatever f is and however badly it is drawn.
"""

import math
import sys
from typing import NamedTuple

from mixtally.device.contract.fields import Fields, make_refusal
from mixtally.device.contract.part import SCALE

MOST_POINTS = 1_000_000
_LARGEST = sys.float_info.max


class ContractGrid(NamedTuple):
    """So many ``points`` at equal distances, the first at ``low`` and the last at ``high``."""

    low: float
    high: float
    points: int

    def round_randomly(self, number: float, word: int) -> int:
        """The point, counted from 0, to which a finite ``number`` goes by a uniform 64-bit word.

        With all three numbers in one unit, t and f are quotients of integers.
        """
        inside = min(max(number, self.low), self.high)
        ratios = [value.as_integer_ratio() for value in (self.low, inside, self.high)]
        unit = max(below for _, below in ratios)  # powers of two: each of them divides it
        low, y, high = (above * (unit // below) for above, below in ratios)
        point, rest = divmod((y - low) * (self.points - 1), high - low)
        return point + (word < rest * SCALE // (high - low))


def read_grid(value: object, bins: int) -> ContractGrid | None:
    """The grid of a question of so many bins; raises RefusedError for what is none."""
    if value is None:
        return None
    held = Fields(value, "plan.grid", "low high points")
    low, high = (held.number(end, -_LARGEST, _LARGEST, "grid-ends") for end in ("low", "high"))
    if not low < high or math.isinf(high - low):
        expected = "low below high, at a distance that is a double"
        raise make_refusal("grid-ends", "plan.grid", expected, (low, high))
    points = held.whole("points", 2, MOST_POINTS, "grid-points")
    if points != bins:
        raise make_refusal("grid-points", held.at("points"), f"{bins}, one a bin", points)
    return ContractGrid(low, high, points)
