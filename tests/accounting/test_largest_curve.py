"""The largest of several curves at many epsilons: what chords rule out, and what they may not."""

import math
from functools import partial

import pytest

from helpers.sampled import among, each
from mixtally.accounting.divergence import k_hot
from mixtally.accounting.divergence.k_hot import list_orbits
from mixtally.accounting.numerics.largest_curve import largest_curve
from mixtally.accounting.numerics.saddle_point import NEAR
from mixtally.primitives.fixed_point import threshold_of

EPSILONS = [0.02 * i for i in range(80)]


def line(top, end, epsilon):
    """A divergence that is straight in e^epsilon, until it is zero."""
    return top * max(0.0, math.exp(end) - math.exp(epsilon)) / (math.exp(end) - 1.0)


def steep(top, fall, epsilon):
    return top * math.exp(-fall * epsilon * epsilon)


def counted(curve, looked):
    def bound(epsilon, least):
        looked.append(epsilon)
        return curve(epsilon) if curve(epsilon) > least else least * 0.9 + 0.1 * curve(epsilon)

    return bound


CROWDS = {
    "far below": [partial(steep, 0.5, 3.0), partial(steep, 0.1, 4.0), partial(steep, 0.01, 5.0)],
    "crossing": [partial(steep, 0.5, 3.0), partial(steep, 0.2, 1.0), partial(line, 0.4, 1.5)],
    "between": [partial(steep, 0.5, 30.0), partial(line, 0.3, 1.58), partial(line, 0.2, 1.58)],
    "just above": [partial(line, 0.3, 1.58), partial(line, 0.3001, 1.58)],
    "just below": [partial(line, 0.3, 1.58), partial(line, 0.2999, 1.58)],
}


def reached(curves):
    """Whether what was found is the largest at every epsilon."""
    found = largest_curve([counted(curve, []) for curve in curves], EPSILONS)
    true = [max(curve(epsilon) for curve in curves) for epsilon in EPSILONS]
    return found == pytest.approx(true, rel=1e-12, abs=1e-300) and all(
        one >= other for one, other in zip(found, true, strict=True)
    )


@pytest.mark.parametrize("curves", CROWDS.values(), ids=CROWDS)
def test_no_curve_is_above_what_is_found(curves):
    assert reached(curves)
    assert reached(curves[::-1])


def test_what_is_far_below_is_hardly_looked_at():
    looked = []
    curves = [counted(curve, looked) for curve in CROWDS["far below"]]
    largest_curve(curves[:1], EPSILONS)
    assert len(looked) == len(EPSILONS)
    looked.clear()
    largest_curve(curves, EPSILONS)
    assert len(looked) < len(EPSILONS) + 40


def test_epsilons_come_in_any_order_and_more_than_once():
    curves = [lambda epsilon, _, c=curve: c(epsilon) for curve in CROWDS["crossing"]]
    some = [0.3, 0.0, 1.0, 0.3, 0.7]
    found = largest_curve(curves, some)
    assert found[0] == found[3]
    assert found == [max(curve(epsilon, 0.0) for curve in curves) for epsilon in some]
    assert largest_curve(curves, []) == []
    assert largest_curve([], [0.5]) == [0.0]


SETS = [(0, 300, 5, 0.3, 6), (40, 0, 4, 0.35, 6), (2000, 900, 6, 0.2, 8), (0, 27917, 7, 0.11, 8)]


@pytest.mark.parametrize("case", among(SETS, SETS[:2]), ids=str)
def test_sets_at_all_epsilons_are_as_each_alone(case):
    users, fakes, most, q, bins = case
    epsilons = [0.0, 0.1, 0.25, 0.5, 0.8, 1.2, 2.0, 3.0, 4.0, 6.0]
    given = (users, fakes, most, threshold_of(q))
    found = k_hot.upper_at_several(*given, epsilons, bins)
    for epsilon, upper in zip(epsilons, found, strict=True):
        alone = k_hot.upper(*given, epsilon, bins, smoothed=NEAR)
        assert upper == pytest.approx(alone, rel=2.0 * NEAR, abs=1e-24)
        assert upper >= k_hot.upper(*given, epsilon, bins) * (1.0 - 1e-9)


@pytest.mark.parametrize("case", each(SETS, 2), ids=str)
def test_what_is_likely_of_sets_is_near_the_worst(case):
    """Once it was less than a millionth of it: (3, 1, 4) of 7 in 8 bins at epsilon 6."""
    users, fakes, most, q, bins = case
    for epsilon in (0.0, 0.5, 1.0, 3.0, 6.0):
        given = (users, fakes, most, threshold_of(q), epsilon, bins)
        assert (
            0.8 * k_hot.upper(*given)
            <= k_hot.upper(*given, expected_only=True)
            <= k_hot.upper(*given)
        )


def test_likely_orbits_are_orbits():
    for most, bins in ((1, 2), (3, 4), (7, 8), (16, 18), (3, 30)):
        every = list(list_orbits(most, bins))
        for sizes in (2, 5):
            some = k_hot._probable_worst_orbits(every, most, sizes)
            assert set(some) <= set(every)
            assert len(some) == len(set(some)) <= sizes + 1
