"""The least integer at which a falling divergence meets its target."""

import math
from collections.abc import Callable
from typing import NamedTuple

from mixtally.accounting.numerics.bracket import RELATIVE_SLACK
from mixtally.errors import AccountingError
from mixtally.primitives.fixed_point import SCALE

_FLOOR = 1e-300
_MOST_STEPS = 400
_SLACK = 4.0 * RELATIVE_SLACK
_PAST = 1.05
_DIRECT_STRIDES = 2
"""So many strides are not past, but to where the line says, where it is enough to be near."""
_LEAST_STRIDE, _MOST_STRIDE = 1.02, 4.0
_FAR = 16.0
_ASIDE = 0.4
_NOTHING = 1e-6
"""Of the target: bounds of what was cut off may rise so far below it."""


class Axis(NamedTuple):
    """What a search walks along instead of its integers, and the way back.

    Along a good one sqrt(-log upper) is nearly a line through the origin: that of one over the
    standard deviation of a Gaussian loss.
    """

    along: Callable[[float], float]
    back: Callable[[float], float]


ROOT = Axis(math.sqrt, lambda place: place * place)
"""What hides a person by numbers, as fakes do."""


def _noise_of_threshold(threshold: float) -> float:
    """The standard deviation of a flip, with probability q, over what is left of the truth."""
    q = threshold / SCALE
    return math.sqrt(q * (1.0 - q)) / (1.0 - 2.0 * q)


def _threshold_of_noise(noise: float) -> float:
    square = 4.0 * noise * noise
    root = math.sqrt(1.0 + square)
    return SCALE * square / (2.0 * root * (root + 1.0))


FLIPS = Axis(_noise_of_threshold, _threshold_of_noise)
"""Of a flip probability below 1/2, times 2^64."""


_STEEPEST = 16.0
"""Steeper ones would leave the numbers that there are."""


def steepen_axis(axis: Axis, power: float) -> Axis:
    """Along ``axis`` to the ``power``: where what hides a person grows so."""
    power = min(power, _STEEPEST)
    return Axis(lambda x: axis.along(x) ** power, lambda place: axis.back(place ** (1.0 / power)))


class SearchTolerance(NamedTuple):
    """How far what a search is shown may be from what it stands for.

    where
      slack    what bounds may rise by, relatively, where they should fall
      floor    the same of what is small, in parts of the target
      near     the search ends where its target is met and no more than this share of it is left
    """

    slack: float = _SLACK
    floor: float = _NOTHING
    near: float = 0.0


_SMOOTH = SearchTolerance()


def find_least_meeting(
    upper: Callable[[int], float],
    target: float,
    low: int,
    high: int,
    *,
    start: int,
    tolerance: float = 0.0,
    axis: Axis = ROOT,
    rough: SearchTolerance = _SMOOTH,
) -> int | None:
    """The least x in [low, high] with upper(x) <= target, None when even ``high`` misses it.

    ``upper`` must fall as x grows; AccountingError when it is seen to rise by more than ``rough``
    lets it: bounds fall less smoothly than what they bound.
    The answer has itself been evaluated and meets the target; it lies above the least one by at
    most the relative ``tolerance``, or nearly spends the target. A bracket is grown from ``start``
    by strides along ``axis``, then closed from both sides of where the line through the two nearest
    points meets the target; by halving where that is slow.
    """
    search = _Search(upper, target, rough, axis)
    missing, met = search.bracket(min(max(start, low), high), low, high)
    if met is None or missing is None:
        return met.x if met is not None else None
    return search.close_bracket(missing, met, tolerance)


def usual_cover(epsilon: float, delta: float) -> float:
    """Roughly the hiding ones a bin needs: where a search starts, never where it ends."""
    return 0.5 * math.log(1.0 / delta) / math.tanh(epsilon / 2.0) ** 2


class _Point(NamedTuple):
    """A place that was looked at: ``height`` is above the target's, negative where it misses."""

    x: int
    value: float
    place: float
    height: float


