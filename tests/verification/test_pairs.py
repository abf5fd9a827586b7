"""Sets of two bins: every multiset of every pair of records, and the accountant."""

from fractions import Fraction
from functools import cache
from itertools import combinations

import pytest

from mixtally.accounting.verification import derive_parts, pairs
from mixtally.accounting.verification.balls import arb, working_precision
from verification.enumerate_all import SCALE, bag, delta, flipped
from verification.written import certified, flips, plain, plan_of

THRESHOLD = SCALE // 4

BINS = 4
EPSILONS = (0.3, 1.0, 3.0)


@cache
def seen(record, fakes):
    blanks = [flipped((0,) * BINS, THRESHOLD)] * fakes
    return bag([*blanks, flipped(record, THRESHOLD)])


@cache
def largest(fakes, epsilon):
    """Over all records of at most two of the bins, up to their order."""
    records = [(0, 0, 0, 0), (1, 0, 0, 0), (0, 1, 0, 0), (1, 1, 0, 0), (0, 1, 1, 0), (0, 0, 1, 1)]
    every = combinations(records, 2)
    return max(delta(seen(u, fakes), seen(v, fakes), epsilon) for u, v in every)


def found(fakes, epsilon, threshold=THRESHOLD, bins=BINS):
    part = flips(bins, threshold, most_set=2, blanks=fakes)
    return derive_parts(plain(plan_of(part, epsilon=epsilon)))[0]


def all_hold():
    for fakes in (1, 2):
        for epsilon in EPSILONS:
            bracket, true = found(fakes, epsilon), largest(fakes, epsilon)
            narrow = bracket.upper - bracket.lower <= 1e-12 * bracket.upper
            if not (narrow and bracket.lower <= true <= bracket.upper):
                return False
    return True


def test_every_multiset_of_every_pair():
    assert all_hold()


def one_shared(fakes, epsilon):
    """By listing, of the two records that share a bin."""
    return delta(seen((1, 1, 0, 0), fakes), seen((0, 1, 1, 0), fakes), epsilon)


@pytest.mark.parametrize("epsilon", EPSILONS[:2])
def test_two_that_share_a_bin(epsilon):
    with working_precision():
        lower, upper = pairs.overlapping_sets_delta(
            2, THRESHOLD, arb(epsilon).exp(), 90.0
        ).to_floats()
    assert lower <= one_shared(2, epsilon) <= upper
    assert upper - lower <= 1e-12


@pytest.mark.parametrize(("fakes", "q"), [(50, 0.2), (100, 0.06)])
def test_the_accountant_agrees(fakes, q):
    part = flips(BINS, int(q * SCALE), most_set=2, blanks=fakes)
    said, derived = certified(plan_of(part)), found(fakes, 1.0, int(q * SCALE))
    assert derived.upper - derived.lower <= 1e-6 * derived.upper
    assert said.lower <= derived.upper
    assert derived.least <= said.upper <= derived.upper * 1.01


def test_too_many_values_are_left_to_the_accountant():
    assert pairs.count_values(10**9, int(Fraction(1, 10) * SCALE)) > 10**9
    assert found(10**9, 1.0, SCALE // 10).upper is None
