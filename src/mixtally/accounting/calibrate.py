"""The least noise of a mechanism that keeps a guarantee: its flip probability, fakes or shape.

The search asks what an upper bound most likely is, and the value it ends at is proved; where
another crowd than expected turns out to be the worst, it goes on from there.
"""

import math
from functools import partial
from typing import NamedTuple

from mixtally.accounting.accountant import Accountant, Record, count_messages, local_epsilon
from mixtally.accounting.divergence import CalibrationTarget
from mixtally.accounting.divergence.registry import divergence_of
from mixtally.accounting.numerics.composed_lower_bound import composed_lower_bound
from mixtally.accounting.numerics.gaussian_start import Start, gaussian_start
from mixtally.accounting.numerics.search import (
    FLIPS,
    ROOT,
    Axis,
    SearchTolerance,
    find_least_meeting,
    steepen_axis,
)
from mixtally.errors import ParameterError
from mixtally.model.mechanism import Parameter

TOLERANCE = 1e-7
_COMPOSED_TOLERANCE = 1e-4
"""Well below what a rough distribution of losses loses in a search."""
_SINGLE_MESSAGE = SearchTolerance(3e-3)
"""Upper bounds by different methods may lie so far apart, relatively."""
_SEVERAL_MESSAGES = SearchTolerance(0.5, floor=1e-2, near=1e-2)
"""A rough distribution of losses moves epsilon by up to half a percent, so delta by 2 ln(1 / delta)
times as much and more far below the target: what is found is proved, so this hides no promise. A
search ends where no more than a hundredth of its target is left."""
_TARGET_SHARE = 0.97
"""Of delta, what a search for several messages aims at: other valid bounds of what it finds, as
``composition`` computes of several plans, may lie a hundredth above the one that proves it."""
_TABLE_SLACK = 1e3
"""A table of integers over 2^64 has a delta of its own, near 1e-17, that rises with its length."""
_TINY_SLACK = 1e100
"""Where nearly all sets of a tiny crowd are replaced their number is nothing like a Poisson number:
bounds rise by up to a factor of two for every message."""
_NEAR_START, _PAST_START = 1e-2, 1.25
"""How close a start's own distance must be to be one, and how far its search may then end from it.
"""
_MOST_PROOFS = 4
_PROOF_MARGIN = 0.02
"""Of the excess of a proof over what was expected: it decides how many proofs a search takes."""


