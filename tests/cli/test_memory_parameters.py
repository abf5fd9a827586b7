"""Memoized answers by their options: what is missing, and what is not theirs, is refused."""

from dataclasses import fields, replace

import pytest

from mixtally.cli.mechanism import MechanismOptions, memoized, parsed
from mixtally.errors import ParameterError

WHOLE = MechanismOptions(protocol="memory", permanent=0.5, p=0.4, q=0.7, hashes=1, reports=9)
NEEDS = ("permanent", "p", "q", "hashes", "reports")


def test_what_is_needed_suffices():
    mechanism, reports = memoized(WHOLE)
    assert (mechanism.f, mechanism.hashes, reports) == (0.5, 1, 9)
    assert mechanism.shown == pytest.approx((0.4, 0.7), abs=2.0**-60)
    assert memoized(replace(WHOLE, users=12))[1] == 9


@pytest.mark.parametrize("field", NEEDS)
def test_a_missing_parameter_is_refused(field):
    with pytest.raises(ParameterError, match=r"^memory: wanted"):
        memoized(replace(WHOLE, **{field: None}))


def test_every_other_parameter_is_superfluous():
    extra = {
        "bins": 3, "bits": 3, "ones": 1, "max_set": 2, "background": "zero", "observer": "sums",
        "count_crowd": True, "repeats": 2, "fakes": 3, "flip": 0.1, "split": True,
        "shape_decay": 0.5, "shape_shift": 3,
    }  # fmt: skip
    every = {field.name for field in fields(MechanismOptions)}
    assert every == {*extra, *NEEDS, "protocol", "users", "honest_fraction"}
    for field, value in extra.items():
        with pytest.raises(ParameterError, match=r"^memory: wanted"):
            memoized(replace(WHOLE, **{field: value}))
    with pytest.raises(ParameterError, match=r"^--honest-fraction: wanted"):
        memoized(replace(WHOLE, honest_fraction=0.5))


@pytest.mark.parametrize(("field", "value"), [("fakes", 0), ("ones", 0), ("bits", 0)])
def test_nothing_of_something_counts_as_given(field, value):
    """No fakes and no ones are numbers like others."""
    with pytest.raises(ParameterError, match=r"^memory: wanted"):
        memoized(replace(WHOLE, **{field: value}))


def test_zero_is_a_probability_that_was_given():
    """A kept 0 that is never shown as 1."""
    assert memoized(replace(WHOLE, p=0.0))[0].shown[0] == 0.0


@pytest.mark.parametrize("field", NEEDS)
def test_what_belongs_to_memory_belongs_to_nobody_else(field):
    given = MechanismOptions(protocol="flip", users=9, flip=0.1)
    with pytest.raises(ParameterError, match=r"^flip: wanted its own parameters"):
        parsed(replace(given, **{field: getattr(WHOLE, field)}))


def test_zero_ones_are_told_to_the_accountant():
    given = MechanismOptions(protocol="single-bit", users=9, fakes=0, flip=0.1, ones=0)
    assert parsed(given).counted.message.others == 0
    assert parsed(replace(given, ones=None)).counted.message.others is None
