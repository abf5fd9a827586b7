"""The least integer at which a falling divergence meets its target."""

import math
from collections.abc import Callable
from typing import NamedTuple

from mixtally.errors import AccountingError
from mixtally.privacy.numerics.bracket import RELATIVE_SLACK

_FLOOR = 1e-300
_MOST_STEPS = 400
_SLACK = 4.0 * RELATIVE_SLACK
_LN_4 = math.log(4.0)
_PAST, _LEAST_STRIDE, _ASIDE = 1.1, 1e-3, 0.4
_NEAR = 1e-8
_NARROW = 1e-6
_LEAST_NATS = 1e-12
_MOST_LOG = 700.0
_NOTHING = 1e-20
"""Far below any delta that is promised; bounds of what was cut off may rise down there."""


def least_meeting(
    upper: Callable[[int], float],
    target: float,
    low: int,
    high: int,
    *,
    start: int,
    tolerance: float = 0.0,
    slack: float = _SLACK,
    power: float = 1.0,
    limit: int | None = None,
) -> int | None:
    """The least x in [low, high] with upper(x) <= target, None when even ``high`` misses it.

    ``upper`` must fall as x grows; AccountingError when it is seen to rise by more than the
    monotonicity ``slack``, relatively: bounds fall less smoothly than what they bound.
    The answer has itself been evaluated and meets the target; it lies above the least one by at
    most the relative ``tolerance``.

    In u = ``place_of(x, limit)`` log(-log upper) is nearly a line, of about the slope ``power``.
    The bracket is grown from ``start`` just past where that line meets the target, then closed by
    the inverse parabola through three points, or a halving where they lie on none.

    Source: Chandrupatla, A new hybrid quadratic/bisection algorithm (1997).
    """
    line = _Line(upper, target, slack, limit)
    below, above = _grow_bracket(line, low, high, start, power)
    if above is None or below is None:
        return low if above is not None else None
    return _close(line, below, above, tolerance)


def place_of(x: int, limit: int | None) -> float:
    """log(x + 1), less log(limit - x) where the divergence comes to nothing at a ``limit``."""
    return math.log(x + 1) - (0.0 if limit is None else math.log(limit - x))


def placed(u: float, limit: int | None) -> int:
    """What has this place, about."""
    if limit is None:
        return round(math.expm1(min(u, _MOST_LOG)))
    return round(limit / (1.0 + math.exp(min(-u, _MOST_LOG))))


class _Point(NamedTuple):
    """A value that was looked at, where it lies and how far above the target it is."""

    x: int
    u: float
    value: float
    height: float


class _Line:
    """``upper``, seen where it is nearly a line."""

    def __init__(
        self, upper: Callable[[int], float], target: float, slack: float, limit: int | None
    ) -> None:
        self.upper, self.slack, self.limit = upper, slack, limit
        self.cap = max(1.0, math.e * target)
        self.goal = self._log_nats(target)

    def look(self, x: int) -> _Point:
        """``upper`` at ``x``."""
        value = self.upper(x)
        found = _Point(x, place_of(x, self.limit), value, self.goal - self._log_nats(value))
        self.check(found, found)
        return found

    def at(self, u: float) -> int:
        """What lies there, about."""
        return placed(u, self.limit)

    def _log_nats(self, value: float) -> float:
        """log(-log value), of nearly one and of nothing where that is still a number."""
        return math.log(max(-math.log(max(value, _FLOOR) / self.cap), _LEAST_NATS))

    def check(self, before: _Point, after: _Point) -> None:
        """Raises AccountingError unless both are numbers and the second is not above the first."""
        if not 0.0 <= after.value <= before.value * (1.0 + self.slack) + _NOTHING:
            raise AccountingError(
                f"calibration: wanted a divergence that falls, got {before.value} at {before.x} "
                f"and {after.value} at {after.x}; nothing may be promised from it"
            )


def _grow_bracket(
    line: _Line, low: int, high: int, start: int, power: float
) -> tuple[_Point | None, _Point | None]:
    """The last point found to miss the target and the first found to meet it, None for neither."""
    point = line.look(min(max(start, low), high))
    missed = point.height > 0.0
    end, tries = (high if missed else low), 1.0
    while point.x != end:
        stride = min(_LN_4, max(_PAST * abs(point.height) / power, _LEAST_STRIDE) * tries)
        if missed:
            after = line.look(min(high, max(point.x + 1, line.at(point.u + stride))))
            line.check(point, after)
        else:
            after = line.look(max(low, min(point.x - 1, line.at(point.u - stride))))
            line.check(after, point)
        if (after.height > 0.0) != missed:
            return (point, after) if missed else (after, point)
        seen = (point.height - after.height) / (after.u - point.u)
        point, power, tries = after, (seen if seen > 0.0 else power), 2.0 * tries
    return (point, None) if missed else (None, point)


