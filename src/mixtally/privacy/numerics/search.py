"""The least integer at which a falling divergence meets its target."""

import math
from collections.abc import Callable

from mixtally.errors import AccountingError
from mixtally.privacy.numerics.bracket import RELATIVE_SLACK

_FLOOR = 1e-300
_MOST_STEPS = 400
_SLACK = 4.0 * RELATIVE_SLACK
_LN_4 = math.log(4.0)
_PAST, _LEAST_STRIDE, _ASIDE = 1.1, 1e-3, 0.4
_NEAR = 1e-8
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
    slope: float | None = None,
) -> int | None:
    """The least x in [low, high] with upper(x) <= target, None when even ``high`` misses it.

    ``upper`` must fall as x grows; AccountingError when it is seen to rise by more than the
    monotonicity ``slack``, relatively: bounds fall less smoothly than what they bound.
    The answer has itself been evaluated and meets the target; it lies above the least one by at
    most the relative ``tolerance``. The bracket is grown from ``start`` by factors of four, or just
    past where the end must be if -d ln upper / d ln x is about ``slope``; then closed by false
    position on log(upper) against log(x), Illinois variant.
    """
    below, above = _grow_bracket(upper, target, low, high, start, slack, slope)
    if above is None or below is None:
        return low if above is not None else None
    (a, at_a), (b, at_b) = below, above
    f, g = _height(at_a, target), _height(at_b, target)
    for step in range(_MOST_STEPS):
        if b - a <= max(1, math.floor(tolerance * b)):
            return b
        middle = _between(a, b, f, g) if step % 4 < 3 else _between(a, b, 0.0, 0.0)
        if slope and step % 4 < 2:  # a little to either side of the end, which closes the bracket
            aside = math.floor(_ASIDE * tolerance * b) * (1 - 2 * (step % 4))
            middle = min(max(middle + aside, a + 1), b - 1)
        value = upper(middle)
        _check_falling((a, at_a), (middle, value), slack)
        _check_falling((middle, value), (b, at_b), slack)
        if value <= target:
            b, at_b, f, g = middle, value, f / 2, _height(value, target)
        else:
            a, at_a, f, g = middle, value, _height(value, target), g / 2
    raise AccountingError(f"calibration: no end after {_MOST_STEPS} steps between {a} and {b}")


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


_Point = tuple[int, float]


def _grow_bracket(
    upper: Callable[[int], float],
    target: float,
    low: int,
    high: int,
    start: int,
    slack: float,
    slope: float | None,
) -> tuple[_Point | None, _Point | None]:
    """The last point found to miss the target and the first found to meet it, None for neither."""
    tries = 0

    def stride(value: float) -> float:
        nonlocal tries
        tries += 1
        if slope is None:
            return 4.0
        missing = abs(_height(value, target)) / slope
        return math.exp(min(_LN_4, max(_PAST * missing, _LEAST_STRIDE) * 2.0 ** (tries - 1)))

    x = min(max(start, low), high)
    point = (x, upper(x))
    _check_falling(point, point, slack)
    if point[1] <= target:
        while point[0] > low:
            lower = max(low, min(point[0] - 1, int(point[0] / stride(point[1]))))
            before = (lower, upper(lower))
            _check_falling(before, point, slack)
            if before[1] > target:
                return before, point
            point = before
        return None, point
    while point[0] < high:
        higher = min(high, int(stride(point[1]) * point[0]) + 1)
        after = (higher, upper(higher))
        _check_falling(point, after, slack)
        if after[1] <= target:
            return point, after
        point = after
    return point, None


def _check_falling(before: _Point, after: _Point, slack: float) -> None:
    """Raises AccountingError unless both are numbers and the second is not above the first."""
    if not 0.0 <= after[1] <= before[1] * (1.0 + slack) + _NOTHING:
        raise AccountingError(
            f"calibration: wanted a divergence that falls, got {before[1]} at {before[0]} and "
            f"{after[1]} at {after[0]}; nothing may be promised from it"
        )


def usual_cover(epsilon: float, delta: float) -> float:
    """Roughly the hiding ones a bin needs: where a search starts, never where it ends."""
    return 0.5 * math.log(1.0 / delta) / math.tanh(epsilon / 2.0) ** 2


def _height(value: float, target: float) -> float:
    return math.log(max(value, _FLOOR) / target)


def _between(a: int, b: int, f: float, g: float) -> int:
    """An integer strictly between a and b near where the line through the heights is zero."""
    share = f / (f - g) if f > 0.0 >= g and f > g else 0.5
    if a > 0 and b > 2 * a:
        nearby = round(math.exp(math.log(a) + share * math.log(b / a)))
    else:
        nearby = a + round((b - a) * share)
    return min(max(nearby, a + 1), b - 1)
