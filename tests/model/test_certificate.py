"""A certificate fails closed."""

import math

import pytest

from mixtally.errors import AccountingError, InputError
from model.builders import a_certificate


@pytest.mark.parametrize(("lower", "upper"), [(0.0, 0.0), (0.0, 1.0), (1e-7, 1e-6), (1.0, 1.0)])
def test_ordered_ends_between_zero_and_one_are_accepted(lower, upper):
    shown = a_certificate(lower=lower, upper=upper)
    assert (shown.lower, shown.upper) == (lower, upper)


@pytest.mark.parametrize(
    ("lower", "upper"),
    [
        (math.nan, 0.5),
        (0.1, math.nan),
        (math.nan, math.nan),
        (-1e-300, 0.5),
        (-0.5, -0.1),
        (0.2, 0.1),
        (0.5, math.nextafter(0.5, 0)),
        (0.5, math.nextafter(1.0, 2)),
        (0.5, math.inf),
        (-math.inf, 0.5),
    ],
)
def test_numbers_that_cannot_be_right_stop_the_work(lower, upper):
    with pytest.raises(AccountingError, match="nothing may be promised"):
        a_certificate(lower=lower, upper=upper)


def test_a_wrong_number_of_ours_is_not_called_a_wrong_input():
    assert not issubclass(AccountingError, InputError)


def test_a_certificate_cannot_be_improved_afterwards():
    with pytest.raises(AttributeError):
        a_certificate().upper = 0.0
