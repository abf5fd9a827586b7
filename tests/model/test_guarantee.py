"""A guarantee stays within the ranges in which the mathematics is stated."""

import math
import re
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.named import flip_blank
from mixtally.errors import ParameterError
from mixtally.model import guarantee
from mixtally.model.guarantee import Guarantee, Observer
from mixtally.primitives.codec import canonical_bytes, from_canonical


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
    assert guarantee.check_users(users) == users


@pytest.mark.parametrize("users", [-5, 0, 1, 10**10 + 1])
def test_a_number_of_users_outside_its_range_is_refused(users):
    with pytest.raises(ParameterError, match="users"):
        guarantee.check_users(users)


@pytest.mark.parametrize("fraction", [1e-12, 0.5, 1.0])
def test_an_honest_share_in_range_comes_back_itself(fraction):
    assert guarantee.check_fraction(fraction) == fraction


@pytest.mark.parametrize("fraction", [0.0, -0.1, 1.0000001, math.nan, math.inf])
def test_an_honest_share_outside_its_range_is_refused(fraction):
    with pytest.raises(ParameterError, match="honest share"):
        guarantee.check_fraction(fraction)


def test_equal_guarantees_have_equal_bytes():
    """A whole number for epsilon must not give the same promise a second fingerprint."""
    whole, decimal = Guarantee(epsilon=1, delta=1e-6), Guarantee(epsilon=1.0, delta=1e-6)
    assert whole == decimal
    assert canonical_bytes(whole) == canonical_bytes(decimal)


def test_what_was_written_for_a_whole_epsilon_can_be_read_again():
    promised = Guarantee(epsilon=1, delta=1e-6)
    assert from_canonical(canonical_bytes(promised), Guarantee, "guarantee") == promised


THIRD = 0.3333333333333333
BELOW_ONE = 0.9999999999999999


@pytest.mark.parametrize(
    ("sent", "fraction", "honest"),
    [
        (3, THIRD, 0),  # as a product of floats: one
        (3 * 10**12, THIRD, 10**12 - 1),
        (90, 0.7, 63),  # as a product of floats: 62.99..
        (100, 0.29, 29),
        (50, BELOW_ONE, 49),
        (10**13, BELOW_ONE, 10**13 - 1),
        (10**13, 1.0, 10**13),
        (10**12, 1e-12, 1),
        (10**12 - 1, 1e-12, 0),
        (0, 0.5, 0),
    ],
)
def test_what_certainly_arrives_is_exact_in_the_decimal_as_written(sent, fraction, honest):
    assert guarantee.count_arriving(sent, fraction) == honest
    assert (
        flip_blank(bins=3, fakes=sent, threshold=1 << 60).with_honest(fraction).fakes.count
        == honest
    )


@pytest.mark.parametrize(
    ("honest", "fraction", "fakes"),
    [(63, 0.7, 90), (29, 0.58, 50), (100, 0.8, 125), (0, 0.5, 0), (1, THIRD, 4), (7, 1.0, 7)],
)
def test_promised_fakes_leave_as_many_as_are_needed(honest, fraction, fakes):
    assert guarantee.count_promised(honest, fraction) == fakes
    assert guarantee.count_arriving(fakes, fraction) >= honest
    assert fakes == 0 or guarantee.count_arriving(fakes - 1, fraction) < honest


@given(sent=st.integers(0, 10**13), fraction=st.floats(1e-12, 1.0))
def test_no_fake_is_counted_that_a_fraction_does_not_hold(sent, fraction):
    honest = guarantee.count_arriving(sent, fraction)
    assert honest <= Fraction(str(fraction)) * sent < honest + 1
    assert guarantee.count_promised(honest, fraction) <= sent


def test_nobody_else_takes_a_share_of_fakes_or_people():
    """A product of floats counts one too many or too few: the one function is exact."""
    share = re.compile(
        r"(floor|ceil|int|round)\([^()]*(fraction|honest)\w* *[*/]|[*/] *\w*fraction\)"
    )
    sources = Path(guarantee.__file__).parents[1]
    assert share.search("math.floor(plan.honest_share * plan.users)")
    assert not [str(file) for file in sources.rglob("*.py") if share.search(file.read_text())]
