"""Differences of two counts of one collection: their variance is never below the exact one.

Exact ones are added up over all messages that each person and each fake may send, in fractions.
That whole rounds' intervals hold is ``simulation/test_every_coverage``.
"""

from fractions import Fraction

import numpy as np
import pytest

from mixtally.errors import ParameterError
from mixtally.model.mechanism import InClear, KaryResponse, UniformFakes
from mixtally.model.planes import Planes
from mixtally.primitives.fixed_point import SCALE
from mixtally.protocol.estimate.analysis import places_of
from mixtally.protocol.estimate.cumulants import cumulants
from mixtally.protocol.estimate.two_bins import noise_of

FAKES = 40
SPACES = [(4, None), (9, Planes(3, 2)), (25, Planes(5, 2)), (8, Planes(2, 3)), (27, Planes(3, 3))]
CROWDS = {
    "spread": lambda bins: [7] * bins,
    "two alone": lambda bins: [50, 30] + [0] * (bins - 2),
    "one other": lambda bins: [3, 2] + [0] * (bins - 3) + [200],
    "in line": lambda bins: [3, 2, 200] + [0] * (bins - 3),
    "nobody else": lambda bins: [1, 0] + [0] * (bins - 2),
}


def mechanism(bins, planes, replaced):
    if replaced:
        return KaryResponse(
            bins=bins, replaced=replaced, fakes=UniformFakes(FAKES), crowd=50, planes=planes
        )
    return InClear(bins=bins, fakes=UniformFakes(FAKES), planes=planes)


def sent(bins, planes, value):
    """The points of each message that a holder of ``value`` may send, all alike."""
    if planes is None:
        return [{value}]
    own = planes.device_planes
    every = [own.message(value, number) for number in range(own.directions)]
    return [
        {at for at in range(bins) if own.message(at, n) == code} for n, code in enumerate(every)
    ]


def moments(messages):
    """Mean and mean square of (names 0) - (names 1) over these."""
    steps = [(0 in one) - (1 in one) for one in messages]
    many = len(steps)
    return Fraction(sum(steps), many), Fraction(sum(step * step for step in steps), many)


def exact(bins, planes, replaced, crowd):
    """The variance of the difference of the estimates of values 0 and 1."""
    g = Fraction(replaced, SCALE)
    own = [moments(sent(bins, planes, value)) for value in range(bins)]
    any_value = [sum(part) / bins for part in zip(*own, strict=True)]
    total = FAKES * (any_value[1] - any_value[0] ** 2)
    for held, (mean, square) in zip(crowd, own, strict=True):
        mean, square = ((1 - g) * a + g * b for a, b in zip((mean, square), any_value, strict=True))
        total += held * (square - mean**2)
    meeting = Fraction(0) if planes is None else Fraction(planes.points // planes.prime - 1,
                                                          planes.points - 1)  # fmt: skip
    return float(total / ((1 - g) * (1 - meeting)) ** 2)


def stated(one, crowd, of=lambda one, messages, held: noise_of(one, messages, held[0])):
    messages = sum(crowd) + FAKES
    each = [of(one, messages, np.array([float(crowd[place])])).variance for place in (0, 1)]
    return float(np.ravel(sum(each))[0])


@pytest.mark.parametrize("crowd", CROWDS)
@pytest.mark.parametrize("replaced", [0, SCALE // 10, SCALE // 2])
@pytest.mark.parametrize(("bins", "planes"), SPACES)
def test_the_variance_is_that_of_all_messages_or_more(bins, planes, replaced, crowd):
    held = CROWDS[crowd](bins)
    true, said = (
        exact(bins, planes, replaced, held),
        stated(mechanism(bins, planes, replaced), held),
    )
    assert said >= true * (1.0 - 1e-12)
    if planes is None:
        assert said == pytest.approx(true, rel=0.02)
    elif planes.prime == 5 and crowd != "in line":
        assert said <= 2.0 * true


def test_independent_counts_would_be_too_narrow():
    """Planted: over planes the sum of the variances alone."""
    bins, planes = 25, Planes(5, 2)
    held, one = CROWDS["one other"](bins), mechanism(bins, planes, 0)
    assert stated(one, held, of=cumulants) < exact(bins, planes, 0, held)


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ((), "from 2 to 40 different ones"),
        (("a",), r"got a\."),
        (("a", "b", "a"), r"got a, b, a\."),
        (("a", "d"), "expected one of a, b, c, got 'd'"),
        (tuple(map(str, range(41))), r"got 0, 1, 2, \.\.\."),
    ],
)
def test_labels_to_compare_are_some_of_the_bins(labels, said):
    with pytest.raises(ParameterError, match=said):
        places_of(["a", "b", "c"], labels)
