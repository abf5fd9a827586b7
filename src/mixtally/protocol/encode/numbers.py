"""Numbers of a known range, rounded to a grid or cut into bins of equal width.

The readers of ``lab.data`` and the commands that encode one answer use this module. A number
outside the range is moved to the nearest end.

``round_to_grid`` rounds many numbers to a grid at random, by the rule of ``device.contract.grid``.
Let t be the distance of a number from the low end of the grid in steps, f the fractional part of t,
and u a random 64-bit word. The number is rounded up if u < floor(2^64 f), so its point has the
index

    point = floor(t - (u + 1) / 2^64) + 1.

In double precision t has an error below 2^-51 t, which is below 10^-9, and u / 2^64 has an error
below 2^-52. If t - u / 2^64 is farther from a whole number than these errors, the decision in
doubles is certainly right. Otherwise, for about two numbers in 10^8, the point is computed exactly.
So from equal random words, this function and the devices compute equal points.
"""

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mixtally.device.contract.grid import ContractGrid as ExactGrid
from mixtally.errors import DataError, ParameterError, PlanError, in_range
from mixtally.model.grid import Grid
from mixtally.model.plan import Plan

# The largest number of bins or points for one number.
MOST_CUTS = 1_000_000
_EXACT_DIGITS, _DIGITS = 12, 4
"""Numbers of significant digits of a bin's width. Edges are exact if the first number of digits
suffices for all of them. Otherwise they are rounded to the second number of digits.
"""
_LONGEST = 16
"""The largest number of digits that is written without an exponent."""


@dataclass(frozen=True)
class Range:
    """Numbers from ``low`` to ``high``.

    Raises ParameterError unless both ends are finite and low < high.
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        if not -math.inf < self.low < self.high < math.inf or math.isinf(self.high - self.low):
            raise ParameterError(
                "number",
                expected="two finite numbers, LOW,HIGH with LOW < HIGH",
                got=f"{self.low:g},{self.high:g}",
                do="say where values are cut off",
            )

    def clip(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``values`` with numbers outside the range moved to the nearest end."""
        return np.clip(values, self.low, self.high)


@dataclass(frozen=True)
class Points(Range):
    """A grid of ``points`` equidistant numbers to which values are rounded at random.

    If ``points`` is None, the planner chooses the number of points with the least error of the
    mean. Raises ParameterError unless points lies in [2, 10^6] and the range is valid.
    """

    points: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.points is not None:
            do = "leave it out for the least error of the mean"
            in_range("points of a number", self.points, 2, MOST_CUTS, do)


