"""Calibration: the least integer parameter whose delta meets a target.

``calibrate`` and the planner use this search to find the least noise. The searched function is an
upper bound of delta that falls as the parameter grows. The method is a bracketing secant search on
a scale on which the function is nearly linear.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

from mixtally.accounting.numerics.bracket import RELATIVE_SLACK
from mixtally.errors import AccountingError
from mixtally.primitives.fixed_point import SCALE

_FLOOR = 1e-300
"""Least value of which a logarithm is taken."""
_MOST_STEPS = 400
_SLACK = 4.0 * RELATIVE_SLACK
"""Relative rise of two neighboring upper bounds that rounding alone can explain."""
_PAST = 1.05
"""Factor by which a stride goes past the expected crossing, so that it is bracketed."""
_DIRECT_STRIDES = 2
"""Number of strides that aim at the crossing itself, where it suffices to be near the target."""
_LEAST_STRIDE, _MOST_STRIDE = 1.02, 4.0
"""Range of the factor between two consecutive places."""
_FAR = 16.0
"""Ratio of places above which the search halves the bracket geometrically."""
_ASIDE = 0.4
"""Share of the tolerance by which a place lies to the side of the expected crossing."""
_NOTHING = 1e-6
"""Accepted rise, as a share of the target. Bounds include omitted parts, which may rise this
much."""


class Axis(NamedTuple):
    """A scale of the integer parameter, and its inverse.

    On a good scale sqrt(-log upper) is nearly a line through the origin. The inverse of the
    standard deviation of a Gaussian privacy loss is such a scale.
    """

    along: Callable[[float], float]
    back: Callable[[float], float]


ROOT = Axis(math.sqrt, lambda place: place * place)
"""Scale of a number of hiding messages, such as fakes."""


def _noise_of_threshold(threshold: float) -> float:
    """Return sqrt(q (1 - q)) / (1 - 2q), the noise of one flipped bit relative to its signal."""
    q = threshold / SCALE
    return math.sqrt(q * (1.0 - q)) / (1.0 - 2.0 * q)


def _threshold_of_noise(noise: float) -> float:
    """Return the threshold, q times 2^64, of the flip probability that has this noise."""
    square = 4.0 * noise * noise
    root = math.sqrt(1.0 + square)
    return SCALE * square / (2.0 * root * (root + 1.0))


FLIPS = Axis(_noise_of_threshold, _threshold_of_noise)
"""Scale of a flip probability below 1/2, given as an integer over 2^64."""


_STEEPEST = 16.0
"""Largest power of a scale; larger powers would overflow."""


def steepen_axis(axis: Axis, power: float) -> Axis:
    """Return ``axis`` raised to ``power``, for a divergence that falls that much faster."""
    power = min(power, _STEEPEST)
    return Axis(lambda x: axis.along(x) ** power, lambda place: axis.back(place ** (1.0 / power)))


class SearchTolerance(NamedTuple):
    """Tolerances for upper bounds that fall less smoothly than the divergence.

    Attributes
    ----------
    slack
        Relative rise of the bounds that is accepted where they should fall.
    floor
        Additional rise that is accepted, as a share of the target.
    near
        The search ends at a value that meets the target and leaves at most this share of it unused.
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
    """Return the least x in [low, high] with upper(x) <= target.

    A bracket is grown from ``start`` by strides along ``axis``. It is then closed from both sides
    of the place where the line through the two nearest points meets the target. Slow progress is
    ended by halving.

    Parameters
    ----------
    upper : callable
        Upper bound of delta at an integer. It must fall as the integer grows.
    target : float
        Largest delta that is accepted.
    low, high, start : int
        Range of the integer, and the first integer that is tried.
    tolerance : float
        Relative distance from the least solution that is accepted.
    axis : Axis
        Scale on which sqrt(-log upper) is nearly a line through the origin.
    rough : SearchTolerance
        Tolerances for bounds that are not smooth.

    Returns
    -------
    int or None
        An integer that was evaluated and meets the target; None if ``high`` misses the target.

    Raises
    ------
    AccountingError
        If ``upper`` is seen to rise by more than ``rough`` allows, or the search does not end.
    """
    search = _Search(upper, target, rough, axis)
    missing, met = search.bracket(min(max(start, low), high), low, high)
    if met is None or missing is None:
        return met.x if met is not None else None
    return search.close_bracket(missing, met, tolerance)


