"""A contract counts on the honest share of its least crowd, in every collection: by enumeration."""

from dataclasses import replace
from random import Random

import pytest
from msgspec.structs import replace as altered

from accounting.random_contracts import EPSILONS
from accounting.random_contracts import part as random_part
from helpers.contracts import plan_of, proved
from helpers.exact_plans import true_sum as delta
from mixtally.accounting.accountant import Accountant
from mixtally.accounting.plans.terms import PrivacyTerms, certify_terms, delta_of, verify
from mixtally.errors import PlanError
from mixtally.model.contract import FakeRecord, LaplaceShape, OwnFakes, Part
from mixtally.model.guarantee import Guarantee
from mixtally.model.layout import Form, Layout
from mixtally.model.question import Question
from mixtally.model.recipe import NoRecipe
from mixtally.primitives.fixed_point import SCALE

SEED, QUICK, MANY = 7, 6, 200
DIGITS = 1e-13
"""What the enumeration may be wrong by."""
CROWDS = ((4, 0.5, 2), (5, 0.4, 2), (5, 0.6, 3), (7, 0.43, 3))
"""The least crowd, the share of it that is honest, and how many these are."""


def contracts(seed, count):
    """Plan whose cover are people, of whom a share is honest, and the number of these."""
    draw = Random(seed)
    while count:
        part = random_part(draw, draw.choice(("uniform", "own", "flips")), small=True)
        if part.most_set != 1:
            continue
        users, share, honest = draw.choice(CROWDS)
        count -= 1
        yield (
            plan_of(
                Question(name="q", bins=part.bins),
                [part],
                users=users,
                honest_share=share,
                epsilon=draw.choice(EPSILONS),
                collections=draw.choice((1, 2)) if part.own else 1,
                hops=draw.randint(1, 5),
            ),
            honest,
        )


def below_the_truth(seed, count):
    """Plan whose certificate is below the truth among their honest people."""
    accountant = Accountant()
    for plan, honest in contracts(seed, count):
        truth = delta(replace(PrivacyTerms.of(plan), people=honest))
        if truth > certify_terms(PrivacyTerms.of(plan), accountant).upper * (1.0 + DIGITS) + DIGITS:
            yield plan


def test_no_certificate_counts_on_more_than_the_honest():
    assert list(below_the_truth(SEED, QUICK)) == []


@pytest.mark.slow
def test_nor_does_any_of_many():
    assert list(below_the_truth(1 + SEED, MANY)) == []


def test_every_collection_adds_its_delta():
    """Steep fakes tell nearly nothing or all: two collections tell twice as often as one."""
    part = Part(
        bins=2,
        most_set=1,
        threshold=None,
        own=None,
        recipe=LaplaceShape(SCALE >> 12, 1),
        layout=Layout(Form.INDEX, 2),
        repeats=1,
    )
    for collections in (1, 2):
        terms = PrivacyTerms((part,), Guarantee(epsilon=1.0, delta=0.1), collections, 0, False, 3)
        bounds, true = delta_of(terms, Accountant()), delta(terms)
        assert true <= bounds.upper <= 1.01 * true if collections == 1 else true <= bounds.upper


@pytest.mark.parametrize("below", [5e-7, 1e-8, 2e-9])
def test_no_contract_states_less_than_is_proved_of_it(below):
    part = Part(
        bins=2,
        most_set=1,
        threshold=None,
        own=OwnFakes(FakeRecord.UNIFORM, 0, 1 << 62),
        recipe=NoRecipe(),
        layout=Layout(Form.INDEX, 2),
        repeats=1,
    )
    accountant = Accountant()
    plan = proved(plan_of(Question(name="q", bins=2), [part]), accountant)
    assert verify(plan, accountant) == plan.certificate
    less = altered(plan.certificate, upper=plan.certificate.upper * (1.0 - below))
    assert less.lower < less.upper
    with pytest.raises(PlanError, match="was altered"):
        verify(altered(plan, certificate=less), accountant)
