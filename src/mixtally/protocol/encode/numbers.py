"""Numbers of a range, as they are or cut into equal bins; what lies outside moves to its ends.

Numbers are rounded to a grid by the rule of ``device.contract.grid``, many at once. With t the
place of a number on the grid and u its word, both over what they are counted in,

    up  if  u < floor(2^64 f),  that is  point = floor(t - (u + 1) / 2^64) + 1

In doubles t is off by less than 2^-51 t, below 10^-9, and the word by 2^-52: where t - u / 2^64 is
farther than that from a whole number the decision is certain, and elsewhere, two numbers in 10^8,
it is made exactly. So equal words give equal points, here and on devices.
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

MOST_CUTS = 1_000_000
_EXACT_DIGITS, _DIGITS = 12, 4
"""Digits of the width of a bin within which edges are exact, and to which others are rounded."""
_LONGEST = 16
"""Digits of a number that is written without an exponent."""


@dataclass(frozen=True)
class Range:
    """Numbers from ``low`` to ``high``; raises ParameterError unless low < high are finite."""

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
        """``values`` with what lies outside moved to the nearest end."""
        return np.clip(values, self.low, self.high)


@dataclass(frozen=True)
class Points(Range):
    """Numbers rounded at random to so many ``points`` from ``low`` to ``high``.

    Where it is None, to as many as give the mean the least error. Raises ParameterError as
    ``Range`` does, and unless points lies in [2, 10^6].
    """

    points: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.points is not None:
            do = "leave it out for the least error of the mean"
            in_range("points of a number", self.points, 2, MOST_CUTS, do)


@dataclass(frozen=True)
class Scale(Range):
    """``bins`` bins of equal width from ``low`` to ``high``, each but the last without its end.

    Raises ParameterError as ``Range`` does, and unless bins lies in [2, 10^6].
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
        """That which a plan with these edges has; PlanError where bins are not of equal width."""
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
        """Ends of the bins, shape (bins + 1,): the doubles nearest to the decimals of the labels.

        A number and an edge that are written alike are then one double, so that 0.3 is counted in
        the bin whose label begins with 0.3.
        """
        return np.array([float(text) for text in self._texts])

    @cached_property
    def _texts(self) -> tuple[str, ...]:
        """The edges as decimals.

        Edge i is low + i w with w = (high - low) / bins and both ends as they are written. It is
        exact where ``_EXACT_DIGITS`` digits of w suffice for all edges, and otherwise rounded to
        ``_DIGITS`` digits of w, by which no bin is wider or narrower than w by more than 0.1 %.
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
        """The bins as people write intervals, with the exact decimals of their edges."""
        texts = self._texts
        ends = ")" * (self.bins - 1) + "]"
        pairs = zip(texts, texts[1:], ends, strict=False)
        return tuple(f"[{left}, {right}{end}" for left, right, end in pairs)

    def codes(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """The bin of each value, shape as ``values``."""
        place = np.searchsorted(self.edges, self.clip(values), side="right") - 1
        return np.minimum(place, self.bins - 1).astype(np.int64)


def _format_end(number: float) -> str:
    """The shortest decimal of a double, written like the others."""
    decimal = Decimal(repr(number))
    places = -int(decimal.as_tuple().exponent)
    return _format_decimal(int(decimal.scaleb(places)), places)


def _format_decimal(number: int, places: int) -> str:
    """The decimal number / 10^places, with an exponent where it is very long without."""
    if places < 0:
        number, places = number * 10**-places, 0
    digits = str(abs(number)).rjust(places + 1, "0")
    if len(digits) - places > _LONGEST or places > 2 * _LONGEST:
        return f"{float(Fraction(number, 10**places))!r}"
    sign, whole = "-" * (number < 0), digits[: len(digits) - places]
    part = digits[len(whole) :].rstrip("0")
    return f"{sign}{whole}.{part}" if part else f"{sign}{whole}"


def scale_of_plan(plan: Plan) -> Range | None:
    """How ``plan`` reads numbers; None without them, PlanError where bins are of unequal width."""
    if plan.grid is not None:
        return Points(plan.grid.low, plan.grid.high, plan.grid.points)
    return None if plan.edges is None else Scale.from_edges(plan.edges)


def parse_number(text: str, subject: str) -> float:
    """The number that ``text`` writes; raises DataError for anything else, NaN and inf included."""
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


def round_to_grid(
    grid: Grid, values: NDArray[np.float64], words: NDArray[np.uint64]
) -> NDArray[np.int64]:
    """The point of each of ``values``, finite, by the word beside it; shape as ``values``."""
    inside = np.clip(values, grid.low, grid.high)
    places = (inside - grid.low) / grid.range * (grid.points - 1)
    gaps = places - words.astype(np.float64) * 2.0**-64
    points = np.floor(gaps).astype(np.int64) + 1
    exact = ExactGrid(grid.low, grid.high, grid.points)
    for doubtful in np.flatnonzero(np.abs(gaps - np.rint(gaps)) < _DOUBT).tolist():
        points[doubtful] = exact.round_randomly(float(values[doubtful]), int(words[doubtful]))
    return points