def _close(line: _Line, below: _Point, above: _Point, tolerance: float) -> int:
    """The least that meets the target, between a point that misses it and one that does."""
    one, two, old, share = above, below, above, _secant(above, below)
    for _ in range(_MOST_STEPS):
        if above.x - below.x <= max(1, math.floor(tolerance * above.x)):
            return above.x
        least = 0.5 * max(1.0, tolerance * above.x) / (above.x - below.x)
        share = min(max(share, least), 1.0 - least)
        found = line.look(_between(line, one, two, share))
        line.check(below, found)
        line.check(found, above)
        if found.height > 0.0:
            below = found
        else:
            above = found
        # ``one`` is the latest, ``two`` lies on the other side, ``old`` was replaced.
        if (found.height > 0.0) == (one.height > 0.0):
            old = one
        else:
            two, old = one, two
        one = found
        share = _inverse_parabola(one, two, old)
    raise AccountingError(
        f"calibration: no end after {_MOST_STEPS} steps between {below.x} and {above.x}"
    )


def _between(line: _Line, one: _Point, two: _Point, share: float) -> int:
    """An integer strictly between, so far from ``one`` to ``two``."""
    low, high = min(one.x, two.x), max(one.x, two.x)
    if high - low <= _NARROW * high:
        found = one.x + round(share * (two.x - one.x))
    else:
        found = line.at(one.u + share * (two.u - one.u))
    return min(max(found, low + 1), high - 1)


def _secant(one: _Point, two: _Point) -> float:
    return one.height / (one.height - two.height)


def _inverse_parabola(one: _Point, two: _Point, old: _Point) -> float:
    """Where the parabola through three points is zero, as a share of the way from the first to the
    second; a half where it has several values in between.
    """
    wide, high = old.u - two.u, old.height - two.height
    if wide == 0.0 or high == 0.0:
        return _secant(one, two)
    xi, phi = (one.u - two.u) / wide, (one.height - two.height) / high
    if not (phi * phi < xi and (1.0 - phi) ** 2 < 1.0 - xi):
        return 0.5
    f, g, h = one.height, two.height, old.height
    first = f / (g - f) * h / (g - h)
    return first + (old.u - one.u) / (two.u - one.u) * f / (h - f) * g / (h - g)


def least_epsilon(upper: Callable[[float], float], target: float, low: float, high: float) -> float:
    """An epsilon in [low, high] with upper(epsilon) <= target, which ``high`` meets.

    Above the least one by at most a relative 1e-8, where ``upper`` falls: by false position on
    sqrt(-log delta), which is nearly a line, a little to either side of the end in turns, and by
    halving where that is slow, as at an edge. Nothing but a point that was evaluated and meets
    the target is returned.
    """

    def height(value: float) -> float:
        return math.sqrt(max(0.0, -math.log(max(value, _FLOOR)))) - goal

    goal = math.sqrt(-math.log(target))
    g, f = height(upper(high)), height(upper(low))
    if f >= 0.0:
        return low
    met, slow, width = True, False, high - low
    for step in range(_MOST_STEPS):
        if high - low <= _NEAR * high:
            break
        if step % 3 == 0:
            slow, width = step > 0 and 2.0 * (high - low) > width, high - low
        least = _ASIDE * _NEAR * high
        share = 0.5 if slow else f / (f - g)
        middle = low + (high - low) * share + (-least if met else least)
        middle = min(max(middle, low + least), high - least)
        value = height(upper(middle))
        if value >= 0.0:
            high, g, f, met = middle, value, f / 2 if met else f, True
        else:
            low, f, g, met = middle, value, g if met else g / 2, False
    return high


def usual_cover(epsilon: float, delta: float) -> float:
    """Roughly the hiding ones a bin needs: where a search starts, never where it ends."""
    return 0.5 * math.log(1.0 / delta) / math.tanh(epsilon / 2.0) ** 2