def usual_cover(epsilon: float, delta: float) -> float:
    """Estimate the number of hiding messages per bin, with which a search starts.

    Parameters
    ----------
    epsilon : float
        The privacy loss in nats.
    delta : float
        The required delta, in (0, 1).
    """
    return 0.5 * math.log(1.0 / delta) / math.tanh(epsilon / 2.0) ** 2


class _Point(NamedTuple):
    """An evaluated place.

    ``height`` is the depth sqrt(-log value) minus the depth of the target; it is negative for a
    miss.
    """

    x: int
    value: float
    place: float
    height: float


class _Search:
    """A search that checks that the evaluated bounds fall."""

    def __init__(
        self, upper: Callable[[int], float], target: float, rough: SearchTolerance, axis: Axis
    ) -> None:
        self.upper, self.target, self.rough, self.axis = upper, target, rough, axis
        self.top = max(1.0, math.e * target)
        """Value from which on all values have depth zero."""
        self.goal = self._depth(target)
        self.aim = self._depth(target * (1.0 - 0.5 * rough.near)) - self.goal
        """Height that is aimed at."""

    def _depth(self, value: float) -> float:
        """Return the depth of an upper bound, sqrt(-log(value / top)).

        The depth is nearly linear along a suitable axis, so that secants find the target.
        """
        return math.sqrt(max(0.0, -math.log(max(value / self.top, _FLOOR))))

    def _at(self, x: int) -> _Point:
        """Evaluate the bound at ``x``."""
        value = self.upper(x)
        point = _Point(x, value, self.axis.along(x), self._depth(value) - self.goal)
        self._check_falling(point, point)  # raises for nan and for a negative number
        return point

    def _meets_target(self, point: _Point) -> bool:
        """Return whether the point meets the target."""
        return point.value <= self.target

    def _is_near_enough(self, point: _Point) -> bool:
        """Return whether the point meets the target and leaves less than ``rough.near`` unused."""
        return self.rough.near * self.target >= self.target - point.value >= 0.0 < self.rough.near

    def _check_falling(self, before: _Point, after: _Point) -> None:
        """Raise AccountingError if the bound rises from the first point to the second.

        ``rough`` says how much it may rise. The error is also raised if a value is not a number.
        """
        most = before.value * (1.0 + self.rough.slack) + self.rough.floor * self.target
        if not 0.0 <= after.value <= most:
            raise AccountingError(
                f"calibration: expected a divergence that falls, got {before.value} at {before.x} "
                f"and {after.value} at {after.x}; nothing may be promised from it"
            )

    def bracket(self, x: int, low: int, high: int) -> tuple[_Point | None, _Point | None]:
        """Return the last point that misses the target and the first point that meets it.

        A point is None if no such point exists in [low, high]. If a point is near enough to the
        target, the result is None and this point. The first stride follows the line through the
        origin, and the next strides follow the line through the last two points. Strides go
        slightly past the crossing, unless a point near the target suffices.
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
            if down and flat:  # a bound that stopped changing is probably constant down to ``low``
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
        """Return the result of a search between a miss ``a`` and ``b``, which meets the target."""
        near, other = (a, b) if abs(a.height) < abs(b.height) else (b, a)
        width, halve, slow = b.place - a.place, False, 0
        for step in range(_MOST_STEPS):
            if b.x - a.x <= max(1, math.floor(tolerance * b.x)):
                return b.x
            # If the last three steps did not halve the bracket, the next one does.
            if step % 3 == 2:
                halve, width = 2.0 * (b.place - a.place) > width, b.place - a.place
                slow += halve
            halve = halve or (slow > 1 and self.rough.near > 0.0)  # a step function
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
            f"calibration: expected at most {_MOST_STEPS} steps, {a.x} to {b.x} remains"
        )

    def _between(
        self, a: _Point, b: _Point, crossing: float, tolerance: float, *, halve: bool
    ) -> int:
        """Return an integer strictly between both ends of the bracket.

        The integer lies a little to the side of the crossing where the farther end is. Then the
        next integer may close the bracket from the other side.
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
    """Return the place where the line through two points has the height ``aim``.

    Return ``otherwise`` if the line does not rise.
    """
    rise, run = other.height - one.height, other.place - one.place
    if rise == 0.0 or run == 0.0 or (rise > 0.0) != (run > 0.0):
        return otherwise
    return one.place + (aim - one.height) * run / rise
