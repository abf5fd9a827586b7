"""A bit among fake zeros tells one way other than the other: composed apart, by enumeration."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from mixtally.ground.fixed import SCALE
from mixtally.privacy.accountant import Accountant
from mixtally.privacy.composition import both_ways
from mixtally.privacy.composition.both_ways import Ways, worst_delta
from mixtally.privacy.composition.convolve import Sum
from mixtally.privacy.composition.pld import CLOSE, FINE
from mixtally.privacy.terms import Stake, composed, counted
from mixtally.records.contract import BlanksRecipe, Part
from mixtally.records.guarantee import Guarantee
from mixtally.records.layout import Form, Layout
from privacy.brute_contracts import delta

CASES = [
    (zeros, threshold, collections, epsilon)
    for zeros, collections in ((3, 2), (6, 2), (4, 3), (2, 4))
    for threshold in (SCALE // 50, SCALE // 7, SCALE // 3)
    for epsilon in (0.3, 1.0)
]


def stake(zeros, threshold, collections, epsilon):
    """One bit, asked so often, among so many zeros of every mix."""
    part = Part(
        bins=1,
        most_set=None,
        threshold=threshold,
        own=None,
        recipe=BlanksRecipe(zeros, threshold),
        layout=Layout(Form.BITS, 1),
    )
    promised = Guarantee(epsilon=epsilon, delta=0.1)
    return Stake((part,), promised, collections, 0, count_flips=False, hops=2)


def upper(one, tightness=FINE):
    return composed(counted(one), one, Accountant(), tightness)


def below_the_truth(cases):
    """Cases whose bound is below the truth."""
    return [case for case in cases if upper(stake(*case)) < delta(stake(*case)) * (1.0 - 1e-12)]


def test_no_bound_is_below_the_truth():
    assert below_the_truth(CASES) == []


def test_one_way_alone_is_found(monkeypatch):
    monkeypatch.setattr(
        both_ways, "_ways", lambda one, times, _: [[(getattr(one, "forward", one), times)]]
    )
    assert below_the_truth(CASES)


def test_all_of_them_one_way_or_all_the_other_is_found(monkeypatch):
    """The worst is often mixed."""
    honest = both_ways._ways
    monkeypatch.setattr(both_ways, "_ways", lambda *given: [honest(*given)[i] for i in (0, -1)])
    assert below_the_truth(CASES)


@pytest.mark.parametrize("case", CASES[::4])
def test_the_bound_is_close(case):
    one = stake(*case)
    assert upper(one) <= delta(one) * 1.01 + 1e-12


@pytest.mark.parametrize("zeros", [60, 300])
def test_one_curve_for_both_states_more(zeros):
    one = stake(zeros, SCALE // 20, 8, 2.0)
    ((group, times),) = counted(one).items()
    ways = group.ways(Accountant(), 1e-12, CLOSE)
    assert isinstance(ways, Ways)
    apart, together = worst_delta([(ways, times)], 2.0), Sum([(ways.either, times)]).delta(2.0)
    assert 1.05 * apart < together


def test_many_are_taken_in_cells_that_lie_above():
    one = stake(200, SCALE // 20, 40, 2.0)
    ((group, times),) = counted(one).items()
    ways = group.ways(Accountant(), 1e-12, CLOSE)
    cells = worst_delta([(ways, times)], 2.0)
    every = max(
        Sum([(w, n) for w, n in ((ways.forward, a), (ways.backward, times - a)) if n]).delta(2.0)
        for a in range(times + 1)
    )
    assert every <= cells <= Sum([(ways.either, times)]).delta(2.0) * (1.0 + 1e-6)


def test_the_mirror_of_two_ways_is_a_distribution():
    """delta(-x) = 1 - e^-x + e^-x delta(x) of the other direction, at points of the lattice."""
    ((group, _),) = counted(stake(9, SCALE // 7, 2, 1.0)).items()
    ways = group.ways(Accountant(), 1e-12, FINE)
    for one, other in pairwise((ways.forward, ways.backward, ways.forward)):
        places, chances = one.mirrored(one.step)
        assert chances.sum() + one.infinite == pytest.approx(1.0, abs=1e-8)
        for place in (8, 64, 256):
            at = place * one.step
            gaps = np.maximum(places * one.step + at, 0.0)
            seen = float((chances * -np.expm1(-gaps)).sum()) + one.infinite
            mirror = 1.0 - math.exp(-at) + math.exp(-at) * replace(other, other=None).delta(at)
            assert seen == pytest.approx(mirror, rel=1e-6)