class _Search:
    """Looks at places, and sees to it that what it is shown falls."""

    def __init__(
        self, upper: Callable[[int], float], target: float, rough: SearchTolerance, axis: Axis
    ) -> None:
        self.upper, self.target, self.rough, self.axis = upper, target, rough, axis
        self.top = max(1.0, math.e * target)
        """From here on values are told apart by nothing."""
        self.goal = self._depth(target)
        self.aim = self._depth(target * (1.0 - 0.5 * rough.near)) - self.goal
        """The height that is sought."""

    def _depth(self, value: float) -> float:
        return math.sqrt(max(0.0, -math.log(max(value / self.top, _FLOOR))))

    def _at(self, x: int) -> _Point:
        value = self.upper(x)
        point = _Point(x, value, self.axis.along(x), self._depth(value) - self.goal)
        self._check_falling(point, point)  # a number at least
        return point

    def _meets_target(self, point: _Point) -> bool:
        return point.value <= self.target

    def _is_near_enough(self, point: _Point) -> bool:
        """Whether no better one need be looked for."""
        return self.rough.near * self.target >= self.target - point.value >= 0.0 < self.rough.near

    def _check_falling(self, before: _Point, after: _Point) -> None:
        """Raises AccountingError unless both are numbers and the second is not above the first."""
        most = before.value * (1.0 + self.rough.slack) + self.rough.floor * self.target
        if not 0.0 <= after.value <= most:
            raise AccountingError(
                f"calibration: expected a divergence that falls, got {before.value} at {before.x} "
                f"and {after.value} at {after.x}; nothing may be promised from it"
            )

    def bracket(self, x: int, low: int, high: int) -> tuple[_Point | None, _Point | None]:
        """The last point found to miss the target and the first found to meet it, None for neither;
        a point that nearly spends the target is the only one.

        By strides that grow: at first just past where a line through the origin says, then past
        where the line through the last two does. Where it is enough to be near, not past it.
        """
        point = self._at(x)
        if self._is_near_enough(point):
            return None, point
        down, flat = self._meets_target(point), False
        aimed = _DIRECT_STRIDES if self.rough.near else 0
        past, least = (1.0, 1.0) if aimed else (_PAST, _LEAST_STRIDE)
        end, goal = low if down else high, self.goal + self.aim
        expected = point.place * goal / max(self.goal + point.height, goal / _MOST_STRIDE)
        while point.x != end:
            ratio = max(expected / point.place, 1.0 / _FAR) if point.place > 0.0 else 1.0
            stride = min(max(past * (1.0 / ratio if down else ratio), least), _MOST_STRIDE)
            place = int(self.axis.back(point.place / stride if down else point.place * stride))
            x = max(low, min(point.x - 1, place)) if down else min(high, max(point.x + 1, place))
            if down and flat:  # what no longer changes likely never does
                x = low
            further = self._at(x)
            self._check_falling(*((further, point) if down else (point, further)))
            if self._is_near_enough(further):
                return None, further
            if self._meets_target(further) != down:
                return (further, point) if down else (point, further)
            flat = further.value == point.value
            expected = _crossing(point, further, further.place, self.aim)
            aimed -= 1
            if aimed <= 0:
                past, least = _PAST, max(_LEAST_STRIDE, least * least)
            point = further
        return (None, point) if down else (point, None)

    def close_bracket(self, a: _Point, b: _Point, tolerance: float) -> int:
        """The end of a search between ``a``, which misses, and ``b``, which meets the target."""
        near, other = (a, b) if abs(a.height) < abs(b.height) else (b, a)
        width, halve, slow = b.place - a.place, False, 0
        for step in range(_MOST_STEPS):
            if b.x - a.x <= max(1, math.floor(tolerance * b.x)):
                return b.x
            if step % 3 == 2:
                halve, width = 2.0 * (b.place - a.place) > width, b.place - a.place
                slow += halve
            halve = halve or (slow > 1 and self.rough.near > 0.0)  # a curve of steps
            crossing = _crossing(near, other, math.nan, self.aim)
            x = self._between(a, b, crossing, tolerance, halve=halve)
            halve, point = False, self._at(x)
            if self._is_near_enough(point):
                return x
            self._check_falling(a, point)
            self._check_falling(point, b)
            a, b = (a, point) if self._meets_target(point) else (point, b)
            if abs(point.height) < abs(near.height):
                near, other = point, near
            elif abs(point.height) < abs(other.height):
                other = point
        raise AccountingError(
            f"calibration: no end after {_MOST_STEPS} steps between {a.x} and {b.x}"
        )

    def _between(
        self, a: _Point, b: _Point, crossing: float, tolerance: float, *, halve: bool
    ) -> int:
        """A place strictly between: a little to the side of the crossing where the end is farther,
        so that the next one may close the bracket from the other.
        """
        middle = 0.5 * (a.place + b.place)
        if 0.0 < 2.0 * a.place < b.place:
            middle = math.sqrt(a.place * b.place)
        if halve or b.place > _FAR * a.place:
            crossing = middle
        elif not a.place < crossing < b.place:
            crossing = min(max(_crossing(a, b, middle, self.aim), a.place), b.place)
        aim, aside = self.axis.back(crossing), _ASIDE * tolerance * b.x
        x = math.ceil(aim + aside) if b.x - aim > aim - a.x else math.floor(aim - aside)
        return min(max(x, a.x + 1), b.x - 1)


def _crossing(one: _Point, other: _Point, otherwise: float, aim: float) -> float:
    """Where the line through two points has the height ``aim``, if it rises."""
    rise, run = other.height - one.height, other.place - one.place
    if rise == 0.0 or run == 0.0 or (rise > 0.0) != (run > 0.0):
        return otherwise
    return one.place + (aim - one.height) * run / rise
