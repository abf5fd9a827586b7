"""Memoized answers by their options: what is missing, and what is not theirs, is refused."""

import pytest

from mixtally.app.mechanism import MechanismOptions, PricedOptions, parse_memoized, parse_record
from mixtally.errors import ParameterError

MEMOIZED = {"permanent": 0.5, "p": 0.4, "q": 0.7, "hashes": 1, "reports": 9}
NEEDS = tuple(MEMOIZED)


def request(protocol="memory", honest_share=1.0, **given):
    return MechanismOptions(
        protocol=protocol, parameters=PricedOptions(**given), honest_share=honest_share
    )


def having(options, field, value):
    """The options with one more, or without one."""
    return request(options.protocol, options.honest_share, **{**options.list_given(), field: value})


WHOLE = request(**MEMOIZED)
OTHER = {"users": 9, "flip": 0.1}


def test_what_is_needed_suffices():
    mechanism, reports = parse_memoized(WHOLE)
    assert (mechanism.f, mechanism.hashes, reports) == (0.5, 1, 9)
    assert mechanism.report_probabilities == pytest.approx((0.4, 0.7), abs=2.0**-60)
    assert parse_memoized(having(WHOLE, "users", 12))[1] == 9


@pytest.mark.parametrize("field", NEEDS)
def test_a_missing_parameter_is_refused(field):
    with pytest.raises(ParameterError, match=r"^memory: expected"):
        parse_memoized(having(WHOLE, field, None))


def test_every_other_parameter_is_superfluous():
    extra = {
        "bins": 3, "bits": 3, "ones": 1, "max_set": 2, "background": "zero", "observer": "sums",
        "count_crowd": True, "repeats": 2, "fakes": 3, "flip": 0.1, "split": True,
        "shape_decay": 0.5, "shape_shift": 3, "shape_variance": 9, "replaced": 0.1,
        "slots": 1, "paired": True,
    }  # fmt: skip
    assert {one.name for one in PricedOptions.TABLE} == {*extra, *NEEDS, "users", "mixes"}
    for field, value in extra.items():
        with pytest.raises(ParameterError, match=r"^memory: expected"):
            parse_memoized(having(WHOLE, field, value))
    with pytest.raises(ParameterError, match=r"^--honest-share: expected"):
        parse_memoized(request(honest_share=0.5, **MEMOIZED))


@pytest.mark.parametrize(("field", "value"), [("fakes", 0), ("ones", 0), ("bits", 0)])
def test_nothing_of_something_counts_as_given(field, value):
    """No fakes and no ones are numbers like others."""
    with pytest.raises(ParameterError, match=r"^memory: expected"):
        parse_memoized(having(WHOLE, field, value))


def test_zero_is_a_probability_that_was_given():
    """A kept 0 that is never shown as 1."""
    assert parse_memoized(having(WHOLE, "p", 0.0))[0].report_probabilities[0] == 0.0


@pytest.mark.parametrize("field", NEEDS)
def test_what_belongs_to_memory_belongs_to_nobody_else(field):
    given = request("flip", **OTHER)
    assert parse_record(given).sought_parameter is None
    with pytest.raises(ParameterError, match=rf"^flip: expected .* and --{field}\."):
        parse_record(having(given, field, MEMOIZED[field]))


def test_zero_ones_are_told_to_the_accountant():
    given = request("single-bit", **OTHER, fakes=0, ones=0)
    assert parse_record(given).honest_record.message.others == 0
    assert parse_record(having(given, "ones", None)).honest_record.message.others is None