def calibrate(
    accountant: Accountant,
    record: Record,
    parameter: Parameter,
    epsilon: float,
    delta: float,
    *,
    collections: int = 1,
    tolerance: float = TOLERANCE,
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
    low, high = parameter.low, parameter.high
    wish = _CalibrationRequest(
        record.with_parameter(parameter, low),
        parameter,
        CalibrationTarget(
            epsilon, delta, count_messages(record) * collections * record.message.mechanism.repeats
        ),
        collections,
        tolerance,
        (low, high if most is None else min(most, high)),
        limited=most is not None,
    )
    found = accountant.cache_search(wish, lambda: _find_least_value(accountant, wish))
    if found is None:
        raise _infeasible_error(record, parameter, wish.goal)
    return record.with_parameter(parameter, found)


def probably_satisfies(
    accountant: Accountant, record: Record, epsilon: float, delta: float, collections: int = 1
) -> bool:
    """Whether ``collections`` of ``record`` most likely keep the guarantee.

    Where all messages traced to their senders do, where one alone does not, or what tells the least
    at its distance would not as often, nothing is composed.
    """
    if collections * local_epsilon(record) <= epsilon:
        return True
    if accountant.expect_one_message(record, epsilon) > delta:
        return False
    told = count_messages(record) * collections
    if told > 1 and composed_lower_bound(told, accountant.distance(record), epsilon) > delta:
        return False
    return accountant.upper(record, epsilon, collections, delta, proved=False) <= delta


class _CalibrationRequest(NamedTuple):
    """What a search is for, and within which ``ends``; ``limited`` where these were given."""

    record: Record
    parameter: Parameter
    goal: CalibrationTarget
    collections: int
    tolerance: float
    value_range: tuple[int, int]
    limited: bool

    def with_value(self, value: int) -> Record:
        """The record that has this value."""
        return self.record.with_parameter(self.parameter, value)

    @property
    def is_composed(self) -> bool:
        """Whether several messages are."""
        return count_messages(self.record) * self.collections > 1


def _find_least_value(accountant: Accountant, wish: _CalibrationRequest) -> int | None:
    """The least value that is expected to keep the guarantee and is proved to; None for none."""
    (low, high), goal = wish.value_range, wish.goal
    if high < low:
        return None

    def upper(value: int, *, proved: bool = True) -> float:
        given = wish.with_value(value), goal.epsilon, wish.collections, goal.delta
        return accountant.upper(*given, proved=proved)

    axis = FLIPS if wish.parameter == Parameter.FLIP else ROOT
    start = _find_start(accountant, wish, axis)
    inside = abs(start.miss) < _NEAR_START and (
        axis.along(start.x) * _PAST_START < axis.along(high)
    )
    if (wish.limited and not inside) and not probably_satisfies(
        accountant, wish.with_value(high), goal.epsilon, goal.delta, wish.collections
    ):
        return None  # without a look at fewer
    tolerance, rough = wish.tolerance, _SEVERAL_MESSAGES if wish.is_composed else _SINGLE_MESSAGE
    if goal.times > 1:
        tolerance = max(tolerance, _COMPOSED_TOLERANCE)
    elif wish.parameter == Parameter.FAKES:
        tolerance = 0.0
    if wish.parameter == Parameter.SHIFT:
        rough = rough._replace(slack=_TABLE_SLACK)
    elif wish.parameter == Parameter.REPLACED and wish.record.message.mechanism.most_set > 1:
        rough = rough._replace(slack=_TINY_SLACK)
    axis = steepen_axis(axis, start.power)
    search = partial(find_least_meeting, low=low, high=high, tolerance=tolerance, axis=axis)
    begin, target = start.x, goal.delta * (_TARGET_SHARE if wish.is_composed else 1.0)
    for _ in range(_MOST_PROOFS):
        found = search(partial(upper, proved=False), target, start=begin, rough=rough)
        if found is None and wish.is_composed:
            break
        if found is None or (proved := upper(found)) <= goal.delta:
            return found
        # Another crowd was worse than expected. The excess is another at the next end: some room.
        margin = max(TOLERANCE, _PROOF_MARGIN * (proved / goal.delta - 1.0))
        target *= goal.delta / proved * max(0.5, 1.0 - margin)
        begin = found
    # Where crowds are tiny the worst one is hard to foresee, and the largest may just do: search
    # what is proved.
    slack = max(rough.slack, _TABLE_SLACK)
    return search(upper, goal.delta, start=begin, rough=rough._replace(slack=slack))


def _find_start(accountant: Accountant, wish: _CalibrationRequest, axis: Axis) -> Start:
    """Where a search begins: as if losses were Gaussian, where several are composed."""
    goal, message = wish.goal, wish.record.message
    start = divergence_of(message).start(message, wish.parameter, goal)
    unknown = Start(start, 1.0, math.nan)
    several = wish.is_composed or message.mechanism.most_set > 1  # else its divergence is smooth
    if wish.parameter == Parameter.SHIFT or not several:
        return unknown
    begin = gaussian_start(
        lambda value: accountant.distance(wish.with_value(value)),
        count_messages(wish.record) * wish.collections,
        goal.epsilon,
        goal.delta,
        *wish.value_range,
        start=start,
        axis=axis,
    )
    return begin or unknown


def _infeasible_error(
    record: Record, parameter: Parameter, goal: CalibrationTarget
) -> ParameterError:
    return ParameterError(
        record.message.mechanism.name,
        expected=f"parameters that some {parameter} can protect",
        got=f"epsilon {goal.epsilon:g} and delta {goal.delta:g} missed at its largest",
        do="raise epsilon or delta, add users or fakes, or let a shape fall more slowly",
    )
