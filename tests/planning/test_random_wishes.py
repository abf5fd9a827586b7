"""Wishes of every kind end in an answer or in a refusal, whatever is asked together."""

import random

import pytest

from bench import wishes
from helpers.sampled import exhaustive
from mixtally.planning import Planner

SECONDS = 60.0
"""What takes longer is stopped, which is no failure here."""


def failed(seed, count):
    """Those of so many wishes that end in an error of ours."""
    chance = random.Random(seed)
    asked = [wishes.words("plan", wishes.plan(chance)) for _ in range(count)]
    found = [wishes.took(one, SECONDS, whole=False) for one in asked]
    return [" ".join(one.words) for one in found if one.status not in (0, 2, None)]


@pytest.mark.slow
def test_none_of_ten_ends_in_an_error_of_ours():
    assert failed(0, 10) == []


@pytest.mark.parametrize("seed", exhaustive(range(4)))
def test_none_ends_in_an_error_of_ours(seed):
    assert failed(seed, 40) == []


@pytest.mark.seconds
def test_one_that_does_is_noticed(monkeypatch):
    """The planted mistake: the planner looks in an empty list."""
    monkeypatch.setattr(Planner, "candidates", lambda *_, **__: [][0])
    assert failed(1, 2) != []