@dataclass(frozen=True)
class Scale(Range):
    """A range cut into ``bins`` bins of equal width.

    A bin contains its lower edge but not its upper one; the last bin contains both. Raises
    ParameterError unless bins lies in [2, 10^6] and the range is valid.
    """

    bins: int

    def __post_init__(self) -> None:
        super().__post_init__()
        in_range(
            "bins of a number",
            self.bins,
            2,
            MOST_CUTS,
            "twenty is a good start: more bins, more noise in all",
        )

    @classmethod
    def from_edges(cls, edges: tuple[float, ...]) -> "Scale":
        """Return the scale that has these edges.

        Raises PlanError if the edges do not cut a range into bins of equal width.
        """
        found = cls(edges[0], edges[-1], len(edges) - 1)
        if tuple(found.edges.tolist()) != edges:
            raise PlanError(
                "edges of the plan",
                expected="bins of equal width, to read a column of numbers",
                got="others",
                do="recode the column into the labels of the bins",
            )
        return found

    @cached_property
    def edges(self) -> NDArray[np.float64]:
        """The ends of the bins, shape (bins + 1,): the doubles nearest to the decimals in labels.

        A number and an edge that are written in the same way therefore are the same double. For
        example, 0.3 is counted in the bin whose label begins with 0.3.
        """
        return np.array([float(text) for text in self._texts])

    @cached_property
    def _texts(self) -> tuple[str, ...]:
        """The edges as decimal texts.

        Edge i is low + i w, with the width w = (high - low) / bins. If low and w are multiples of
        the place value of digit number ``_EXACT_DIGITS`` of w, all edges are exact. Otherwise the
        inner edges are rounded to the place of digit number ``_DIGITS`` of w. This changes the
        width of a bin by at most 0.1 %.
        """
        low, high = Fraction(repr(self.low)), Fraction(repr(self.high))
        width = (high - low) / self.bins
        first = Decimal(width.numerator) / Decimal(width.denominator)  # its leading digit suffices
        for digits in (_EXACT_DIGITS, _DIGITS):
            places = digits - 1 - first.adjusted()
            unit = Fraction(10) ** places
            start, step = low * unit, width * unit
            if start.denominator == step.denominator == 1:
                break
        common = math.lcm(start.denominator, step.denominator)
        begin, each = int(start * common), int(step * common)
        inner = ((2 * (begin + i * each) + common) // (2 * common) for i in range(1, self.bins))
        first_text, last_text = (_format_end(end) for end in (self.low, self.high))
        return (first_text, *(_format_decimal(number, places) for number in inner), last_text)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the bins: each is an interval between two edges, as text."""
        texts = self._texts
        ends = ")" * (self.bins - 1) + "]"
        pairs = zip(texts, texts[1:], ends, strict=False)
        return tuple(f"[{left}, {right}{end}" for left, right, end in pairs)

    def codes(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the number of the bin of each value, shape as ``values``."""
        place = np.searchsorted(self.edges, self.clip(values), side="right") - 1
        return np.minimum(place, self.bins - 1).astype(np.int64)


def _format_end(number: float) -> str:
    """Return the shortest decimal of an end of the range, as ``_format_decimal`` writes it."""
    decimal = Decimal(repr(number))
    places = -int(decimal.as_tuple().exponent)
    return _format_decimal(int(decimal.scaleb(places)), places)


def _format_decimal(number: int, places: int) -> str:
    """Return number / 10^places as a decimal; a very long one is written with an exponent."""
    if places < 0:
        number, places = number * 10**-places, 0
    digits = str(abs(number)).rjust(places + 1, "0")
    if len(digits) - places > _LONGEST or places > 2 * _LONGEST:
        return f"{float(Fraction(number, 10**places))!r}"
    sign, whole = "-" * (number < 0), digits[: len(digits) - places]
    part = digits[len(whole) :].rstrip("0")
    return f"{sign}{whole}.{part}" if part else f"{sign}{whole}"


def scale_of_plan(plan: Plan) -> Range | None:
    """Return how a plan cuts or rounds numbers; None if the plan does not ask for numbers.

    The result is a ``Points`` if the plan has a grid, and a ``Scale`` if its bins are ranges.

    Raises
    ------
    PlanError
        If the bins of the plan are not of equal width.
    """
    if plan.grid is not None:
        return Points(plan.grid.low, plan.grid.high, plan.grid.points)
    return None if plan.edges is None else Scale.from_edges(plan.edges)


def parse_number(text: str, subject: str) -> float:
    """Return the finite number that a text denotes; raise DataError for any other text.

    Parameters
    ----------
    text : str
        The text to parse, such as ``1234.5``.
    subject : str
        The place of the text for the error message, such as a file and a line.
    """
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise DataError(
            subject,
            expected="a finite number",
            got=repr(text),
            do="write it like 1234.5, or remove the row",
        )
    return value


_DOUBT = 1e-8
"""If t - u / 2^64 is closer to a whole number than this, the point is computed exactly. Errors of
the computation in doubles are below 10^-9."""


def round_to_grid(
    grid: Grid, values: NDArray[np.float64], words: NDArray[np.uint64]
) -> NDArray[np.int64]:
    """Round each finite number to a point of the grid by its random word.

    Parameters
    ----------
    grid : Grid
        The grid to whose points numbers are rounded.
    values : array of float
        Finite numbers of any shape; numbers outside the range are moved to its ends.
    words : array of uint64
        A uniformly random word for each number, in the shape of ``values``.

    Returns
    -------
    array of int
        The index of the point of each value, from 0, in the shape of ``values``.
    """
    inside = np.clip(values, grid.low, grid.high)
    places = (inside - grid.low) / grid.range * (grid.points - 1)
    gaps = places - words.astype(np.float64) * 2.0**-64
    points = np.floor(gaps).astype(np.int64) + 1
    exact = ExactGrid(grid.low, grid.high, grid.points)
    for doubtful in np.flatnonzero(np.abs(gaps - np.rint(gaps)) < _DOUBT).tolist():
        points[doubtful] = exact.round_randomly(float(values[doubtful]), int(words[doubtful]))
    return points
