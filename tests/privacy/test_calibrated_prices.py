"""The price of calibrated noise lies between 0.9 and 1 of its target, for every law and option."""

from dataclasses import replace

import pytest

from mixtally.privacy import laws
from mixtally.privacy.laws import LAWS, Ask
from mixtally.records.guarantee import Observer

EPSILON, DELTA = 2.0, 1e-6
SUMS = Observer.SUMS
FINE = [
    ("flip-blank", {"fakes": 1000}),
    ("flip-blank", {"threshold": 1 << 60}),
    ("flip-blank", {"fakes": 1000, "repeats": 2}),
    ("flip-blank", {"fakes": 1000, "max_set": 2, "bins": 9}),
    ("flip-blank", {"fakes": 1000, "max_set": 2, "bins": 9, "split": True}),
    ("flip-blank", {"fakes": 200, "users": 2000, "count_crowd": True}),
    ("clear-uniform", {"bins": 9}),
    ("clear-uniform", {"bins": 9, "repeats": 2}),
    ("clear-uniform", {"bins": 9, "max_set": 2, "split": True}),
    ("single-bit", {"users": 1000, "fakes": 0}),
    ("single-bit", {"users": 1000, "fakes": 500}),
    ("single-bit", {"users": 1000, "fakes": 0, "ones": 300}),
    ("single-bit", {"users": 1000, "fakes": 0, "repeats": 2}),
    ("flip", {"users": 5000}),
    ("flip", {"users": 5000, "bins": 9, "observer": SUMS}),
    ("flip", {"users": 50_000, "bins": 9, "max_set": 2}),
    ("flip", {"users": 5000, "bits": 4}),
    ("flip", {"users": 5000, "bits": 4, "background": "zero"}),
    ("flip", {"users": 5000, "bits": 4, "repeats": 2}),
    ("flip", {"users": 5000, "bits": 4, "split": True}),
    ("flip", {"users": 5000, "bits": 4, "observer": SUMS}),
    ("flip-uniform", {"fakes": 200, "bins": 50, "users": 1000}),
    ("flip-uniform", {"fakes": 200, "bins": 50, "users": 5000, "count_crowd": True}),
    ("flip-uniform", {"fakes": 1000, "bins": 50, "users": 5000, "observer": SUMS}),
    ("memory", {"p": 0.5, "q": 0.75, "hashes": 1, "reports": 5}),
]
WHOLE = [("clear-shaped", {}), ("clear-shaped", {"repeats": 3})]
"""A shift is a small whole number, and one less must miss the target."""


def named(case):
    name, given = case
    return " ".join([name, *(f"{key}={value}" for key, value in given.items())])


def priced(name, ask):
    return laws.price(name, ask, EPSILON).upper


def test_every_law_is_looked_at():
    assert {name for name, _ in [*FINE, *WHOLE]} == set(LAWS)


@pytest.mark.parametrize("case", FINE, ids=map(named, FINE))
def test_calibrated_noise_has_the_price_it_was_searched_for(case):
    name, given = case
    ask = laws.calibrate(name, Ask(**given), EPSILON, DELTA)
    assert 0.9 * DELTA <= priced(name, ask) <= DELTA


@pytest.mark.parametrize("case", WHOLE, ids=map(named, WHOLE))
def test_no_smaller_shift_would_do(case):
    name, given = case
    ask = laws.calibrate(name, Ask(**given), EPSILON, DELTA)
    assert priced(name, ask) <= DELTA < priced(name, replace(ask, shift=ask.shift - 1))


def test_a_price_of_more_people_than_the_noise_was_searched_for_is_noticed(plant):
    plant(laws.several, "price", lambda honest, name, ask, epsilon: honest(
        name, replace(ask, users=ask.users * 3 // 2), epsilon
    ))  # fmt: skip
    for given in ({"users": 5000, "bits": 4}, {"users": 5000}):
        ask = laws.calibrate("flip", Ask(**given), EPSILON, DELTA)
        assert not 0.9 * DELTA <= priced("flip", ask) <= DELTA
