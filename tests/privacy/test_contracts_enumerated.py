"""What a contract promises is never less than what enumeration finds."""

import pytest

from mixtally.privacy.accountant import Accountant
from mixtally.privacy.terms import Stake, delta_of
from mixtally.records.contract import FakeRecord, OwnFakes, Part
from mixtally.records.guarantee import Guarantee
from mixtally.records.layout import Form, Layout
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
