"""A guarantee stays within the ranges in which the mathematics is stated."""

import math

import pytest

from mixtally.errors import ParameterError
from mixtally.ground.codec import canonical, from_canonical
from mixtally.records import guarantee
from mixtally.records.guarantee import Guarantee, Observer


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 20.0])
@pytest.mark.parametrize("delta", [1e-15, 1e-6, 0.1])
def test_a_guarantee_in_range_is_accepted(epsilon, delta):
    promised = Guarantee(epsilon=epsilon, delta=delta)
    assert (promised.epsilon, promised.delta) == (epsilon, delta)
    assert promised.observer is Observer.MESSAGES


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, 0.009, 20.1, math.inf, -math.inf])
def test_an_epsilon_outside_its_range_is_refused(epsilon):
    with pytest.raises(ParameterError, match="epsilon"):
        Guarantee(epsilon=epsilon, delta=1e-6)


@pytest.mark.parametrize("delta", [0.0, 0.2, math.nan, -1e-6, 9e-16, 1.0, math.inf])
def test_a_delta_outside_its_range_is_refused(delta):
    with pytest.raises(ParameterError, match="delta"):
        Guarantee(epsilon=1.0, delta=delta)


@pytest.mark.parametrize("users", [2, 1000, 10**10])
def test_a_number_of_users_in_range_comes_back_itself(users):
    assert guarantee.checked_users(users) == users


@pytest.mark.parametrize("users", [-5, 0, 1, 10**10 + 1])
def test_a_number_of_users_outside_its_range_is_refused(users):
    with pytest.raises(ParameterError, match="users"):
        guarantee.checked_users(users)


@pytest.mark.parametrize("fraction", [1e-12, 0.5, 1.0])
def test_an_honest_fraction_in_range_comes_back_itself(fraction):
    assert guarantee.checked_fraction(fraction) == fraction


@pytest.mark.parametrize("fraction", [0.0, -0.1, 1.0000001, math.nan, math.inf])
def test_an_honest_fraction_outside_its_range_is_refused(fraction):
    with pytest.raises(ParameterError, match="honest fraction"):
        guarantee.checked_fraction(fraction)


def test_equal_guarantees_have_equal_bytes():
    """A whole number for epsilon must not give the same promise a second fingerprint."""
    whole, decimal = Guarantee(epsilon=1, delta=1e-6), Guarantee(epsilon=1.0, delta=1e-6)
    assert whole == decimal
    assert canonical(whole) == canonical(decimal)


def test_what_was_written_for_a_whole_epsilon_can_be_read_again():
    promised = Guarantee(epsilon=1, delta=1e-6)
    assert from_canonical(canonical(promised), Guarantee, "guarantee") == promised


@pytest.mark.parametrize(("sure", "fraction"), [(63, 0.7), (29, 0.58), (100, 0.8), (0, 0.5)])
def test_promised_fakes_leave_as_many_as_are_needed(sure, fraction):
    """Of 90 fakes 0.7 are 62.99.. in floating point: one more is promised."""
    fakes = guarantee.promised(sure, fraction)
    assert math.floor(fraction * fakes) >= sure
    assert fakes == 0 or math.floor(fraction * (fakes - 1)) < sure
