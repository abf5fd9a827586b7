"""What a contract promises is never less than what enumeration finds, and bugs are found by it."""

import pytest

from mixtally.errors import AccountingError
from mixtally.privacy import coins, overflow, terms
from mixtally.privacy.accountant import Accountant
from mixtally.privacy.terms import Stake, delta_of
from mixtally.records.contract import FakeRecord, OwnFakes, Part
from mixtally.records.guarantee import Guarantee
from mixtally.records.layout import Form, Layout
from mixtally.records.mechanism import Parameter
from mixtally.records.recipe import NoRecipe
from privacy.brute_contracts import delta
from privacy.random_contracts import stakes

QUICK, MANY = 30, 200
SEED = 20
DIGITS = 1e-13
"""What the enumeration may be wrong by."""


def below_the_truth(cases):
    """Cases whose certificate is below the truth, or whose lower bound is above it."""
    accountant = Accountant()
    for stake in cases:
        bounds, true = delta_of(stake, accountant), delta(stake)
        if true > bounds.upper * (1.0 + DIGITS) + DIGITS:
            yield stake, bounds, true
        if bounds.lower > true * (1.0 + 1e-8) + DIGITS:
            yield stake, bounds, true


def test_no_certificate_is_below_the_truth():
    assert list(below_the_truth(stakes(SEED, QUICK))) == []


def test_a_bit_among_fakes_by_coins_has_two_directions():
    """Which of them is worse depends on how many fakes came, so the larger has no average."""
    own = OwnFakes(FakeRecord.BLANK, 1, 1 << 63)
    part = Part(
        bins=1,
        most_set=None,
        threshold=(1 << 64) // 3,
        own=own,
        recipe=NoRecipe(),
        layout=Layout(Form.BITS, 1),
    )
    stake = Stake((part,), Guarantee(epsilon=0.05, delta=0.1), 1, 2, count_flips=False, hops=3)
    assert list(below_the_truth([stake])) == []


@pytest.mark.slow
@pytest.mark.parametrize("part", range(2))  # five thousand were looked at once: an hour
def test_no_certificate_is_below_the_truth_in_hundreds(part):
    assert list(below_the_truth(stakes(1000 + part, MANY))) == []


def noticed(cases):
    """Whether a wrong number is found, or stops the work by itself."""
    try:
        return next(below_the_truth(cases), None) is not None
    except (AccountingError, ValueError):
        return True


def test_a_coin_that_always_shows_a_fake_is_found(plant):

    def generous(honest, self, people, whole, coin):
        honest(self, people, whole + (coin > 0), 0)

    plant(coins.Fakes, "__init__", generous)
    assert noticed(stakes(SEED, QUICK))


def test_a_cap_that_costs_nothing_is_found(monkeypatch):
    monkeypatch.setattr(terms, "capped_cost", lambda _: 0.0)
    assert noticed(stakes(SEED, QUICK))


def test_a_cap_that_costs_the_person_alone_nothing_is_found(monkeypatch):
    honest = overflow.overflow
    monkeypatch.setattr(
        terms, "overflow", lambda bins, ones, *rest: 0.0 if ones else honest(bins, ones, *rest)
    )
    assert noticed(stakes(SEED, QUICK))


def test_recipes_of_all_hops_counted_together_are_found(plant):

    def all_of_them(honest, self, fakes):
        made = honest(self, fakes)
        return made.having(Parameter.FAKES, 3 * made.fakes_promised) if made.fakes_sent else made

    plant(terms.Counted, "mechanism", all_of_them)
    assert noticed(stakes(SEED, QUICK))
