"""The least noise of a mechanism that keeps a guarantee: its flip probability, fakes or shape.

The search asks what an upper bound most likely is, and the value it ends at is proved; where
another crowd than expected turns out to be the worst, it goes on from there.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from mixtally.errors import ParameterError
from mixtally.ground.fixed import LEAST_THRESHOLD, MOST_THRESHOLD
from mixtally.privacy.accountant import Accountant, Record, local_epsilon, times
from mixtally.privacy.divergence import CalibrationTarget, divergence_of
from mixtally.privacy.numerics.gaussian_line import Line
from mixtally.privacy.numerics.gaussian_start import Start, gaussian_start
from mixtally.privacy.numerics.least_told import least_told
from mixtally.privacy.numerics.search import FLIPS, ROOT, Axis, Rough, least_meeting, steeper
from mixtally.records.mechanism import Parameter
from mixtally.records.mechanism.fakes import MOST_FAKES, MOST_SHIFT

_RANGES = {
    Parameter.FLIP: (LEAST_THRESHOLD, MOST_THRESHOLD - (MOST_THRESHOLD >> 20)),
    Parameter.FAKES: (0, MOST_FAKES),
    Parameter.SHIFT: (1, MOST_SHIFT),
}
_TOLERANCE = 1e-7
_COMPOSED_TOLERANCE = 1e-4
"""Well below what a rough distribution of losses loses in a search."""
_SLACK = 3e-3
"""Upper bounds by different methods may lie so far apart, relatively."""
_ROUGH_SLACK = 0.5
"""A rough distribution of losses moves epsilon by up to half a percent, so delta by 2 ln(1 / delta)
times as much and more far below the target. What is found is proved, so this hides no promise."""
_COMPOSED = Rough(_ROUGH_SLACK, floor=1e-2, near=1e-2)
"""Of several messages together: a search ends where no more than 1 / 100 of delta is left."""
_MORE_LOOKS = 2
"""How many looks there are besides the first."""
_EXPECTED, _EXPECTED_OF_SETS, _PROVED, _AIMED_PROOFS = 0.972, 0.955, 0.97, 2
"""Where a proof is aimed by what is expected and by a proof; and how many there are at most. Of
sets that lie in many ways few are looked at where it is only expected."""
_ABOVE, _FAR_ABOVE = 1e-3, 2.5e-3
"""What is expected lies above what is proved by about so much, for each nat of delta: the first
where points of one message's curve are exact, the other where they are rough as well."""
_SPENT = 0.9
"""Of delta, what the end of a search must spend to be one after few looks."""
_MISS = 1e-2
_PAST_START = 1.25
"""How far a start, along its axis, may lie from the end of its search."""
_TABLE_SLACK = 1e3
"""A table of integers over 2^64 has a delta of its own, near 1e-17, that rises with its length."""
_MOST_PROOFS = 4
_ROOM = 0.02
"""Of the excess of a proof over what was expected: it decides how many proofs a search takes."""


def calibrate(
    accountant: Accountant,
    record: Record,
    parameter: Parameter,
    epsilon: float,
    delta: float,
    *,
    collections: int = 1,
    tolerance: float = _TOLERANCE,
    most: int | None = None,
) -> Record:
    """``record`` with the least ``parameter`` that keeps the guarantee; its own value is not read.

    The guarantee is for ``collections`` of them together. A flip probability lies above the least
    one by at most the relative ``tolerance``, or a few ten-thousandths where another crowd than
    expected is proved the worst; the fakes of one message are the fewest. Of several messages
    together some hundredths of ``delta`` may be left, which is less than a hundredth of the
    ``parameter``. Nothing above ``most`` is looked at. Raises ParameterError when nothing keeps the
    guarantee.
    """
    low, high = _RANGES[parameter]
    wish = _Wish(
        record.having(parameter, low),
        parameter,
        CalibrationTarget(
            epsilon, delta, times(record) * collections * record.message.mechanism.repeats
        ),
        collections,
        tolerance,
        (low, high if most is None else min(most, high)),
        limited=most is not None,
    )
    found = accountant.remembered(wish, lambda: _found(accountant, wish))
    if found is None:
        raise _nothing(record, parameter, wish.goal)
    return record.having(parameter, found)


def keeps(
    accountant: Accountant, record: Record, epsilon: float, delta: float, collections: int = 1
) -> bool:
    """Whether ``collections`` of ``record`` most likely keep the guarantee.

    Where all messages traced to their senders do, where one alone does not, or what tells the least
    at its distance would not as often, nothing is composed.
    """
    if collections * local_epsilon(record) <= epsilon:
        return True
    if accountant.alone(record, epsilon) > delta:
        return False
    told = times(record) * collections
    if told > 1 and least_told(told, accountant.distance(record), epsilon) > delta:
        return False
    return accountant.expected(record, epsilon, collections, delta) <= delta


class _Wish(NamedTuple):
    """What a search is for, and within which ``ends``; ``limited`` where these were given."""

    record: Record
    parameter: Parameter
    goal: CalibrationTarget
    collections: int
    tolerance: float
    ends: tuple[int, int]
    limited: bool

    def having(self, value: int) -> Record:
        """The record that has this value."""
        return self.record.having(self.parameter, value)

    @property
    def rounds(self) -> int:
        """How many messages of one kind are composed."""
        return times(self.record) * self.collections


