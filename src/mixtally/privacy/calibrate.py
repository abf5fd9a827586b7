"""The least noise of a mechanism that keeps a guarantee: its flip probability, fakes or shape.

The search asks what an upper bound most likely is, and the value it ends at is proved; where
another crowd than expected turns out to be the worst, it goes on from there.
"""

from mixtally.errors import ParameterError
from mixtally.ground.fixed import LEAST_THRESHOLD, MOST_THRESHOLD
from mixtally.privacy.accountant import Accountant, Record, times
from mixtally.privacy.divergence import CalibrationTarget, divergence_of
from mixtally.privacy.numerics.gaussian_start import gaussian_start
from mixtally.privacy.numerics.search import least_meeting
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
    expected is proved the worst; so do the fakes of several messages together, those of one are the
    fewest. Nothing above ``most`` is looked at. Raises ParameterError when nothing keeps the
    guarantee.
    """
    rounds = times(record) * collections
    sent = rounds * record.message.mechanism.repeats
    if sent > 1:
        tolerance = max(tolerance, _COMPOSED_TOLERANCE)
    elif parameter is Parameter.FAKES:
        tolerance = 0.0
    low, high = _RANGES[parameter]
    high = high if most is None else min(most, high)
    if high < low:
        raise _nothing(record, parameter, epsilon, delta)
    if most is not None and accountant.alone(record.having(parameter, high), epsilon) > delta:
        raise _nothing(record, parameter, epsilon, delta)  # one message alone misses already
    goal = CalibrationTarget(epsilon, delta, sent)
    start = divergence_of(record.message).start(record.message, parameter, goal)
    slope = None
    if parameter is not Parameter.SHIFT and (rounds > 1 or _several(record)):
        begin = gaussian_start(
            lambda value: accountant.distance(record.having(parameter, value)), rounds,
            epsilon, delta, low, high, start=start,
        )  # fmt: skip
        start, slope = begin or (start, None)
    slack = _ROUGH_SLACK if rounds > 1 else _SLACK
    slack = _TABLE_SLACK if parameter is Parameter.SHIFT else slack

    def expected(value: int) -> float:
        return accountant.expected(record.having(parameter, value), epsilon, collections)

    def upper(value: int) -> float:
        return accountant.upper(record.having(parameter, value), epsilon, collections)

    target = delta
    for _ in range(_MOST_PROOFS):
        found = least_meeting(
            expected, target, low, high, start=start, tolerance=tolerance, slack=slack,
            slope=slope,
        )  # fmt: skip
        if found is None:
            raise _nothing(record, parameter, epsilon, delta)
        proved = upper(found)
        if proved <= delta:
            return record.having(parameter, found)
        # Another crowd was worse than expected. The excess is another at the next end: some room.
        margin = max(_TOLERANCE, _ROOM * (proved / delta - 1.0))
        target *= delta / proved * max(0.5, 1.0 - margin)
        start = found
    # Where crowds are tiny the worst one is hard to foresee: search what is proved.
    found = least_meeting(
        upper, delta, low, high, start=start, tolerance=tolerance, slack=_TABLE_SLACK
    )
    if found is None:
        raise _nothing(record, parameter, epsilon, delta)
    return record.having(parameter, found)


def _several(record: Record) -> bool:
    """Whether its message holds several bits: its divergence is then no smooth function."""
    return record.message.mechanism.most_set > 1


def _nothing(record: Record, parameter: Parameter, epsilon: float, delta: float) -> ParameterError:
    return ParameterError(
        record.message.mechanism.name, wanted=f"parameters that some {parameter} can protect",
        got=f"epsilon {epsilon:g} and delta {delta:g} missed at its largest",
        do="raise epsilon or delta, add users or fakes, or let a shape fall more slowly",
    )  # fmt: skip
