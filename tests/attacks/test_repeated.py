"""A number that is reported again and again: means are as far off as computed, and no nearer."""

import math
from dataclasses import replace

import pytest

from attacks.test_memoized_attacks import redrawn
from mixtally.lab.attacks.memoized import memoized_target, simple_recall
from mixtally.lab.attacks.outcome import AttackLab, Verdict
from mixtally.lab.attacks.repeated_numbers import TRUE, repeated_numbers
from mixtally.lab.simulation.seeded import SeededChance

TARGETS = [
    memoized_target(*noise, 1, 5)
    for noise in ((0.1, 0.01, 0.99), (0.5, 0.5, 0.75), (0.3, 0.0, 0.6))
]
LAB = AttackLab(SeededChance(3), 1e-4)
CLOSE = 6 * math.sqrt(2 / 2_000)
"""Six deviations of the mean of 2,000 squares of nearly normal numbers."""


def numbers(target, recall=None):
    recall = recall or simple_recall(target.mechanism)
    (found,) = repeated_numbers("averaging", target, replace(LAB, chance=SeededChance(3)), recall)
    return found


def off(found, way):
    """The largest relative deviation of a squared distance from what is computed."""
    measured, exact = found.numbers["distances"][way], found.numbers["expected_distances"][way]
    assert measured.keys() == exact.keys()
    return max(abs((measured[t] / exact[t]) ** 2 - 1) for t in exact)


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_means_are_as_far_off_as_computed(target):
    """False alarm: below 2e-9 a number of reports, 24 of them a case."""
    found = numbers(target)
    assert off(found, "fresh noise every time") < CLOSE
    assert off(found, "memory") < CLOSE


def test_a_memory_drawn_anew_is_found():
    target = TARGETS[0]
    assert off(numbers(target, redrawn(target)), "memory") > CLOSE


def test_fresh_noise_averages_away_and_a_memory_does_not():
    found = numbers(TARGETS[0])
    distances, kept = found.numbers["distances"], found.numbers["distance_of_what_is_memoized"]
    assert distances["fresh noise every time"][20.0] < 1.5
    assert distances["memory"][100.0] == pytest.approx(kept, rel=CLOSE)
    assert kept > 4
    assert len(set(distances["drawn once"].values())) == 1
    assert len(found.numbers["first_reports"]) == 3
    assert (found.verdict, found.promised) == (Verdict.MEASURED, None)
    assert found.attacked == distances["memory"][100.0]
    assert found.numbers["number"] == TRUE


def test_where_nothing_is_told_there_is_nothing_to_average():
    target = memoized_target(1.0, 0.5, 0.75, 1, 5)
    assert repeated_numbers("averaging", target, LAB, simple_recall(target.mechanism)) == []