def _found(accountant: Accountant, wish: _Wish) -> int | None:
    """The least value that keeps the guarantee; None for none."""
    (low, high), goal = wish.ends, wish.goal
    if high < low:
        return None
    axis = FLIPS if wish.parameter is Parameter.FLIP else ROOT
    start = _start(accountant, wish, axis)
    if (wish.limited and not _inside(start, high, axis)) and not keeps(
        accountant, wish.having(high), goal.epsilon, goal.delta, wish.collections
    ):
        return None  # without a look at fewer

    def expected(value: int) -> float:
        return accountant.expected(wish.having(value), goal.epsilon, wish.collections, goal.delta)

    def upper(value: int) -> float:
        return accountant.upper(wish.having(value), goal.epsilon, wish.collections, goal.delta)

    tolerance = wish.tolerance
    if goal.times > 1:
        tolerance = max(tolerance, _COMPOSED_TOLERANCE)
    elif wish.parameter is Parameter.FAKES:
        tolerance = 0.0
    rough = _COMPOSED if wish.rounds > 1 else Rough(_SLACK)
    rough = rough._replace(slack=_TABLE_SLACK) if wish.parameter is Parameter.SHIFT else rough
    axis = steeper(axis, start.power)
    begun = min(max(start.x, low), high)
    if wish.rounds > 1 and abs(start.miss) < _MISS:
        rise = _FAR_ABOVE if accountant.roughly(wish.record) else _ABOVE
        rise = 0.0 if accountant.sketches else rise  # where what is expected is all there is
        begun, proved = _after_few_looks(axis, begun, expected, upper, wish, rise)
        if proved:
            return begun
    search = partial(least_meeting, low=low, high=high, tolerance=tolerance, axis=axis)
    return _least_proved(search, expected, upper, goal.delta, begun, rough)


def _after_few_looks(
    axis: Axis,
    x: int,
    expected: Callable[[int], float],
    upper: Callable[[int], float],
    wish: _Wish,
    rise: float,
) -> tuple[int, bool]:
    """Where a look or two, then one proof, say that a search ends; whether that is proved to spend
    nearly all of delta.

    where
      rise   for each nat of delta, how far what is expected lies above what is proved
    """
    (low, high), delta = wish.ends, wish.goal.delta
    usual = _EXPECTED_OF_SETS if _several(wish.record) else _EXPECTED
    target, line = usual * delta ** (1.0 - rise), Line(axis, wish.goal.epsilon)
    line.add(x, expected(x))
    for _ in range(_MORE_LOOKS):
        aim = line.aim(target)
        if line.is_near(target) or not low <= aim <= high:
            break
        x = aim
        line.add(x, expected(x))
    for _ in range(_AIMED_PROOFS):
        aim = line.aim(target)
        if not (line.is_near(target) and low <= aim <= high):
            break
        x, target = aim, _PROVED * delta
        value = upper(x)
        if _SPENT * delta <= value <= delta:
            return x, True
        line.move(x, value)
    return x, False


def _start(accountant: Accountant, wish: _Wish, axis: Axis) -> Start:
    """Where a search begins."""
    goal = wish.goal
    start = divergence_of(wish.record.message).start(wish.record.message, wish.parameter, goal)
    alone = wish.rounds == 1 and not _several(wish.record)
    unknown = Start(start, 1.0, math.nan)
    if wish.parameter is Parameter.SHIFT or alone:
        return unknown
    begin = gaussian_start(
        lambda value: accountant.distance(wish.having(value)),
        wish.rounds,
        goal.epsilon,
        goal.delta,
        *wish.ends,
        start=start,
        axis=axis,
    )
    return begin or unknown


def _inside(start: Start, high: int, axis: Axis) -> bool:
    """Whether a search from ``start`` likely ends below ``high``."""
    return abs(start.miss) < _MISS and axis.along(start.x) * _PAST_START < axis.along(high)


def _least_proved(
    search: Callable[..., int | None],
    expected: Callable[[int], float],
    upper: Callable[[int], float],
    delta: float,
    start: int,
    rough: Rough,
) -> int | None:
    """The least value that is expected to keep ``delta`` and is proved to; None for none."""
    target = delta
    for _ in range(_MOST_PROOFS):
        found = search(expected, target, start=start, rough=rough)
        if found is None:
            return None
        proved = upper(found)
        if proved <= delta:
            return found
        # Another crowd was worse than expected. The excess is another at the next end: some room.
        margin = max(_TOLERANCE, _ROOM * (proved / delta - 1.0))
        target *= delta / proved * max(0.5, 1.0 - margin)
        start = found
    # Where crowds are tiny the worst one is hard to foresee: search what is proved.
    return search(upper, delta, start=start, rough=rough._replace(slack=_TABLE_SLACK))


def _several(record: Record) -> bool:
    """Whether its message holds several bits: its divergence is then no smooth function."""
    return record.message.mechanism.most_set > 1


def _nothing(record: Record, parameter: Parameter, goal: CalibrationTarget) -> ParameterError:
    return ParameterError(
        record.message.mechanism.name,
        wanted=f"parameters that some {parameter} can protect",
        got=f"epsilon {goal.epsilon:g} and delta {goal.delta:g} missed at its largest",
        do="raise epsilon or delta, add users or fakes, or let a shape fall more slowly",
    )
