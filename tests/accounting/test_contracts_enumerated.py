"""What a contract promises is never less than what enumeration finds."""

import pytest

from accounting.random_contracts import several_terms
from helpers.exact_plans import true_sum as delta
from helpers.sampled import exhaustive
from mixtally.accounting.accountant import Accountant
from mixtally.accounting.plans.terms import PrivacyTerms, delta_of
from mixtally.model.contract import FakeRecord, OwnFakes, Part
from mixtally.model.guarantee import Guarantee
from mixtally.model.layout import Form, Layout
from mixtally.model.recipe import NoRecipe

QUICK, MANY = 40, 300
SEED = 20
DIGITS = 1e-13
"""What the enumeration may be wrong by."""


def below_the_truth(cases):
    """Cases whose certificate is below the truth, or whose lower bound is above it."""
    accountant = Accountant()
    for terms in cases:
        bounds, true = delta_of(terms, accountant), delta(terms)
        if true > bounds.upper * (1.0 + DIGITS) + DIGITS:
            yield terms, bounds, true
        if bounds.lower > true * (1.0 + 1e-8) + DIGITS:
            yield terms, bounds, true


def test_no_certificate_is_below_the_truth():
    assert list(below_the_truth(several_terms(SEED, QUICK))) == []


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
        repeats=1,
    )
    terms = PrivacyTerms(
        (part,), Guarantee(epsilon=0.05, delta=0.1), 1, 2, count_flips=False, hops=3
    )
    assert list(below_the_truth([terms])) == []


@pytest.mark.slow
@pytest.mark.parametrize("part", [0, *exhaustive(range(1, 17))])
def test_no_certificate_is_below_the_truth_in_hundreds(part):
    assert list(below_the_truth(several_terms(1000 + part, MANY))) == []
