"""The certificate of a mechanism, from its final integers."""

import math

import pytest

from helpers import named
from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.divergence import clear_shaped, clear_uniform, flip_blank
from mixtally.accounting.numerics.bracket import Bracket, bracket
from mixtally.errors import AccountingError, ParameterError
from mixtally.model.certificate import Status
from mixtally.model.guarantee import Observer

BLANK = named.flip_blank(bins=5, fakes=1001, threshold=1 << 58)
UNIFORM = named.clear_uniform(bins=5, fakes=201)
SHAPED = named.clear_shaped(bins=5, ratio=1 << 63, shift=20)


def certify(mechanism, epsilon):
    return Accountant().certificate(Record.of(mechanism), epsilon)


def ends(certificate):
    return Bracket(certificate.lower, certificate.upper)


def test_a_certificate_states_the_divergence_of_its_own_protocol():
    assert ends(certify(BLANK, 1.0)) == flip_blank.delta(1001, 1 << 58, 1.0)
    assert ends(certify(UNIFORM, 0.5)) == clear_uniform.delta(201, 5, 0.5)
    assert ends(certify(SHAPED, 2.0)) == clear_shaped.delta(SHAPED.fakes.shape.weights, 2.0)


@pytest.mark.parametrize("mechanism", [BLANK, UNIFORM, SHAPED])
def test_a_certificate_says_for_whom_and_why(mechanism):
    shown = certify(mechanism, 1.0)
    assert (shown.epsilon, shown.observer, shown.status) == (1.0, Observer.MESSAGES, Status.PROVED)
    assert "Prop. 3.1" in shown.source
    assert "mix shuffles" in shown.assumption


@pytest.mark.parametrize("epsilon", [0.0, -1.0, 0.009, 20.1, math.nan])
@pytest.mark.parametrize("mechanism", [BLANK, UNIFORM, SHAPED])
def test_an_epsilon_outside_its_range_is_refused(mechanism, epsilon):
    with pytest.raises(ParameterError, match="epsilon"):
        certify(mechanism, epsilon)


def test_the_ends_grow_by_all_that_was_left_out():
    low, high = bracket(0.25, cut=0.01, rounding=0.02)
    assert low == pytest.approx(0.25 - 0.02, rel=1e-8)
    assert high == pytest.approx(0.25 + 0.03, rel=1e-8)
    assert bracket(0.25, cut=0.0).lower < 0.25 < bracket(0.25, cut=0.0).upper


@pytest.mark.parametrize("value", [0.0, 1e-300, 1.0, 1.0 + 1e-10])
def test_the_ends_never_leave_zero_and_one(value):
    low, high = bracket(value, cut=1e-20, rounding=1e-12)
    assert 0.0 <= low <= high <= 1.0


@pytest.mark.parametrize(
    ("value", "cut", "rounding"),
    [
        (math.nan, 0.0, 0.0),
        (-1e-300, 0.0, 0.0),
        (1.1, 0.0, 0.0),
        (math.inf, 0.0, 0.0),
        (0.5, math.nan, 0.0),
        (0.5, -1e-20, 0.0),
        (0.5, 0.0, math.nan),
        (0.5, 0.0, -1e-20),
        (0.5, 2.0, 0.0),
    ],
)
def test_a_divergence_that_cannot_be_stops_the_work(value, cut, rounding):
    with pytest.raises(AccountingError, match="nothing may be promised"):
        bracket(value, cut=cut, rounding=rounding)
