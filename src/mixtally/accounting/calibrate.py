"""Calibration: the least noise of a mechanism that satisfies a guarantee.

The planner calls this module. The noise is a flip probability, a share of replaced values, a number
of fakes or a shape. The search uses estimates of the upper bound, and its result is proved. If
another crowd than expected turns out to be the worst, the search continues from there.
"""

import math
from functools import partial
from typing import NamedTuple

from mixtally.accounting.accountant import Accountant, Record, count_messages, local_epsilon
from mixtally.accounting.divergence import CalibrationTarget
from mixtally.accounting.divergence.registry import divergence_of
from mixtally.accounting.numerics.composed_estimates import (
    Start,
    estimate_least_delta,
    gaussian_start,
)
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
"""Default relative tolerance of a flip probability."""
_COMPOSED_TOLERANCE = 1e-4
"""Tolerance for several messages, well below what a rough loss distribution loses."""
_SINGLE_MESSAGE = SearchTolerance(3e-3)
"""Tolerance for one message: upper bounds from different methods may differ by this share."""
_SEVERAL_MESSAGES = SearchTolerance(0.5, floor=1e-2, near=1e-2)
"""Tolerance for several messages.

A rough loss distribution changes epsilon by up to half a percent. That changes delta by 2 ln(1 /
delta) times this share, and by more far below the target. The result is proved, so no violation can
be missed. A search ends if at most a hundredth of its target is unused.
"""
_TARGET_SHARE = 0.97
"""Share of delta at which a search for several messages aims.

Other valid bounds of the same result, such as those that ``composition`` computes for several
plans, may be a hundredth larger than the one that proves it.
"""
_TABLE_SLACK = 1e3
"""Factor by which delta may rise in a search over tables of fakes.

Rounding the table to integers over 2^64 adds a delta near 1e-17, which rises with its length.
"""
_TINY_SLACK = 1e100
"""Factor by which delta may rise in a search for a tiny crowd.

If nearly all members of the sets of a tiny crowd are replaced, their number is not close to a
Poisson number. Bounds then rise by up to a factor of two for every message.
"""
_NEAR_START, _PAST_START = 1e-2, 1.25
"""Relative distance from the target up to which a start is trusted, and the factor above the start
within which its search then ends."""
_MOST_PROOFS = 4
_PROOF_MARGIN = 0.02
"""Additional reduction of the target after a failed proof, as a share of the excess.

It decides how many proofs a search takes.
"""


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
    """Return ``record`` with the least ``parameter`` that satisfies the guarantee.

    For one message a flip probability exceeds the least possible one by at most the relative
    ``tolerance``. This excess may be a few ten-thousandths if the worst crowd is not the expected
    one. A number of fakes for one message is the least possible one. For several messages some
    hundredths of ``delta`` may remain unused, and the returned value then exceeds the least
    possible one by less than a hundredth.

    Parameters
    ----------
    accountant : Accountant
        Computes and keeps all numbers.
    record : Record
        The messages of a person; the value of ``parameter`` in it is ignored.
    parameter : Parameter
        The parameter that is searched for.
    epsilon, delta : float
        Guarantee of all collections jointly.
    collections : int
        Number of collections.
    tolerance : float
        Relative tolerance of the parameter.
    most : int, optional
        Largest value that is tried.

    Raises
    ------
    ParameterError
        If no value satisfies the guarantee.
    """
    low, high = parameter.low, parameter.high
    request = _CalibrationRequest(
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
    found = accountant.cache_search(request, lambda: _find_least_value(accountant, request))
    if found is None:
        raise _infeasible_error(record, parameter, request.goal)
    return record.with_parameter(parameter, found)


def probably_satisfies(
    accountant: Accountant, record: Record, epsilon: float, delta: float, collections: int = 1
) -> bool:
    """Return whether ``collections`` of ``record`` probably satisfy the guarantee.

    Messages are composed only if three faster tests do not decide. The answer is yes if the local
    epsilon suffices. It is no if one message alone violates the guarantee, or if the least
    informative messages of the same total variation distance would violate it.

    Parameters
    ----------
    accountant : Accountant
        Keeps the computed numbers.
    record : Record
        All messages of a person.
    epsilon : float
        The privacy loss in nats, in [0.01, 20].
    delta : float
        The required delta, in (0, 1).
    collections : int
        The number of collections.
    """
    if collections * local_epsilon(record) <= epsilon:
        return True
    if accountant.expect_one_message(record, epsilon) > delta:
        return False
    messages = count_messages(record) * collections
    if (
        messages > 1
        and estimate_least_delta(messages, accountant.distance(record), epsilon) > delta
    ):
        return False
    return accountant.upper(record, epsilon, collections, delta, proved=False) <= delta


class _CalibrationRequest(NamedTuple):
    """The arguments of a search for the least value of a parameter that satisfies a guarantee.

    ``value_range`` has the smallest and the largest value that may be tried. ``limited`` says
    whether the caller gave the largest value.
    """

    record: Record
    parameter: Parameter
    goal: CalibrationTarget
    collections: int
    tolerance: float
    value_range: tuple[int, int]
    limited: bool

    def with_value(self, value: int) -> Record:
        """Return the record with this value of the parameter."""
        return self.record.with_parameter(self.parameter, value)

    @property
    def is_composed(self) -> bool:
        """Whether the guarantee is for several messages."""
        return count_messages(self.record) * self.collections > 1


def _find_least_value(accountant: Accountant, request: _CalibrationRequest) -> int | None:
    """Return the least value of the parameter for which the search proves the requested delta.

    None means that the search finds no such value in the range.
    """
    (low, high), goal = request.value_range, request.goal
    if high < low:
        return None

    def upper(value: int, *, proved: bool = True) -> float:
        given = request.with_value(value), goal.epsilon, request.collections, goal.delta
        return accountant.upper(*given, proved=proved)

    axis = FLIPS if request.parameter == Parameter.FLIP else ROOT
    start = _find_start(accountant, request, axis)
    inside = abs(start.miss) < _NEAR_START and (
        axis.along(start.x) * _PAST_START < axis.along(high)
    )
    if (request.limited and not inside) and not probably_satisfies(
        accountant, request.with_value(high), goal.epsilon, goal.delta, request.collections
    ):
        return None  # no smaller value is tried
    tolerance, rough = (
        request.tolerance,
        _SEVERAL_MESSAGES if request.is_composed else _SINGLE_MESSAGE,
    )
    if goal.times > 1:
        tolerance = max(tolerance, _COMPOSED_TOLERANCE)
    elif request.parameter == Parameter.FAKES:
        tolerance = 0.0
    if request.parameter == Parameter.SHIFT:
        rough = rough._replace(slack=_TABLE_SLACK)
    elif request.parameter == Parameter.REPLACED and request.record.message.mechanism.most_set > 1:
        rough = rough._replace(slack=_TINY_SLACK)
    axis = steepen_axis(axis, start.power)
    search = partial(find_least_meeting, low=low, high=high, tolerance=tolerance, axis=axis)
    begin, target = start.x, goal.delta * (_TARGET_SHARE if request.is_composed else 1.0)
    for _ in range(_MOST_PROOFS):
        found = search(partial(upper, proved=False), target, start=begin, rough=rough)
        # The estimates aim below delta, so the proved search at the end decides about a failure.
        if found is None and request.is_composed:
            break
        if found is None or (proved := upper(found)) <= goal.delta:
            return found
        # Another crowd was worse than expected. The excess will differ next time.
        margin = max(TOLERANCE, _PROOF_MARGIN * (proved / goal.delta - 1.0))
        target *= goal.delta / proved * max(0.5, 1.0 - margin)
        begin = found
    # In tiny crowds the worst dataset is hard to predict, and only the largest value may suffice:
    # search with proved bounds.
    slack = max(rough.slack, _TABLE_SLACK)
    return search(upper, goal.delta, start=begin, rough=rough._replace(slack=slack))


def _find_start(accountant: Accountant, request: _CalibrationRequest, axis: Axis) -> Start:
    """Return the ``Start`` of a search for the least value of the parameter.

    If messages are composed, it follows from a Gaussian approximation of their composition.
    """
    goal, message = request.goal, request.record.message
    start = divergence_of(message).start(message, request.parameter, goal)
    unknown = Start(start, 1.0, math.nan)
    several = request.is_composed or message.mechanism.most_set > 1  # otherwise delta is smooth
    if request.parameter == Parameter.SHIFT or not several:
        return unknown
    begin = gaussian_start(
        lambda value: accountant.distance(request.with_value(value)),
        count_messages(request.record) * request.collections,
        goal.epsilon,
        goal.delta,
        *request.value_range,
        start=start,
        axis=axis,
    )
    return begin or unknown


def _infeasible_error(
    record: Record, parameter: Parameter, goal: CalibrationTarget
) -> ParameterError:
    return ParameterError(
        record.message.mechanism.name,
        expected=f"parameters for which some {parameter} satisfies the guarantee",
        got=f"epsilon {goal.epsilon:g} and delta {goal.delta:g}, violated at its largest value",
        do="raise epsilon or delta, add users or fakes, or use a slower decay of the shape",
    )
