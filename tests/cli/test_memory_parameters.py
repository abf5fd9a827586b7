"""Memoized answers by their options: what is missing, and what is not theirs, is refused."""

from dataclasses import replace

import pytest

from mixtally.app.mechanism import MechanismOptions, memoized, parsed
from mixtally.app.options import values
from mixtally.app.parameters import MemoizedOptions, SendingOptions
from mixtally.errors import ParameterError

MEMOIZED = MemoizedOptions(permanent=0.5, p=0.4, q=0.7, hashes=1, reports=9)
WHOLE = MechanismOptions(protocol="memory", sending=SendingOptions(), memoized=MEMOIZED)
OTHER = replace(WHOLE, users=9, flip=0.1, memoized=MemoizedOptions())
NEEDS = ("permanent", "p", "q", "hashes", "reports")


def having(options, field, value):
    """The options with one more, in whichever group it is."""
    for name in ("sending", "memoized"):
        group = getattr(options, name)
        if field in values(group):
            return replace(options, **{name: replace(group, **{field: value})})
    return replace(options, **{field: value})


def test_what_is_needed_suffices():
    mechanism, reports = memoized(WHOLE)
    assert (mechanism.f, mechanism.hashes, reports) == (0.5, 1, 9)
    assert mechanism.shown == pytest.approx((0.4, 0.7), abs=2.0**-60)
    assert memoized(replace(WHOLE, users=12))[1] == 9


@pytest.mark.parametrize("field", NEEDS)
def test_a_missing_parameter_is_refused(field):
    with pytest.raises(ParameterError, match=r"^memory: wanted"):
        memoized(having(WHOLE, field, None))


def test_every_other_parameter_is_superfluous():
    extra = {
        "bins": 3, "bits": 3, "ones": 1, "max_set": 2, "background": "zero", "observer": "sums",
        "count_crowd": True, "repeats": 2, "fakes": 3, "flip": 0.1, "split": True,
        "shape_decay": 0.5, "shape_shift": 3, "shape_variance": 9, "replaced": 0.1,
    }  # fmt: skip
    assert set(values(WHOLE)) == {*extra, *NEEDS, "protocol", "users", "honest_share"}
    for field, value in extra.items():
        with pytest.raises(ParameterError, match=r"^memory: wanted"):
            memoized(having(WHOLE, field, value))
    with pytest.raises(ParameterError, match=r"^--honest-share: wanted"):
        memoized(replace(WHOLE, honest_share=0.5))


@pytest.mark.parametrize(("field", "value"), [("fakes", 0), ("ones", 0), ("bits", 0)])
def test_nothing_of_something_counts_as_given(field, value):
    """No fakes and no ones are numbers like others."""
    with pytest.raises(ParameterError, match=r"^memory: wanted"):
        memoized(having(WHOLE, field, value))


def test_zero_is_a_probability_that_was_given():
    """A kept 0 that is never shown as 1."""
    assert memoized(having(WHOLE, "p", 0.0))[0].shown[0] == 0.0


@pytest.mark.parametrize("field", NEEDS)
def test_what_belongs_to_memory_belongs_to_nobody_else(field):
    given = replace(OTHER, protocol="flip")
    with pytest.raises(ParameterError, match=r"^flip: wanted its own parameters"):
        parsed(having(given, field, getattr(MEMOIZED, field)))


def test_zero_ones_are_told_to_the_accountant():
    given = replace(OTHER, protocol="single-bit", fakes=0, ones=0)
    assert parsed(given).counted.message.others == 0
    assert parsed(replace(given, ones=None)).counted.message.others is None
