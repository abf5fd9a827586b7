"""Calibrated noise costs between 0.9 and 1 of its target, for every protocol and option."""

import pytest
from msgspec.structs import replace

from accounting import by_name
from helpers.protocols import examples_of
from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.calibrate import calibrate
from mixtally.accounting.divergence import memoized as answers
from mixtally.accounting.parameters import parse_parameters
from mixtally.model.guarantee import Observer
from mixtally.model.mechanism import Parameter, mechanism_of
from mixtally.model.mechanism.memoized import make_memoized

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
    ("kary-response", {"bins": 50, "users": 5000}),
    ("kary-response", {"bins": 50, "users": 5000, "replaced": 0.1}),
    ("flip-uniform", {"fakes": 200, "bins": 50, "users": 5000, "count_crowd": True}),
    ("flip-uniform", {"fakes": 1000, "bins": 50, "users": 5000, "observer": SUMS}),
]
WHOLE = [("clear-shaped", {}), ("clear-shaped", {"repeats": 3})]
"""A shift is a small whole number, and one less must miss the target."""


def named(case):
    name, given = case
    return " ".join([name, *(f"{key}={value}" for key, value in given.items())])


def priced(record):
    return Accountant().certificate(record, EPSILON).upper


def test_what_is_found_for_any_protocol_has_the_price_it_was_searched_for(protocol):
    """Whole numbers that are small jump over the target: one less misses it."""
    for left_out in mechanism_of(protocol).PROTOCOLS[protocol].sought:
        given = examples_of(protocol).with_values(**{left_out: None})
        read = parse_parameters(protocol, given, for_epsilon=EPSILON)
        found = calibrate(Accountant(), read.honest_record, read.sought_parameter, EPSILON, DELTA)
        price, value = priced(found), found.message.mechanism.parameter_value(read.sought_parameter)
        assert price <= DELTA
        if value > read.sought_parameter.low and price < 0.9 * DELTA:
            assert priced(found.with_parameter(read.sought_parameter, value - 1)) > DELTA


@pytest.mark.seconds
@pytest.mark.parametrize("case", FINE, ids=map(named, FINE))
def test_calibrated_noise_has_the_price_it_was_searched_for(case):
    name, given = case
    record = by_name.calibrated(name, EPSILON, DELTA, **given)
    assert 0.9 * DELTA <= priced(record) <= DELTA


def test_calibrated_memoized_answers_have_the_price_they_were_searched_for():
    found = answers.least_permanent(make_memoized(2, 1.0, 0.5, 0.75, hashes=1), 5, EPSILON, DELTA)
    assert 0.9 * DELTA <= answers.certificate(found, 5, EPSILON).upper <= DELTA


@pytest.mark.parametrize("case", WHOLE, ids=map(named, WHOLE))
def test_no_smaller_shift_would_do(case):
    name, given = case
    record = by_name.calibrated(name, EPSILON, DELTA, **given)
    less = record.with_parameter(Parameter.SHIFT, by_name.value(record, Parameter.SHIFT) - 1)
    assert priced(record) <= DELTA < priced(less)


def test_a_price_of_more_people_than_the_noise_was_searched_for_is_noticed():
    for given in ({"users": 5000, "bits": 4}, {"users": 5000}):
        record = by_name.calibrated("flip", EPSILON, DELTA, **given)
        mechanism = record.message.mechanism
        crowded = Record.of(replace(mechanism, crowd=mechanism.crowd * 3 // 2))
        assert not 0.9 * DELTA <= priced(crowded) <= DELTA
