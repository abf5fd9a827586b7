"""A bit among fake zeros tells one way other than the other: composed apart, by enumeration."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from helpers.exact_plans import true_sum as delta
from mixtally.accounting.accountant import Accountant
from mixtally.accounting.composition.convolve import LossSum
from mixtally.accounting.composition.directed_losses import DirectedLosses, worst_curve
from mixtally.accounting.composition.pld import CLOSE, FINE
from mixtally.accounting.plans.terms import PrivacyTerms, composed_upper, count_honest_parts
from mixtally.model.contract import BlanksRecipe, Part
from mixtally.model.guarantee import Guarantee
from mixtally.model.layout import Form, Layout
from mixtally.primitives.fixed_point import SCALE

CASES = [
    (zeros, threshold, bits, epsilon)
    for zeros, bits in ((3, 2), (6, 2), (4, 3), (2, 4))
    for threshold in (SCALE // 50, SCALE // 7, SCALE // 3)
    for epsilon in (0.3, 1.0)
]


def terms(zeros, threshold, bits, epsilon, collections=1):
    """So many bits of one record, each a message of its own, among so many zeros of every mix."""
    part = Part(
        bins=1,
        most_set=None,
        threshold=threshold,
        own=None,
        recipe=BlanksRecipe(zeros, threshold),
        layout=Layout(Form.BITS, 1),
        repeats=1,
    )
    promised = Guarantee(epsilon=epsilon, delta=0.1)
    return PrivacyTerms((part,) * bits, promised, collections, 0, count_flips=False, hops=2)


def upper(one, tightness=FINE):
    return composed_upper(one, Accountant(), tightness)


def below_the_truth(cases):
    """Cases whose bound is below the truth."""
    return [case for case in cases if upper(terms(*case)) < delta(terms(*case)) * (1.0 - 1e-12)]


def test_no_bound_is_below_the_truth():
    assert below_the_truth(CASES) == []


@pytest.mark.parametrize("case", CASES[::4])
def test_the_bound_is_close(case):
    one = terms(*case)
    assert upper(one) <= delta(one) * 1.01 + 1e-12


@pytest.mark.parametrize("zeros", [60, 300])
def test_one_curve_for_both_states_more(zeros):
    one = terms(zeros, SCALE // 20, 8, 2.0)
    ((group, times),) = count_honest_parts(one).items()
    ways = group.directed_losses(Accountant(), 1e-12, CLOSE)
    assert isinstance(ways, DirectedLosses)
    apart, together = worst_curve([(ways, times)])(2.0), LossSum([(ways.either, times)]).delta(2.0)
    assert 1.05 * apart < together


def test_many_are_taken_in_cells_that_lie_above():
    one = terms(200, SCALE // 20, 40, 2.0)
    ((group, times),) = count_honest_parts(one).items()
    ways = group.directed_losses(Accountant(), 1e-12, CLOSE)
    cells = worst_curve([(ways, times)])(2.0)
    every = max(
        LossSum([(w, n) for w, n in ((ways.forward, a), (ways.backward, times - a)) if n]).delta(
            2.0
        )
        for a in range(times + 1)
    )
    assert every <= cells <= LossSum([(ways.either, times)]).delta(2.0) * (1.0 + 1e-6)


def test_the_mirror_of_two_ways_is_a_distribution():
    """delta(-x) = 1 - e^-x + e^-x delta(x) of the other direction, at points of the lattice."""
    ((group, _),) = count_honest_parts(terms(9, SCALE // 7, 2, 1.0)).items()
    ways = group.directed_losses(Accountant(), 1e-12, FINE)
    for one, other in pairwise((ways.forward, ways.backward, ways.forward)):
        places, chances = one.expand_both_sides(one.step)
        assert chances.sum() + one.infinite == pytest.approx(1.0, abs=1e-8)
        for place in (8, 64, 256):
            at = place * one.step
            gaps = np.maximum(places * one.step + at, 0.0)
            seen = float((chances * -np.expm1(-gaps)).sum()) + one.infinite
            mirror = 1.0 - math.exp(-at) + math.exp(-at) * replace(other, other=None).delta(at)
            assert seen == pytest.approx(mirror, rel=1e-6)


def later_answers(zeros, threshold, collections, epsilon):
    """The true delta of answers that may follow from what earlier collections showed.

    Over all ways to choose, after each of them, which of both worlds holds the next one.
    """
    q = threshold / SCALE
    fakes = [math.comb(zeros, k) * q**k * (1.0 - q) ** (zeros - k) for k in range(zeros + 1)]
    one, none = np.convolve(fakes, [q, 1.0 - q]), np.convolve(fakes, [1.0 - q, q])
    outcomes = [(float(p), float(n), math.log(p / n)) for p, n in zip(one, none, strict=True)]

    def worst(left, rest):
        if left == 0:
            return max(0.0, -math.expm1(rest))
        forward = math.fsum(p * worst(left - 1, rest - loss) for p, _, loss in outcomes)
        return max(forward, math.fsum(n * worst(left - 1, rest + loss) for _, n, loss in outcomes))

    return worst(collections, epsilon)


LATER = [
    (zeros, threshold, collections, epsilon)
    for zeros, threshold in ((2, SCALE // 5), (10, SCALE // 10), (20, SCALE // 20))
    for collections in (2, 3)
    for epsilon in (0.3, 0.7, 1.5)
]


def below_later_answers(bound):
    """Cases in which ``bound`` is below the truth for answers that follow from earlier results."""
    return [case for case in LATER if bound(*case) < later_answers(*case) * (1.0 - 1e-12)]


def test_answers_that_follow_from_earlier_results_are_covered():
    def asked_again(zeros, threshold, times, epsilon):
        return upper(terms(zeros, threshold, 1, epsilon, times), CLOSE)

    assert below_later_answers(asked_again) == []


def test_ways_that_are_chosen_beforehand_for_all_collections_are_found():
    """As of so many bits of one record: up to an eighth below the truth."""
    assert below_later_answers(lambda *case: upper(terms(*case), CLOSE))
