"""Rules between items: what they are by hand; intervals that hold whenever those of counts do."""

import random
from itertools import combinations

import pytest

from mixtally.protocol.estimate.rules import BoundedEstimate, derive_rules

PEOPLE = 1000


def exact(counts):
    return {items: BoundedEstimate(count, count, count) for items, count in counts.items()}


def test_rules_by_hand():
    held = exact({(0,): 400, (1,): 500, (2,): 100, (0, 1): 300, (0, 2): 50})
    found = {(one.given, one.then): one for one in derive_rules(held, PEOPLE)}
    assert len(found) == 4
    one = found[(0,), 1]
    assert one.support.estimate == 0.3
    assert one.confidence.estimate == 0.75
    assert one.lift.estimate == 1.5
    assert found[(1,), 0].confidence.estimate == 0.6
    assert found[(2,), 0].confidence.estimate == 0.5
    for one in found.values():
        for ends in (one.support, one.confidence, one.lift):
            assert ends.lower == ends.estimate == ends.upper


def test_the_surest_are_first():
    held = exact({(0,): 400, (1,): 500, (2,): 100, (0, 1): 300, (0, 2): 50})
    first, *_, last = derive_rules(held, PEOPLE)
    assert ((first.given, first.then), (last.given, last.then)) == (((0,), 1), ((0,), 2))


def test_every_item_of_a_set_stands_at_the_end_once():
    counts = {one: 100 for size in (1, 2, 3) for one in combinations(range(3), size)}
    found = [(one.given, one.then) for one in derive_rules(exact(counts), PEOPLE)]
    assert len(found) == len(set(found)) == 3 * 2 + 3
    assert ((0, 2), 1) in found


def crowd(draw):
    """True counts of sets of four items, and intervals about them that hold."""
    people = [{i for i in range(4) if draw.random() < 0.6} for _ in range(60)]
    counts = {
        one: sum(set(one) <= person for person in people)
        for size in (1, 2, 3)
        for one in combinations(range(4), size)
    }
    held = {}
    for one, count in counts.items():
        lower = max(1, count - draw.randrange(25))
        upper = count + draw.randrange(25)
        held[one] = BoundedEstimate(draw.uniform(lower - 5, upper + 5), lower, upper)
    return counts, held


def misses(runs=200):
    """Rules whose truth lies outside of their interval."""
    draw, missed = random.Random(5), 0
    for _ in range(runs):
        counts, held = crowd(draw)
        if min(counts.values()) < 1:
            continue
        for one in derive_rules(held, 60):
            both = counts[tuple(sorted((*one.given, one.then)))]
            confidence = both / counts[one.given]
            lift = 60 * confidence / counts[one.then,]
            for ends, truth in ((one.confidence, confidence), (one.lift, lift)):
                missed += not ends.lower - 1e-12 <= truth <= ends.upper + 1e-12
                assert ends.lower <= ends.estimate <= ends.upper
    return missed


def test_intervals_hold_whenever_those_of_the_counts_do():
    assert misses() == 0


def test_a_whole_bounds_its_parts_and_parts_the_whole():
    held = {
        (0,): BoundedEstimate(50, 10, 60),
        (1,): BoundedEstimate(90, 80, 100),
        (0, 1): BoundedEstimate(55, 40, 90),
    }
    (first, second) = sorted(derive_rules(held, 100), key=lambda one: one.given)
    assert (first.given, second.given) == ((0,), (1,))
    assert first.confidence == BoundedEstimate(1.0, 40 / 60, 1.0)
    assert second.confidence == BoundedEstimate(pytest.approx(55 / 90), 40 / 100, 60 / 80)
