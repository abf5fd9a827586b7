"""Messages with two bins get fakes with a fixed total, and no other message does."""

import math
from functools import cache

import pytest
from msgspec.structs import replace

from mixtally.accounting.plans.terms import PrivacyTerms, certify_terms
from mixtally.errors import InfeasibleError
from mixtally.model.guarantee import Guarantee
from mixtally.model.question import Kind, Question, make_attributes_question
from mixtally.model.shape import PairedGaussianShape, PairedLaplaceShape
from mixtally.planning.choose import choose
from mixtally.planning.explain import explain
from mixtally.planning.request import PlanRequest

YES_NO, BITS = Question(name="q", bins=2), Question(name="q", bins=20, kind=Kind.BITS)


def asked(question=YES_NO, **more):
    return PlanRequest(
        question=question,
        guarantee=Guarantee(epsilon=1.0, delta=1e-6),
        users=10**6,
        mix_fakes=True,
        messages_per_user=max(2, question.bins if question.kind is Kind.BITS else question.max_set),
        **more,
    )


@cache
def planned(question=YES_NO, **more):
    return choose(asked(question, **more)).plan


KNOWN = {
    "yes or no": ({}, PairedLaplaceShape, 1.357, 28),
    "yes or no by 3 hops": ({"hops": 3}, PairedLaplaceShape, 2.350, 28),
    "4 collections": ({"collections": 4}, PairedLaplaceShape, 5.642, 106),
    "365 collections": ({"collections": 365}, PairedGaussianShape, 81.12, 938),
    "20 bits": ({"question": BITS}, PairedGaussianShape, 19.00, 210),
}
"""The request, the shape, the standard error and the fakes of a mix for each message."""


@pytest.mark.parametrize("name", KNOWN)
def test_the_least_error_is_as_known(name):
    given, kind, error, total = KNOWN[name]
    plan = planned(**given)
    assert (plan.protocol, plan.cover) == ("clear-shaped", "every mix")
    assert plan.standard_error == pytest.approx(error, rel=1e-3)
    assert {(type(part.recipe), part.mean_added) for part in plan.parts} == {(kind, total)}
    assert plan.certificate.upper <= 1e-6
    assert plan.messages_per_mix == total * len(plan.parts)


@pytest.mark.parametrize("name", KNOWN)
def test_neither_a_fake_fewer_nor_less_variance_keeps_the_promise(name):
    given, kind, *_ = KNOWN[name]
    plan = planned(**given)
    recipe = plan.parts[0].recipe
    less = [replace(recipe, shift=recipe.shift - 1)]
    if kind is PairedGaussianShape:
        less.append(replace(recipe, variance=recipe.variance - 2))
    for one in less:
        parts = tuple(replace(part, recipe=one) for part in plan.parts)
        terms = PrivacyTerms.of(replace(plan, parts=parts))
        assert certify_terms(terms).upper > 1e-6


def test_other_messages_are_planned_as_they_were():
    attributes = make_attributes_question("q", (2, 3))
    pairs = Question(name="q", bins=2, kind=Kind.SET, max_set=2)
    for question in (Question(name="q", bins=3), attributes, pairs):
        plan = choose(asked(question, protocol="clear-shaped")).plan
        assert not any(part.recipe.paired for part in plan.parts)


def test_attributes_of_two_values_are_planned_as_bits():
    plan = planned(make_attributes_question("q", (2, 2, 2)))
    assert {type(part.recipe) for part in plan.parts} == {PairedLaplaceShape}
    assert plan.standard_error == pytest.approx(3.0 * math.sqrt(2.0), rel=0.02)


def test_the_budget_of_mixes_limits_the_total():
    assert planned(mix_messages=28).parts[0].mean_added == 28
    with pytest.raises(InfeasibleError, match="clear-shaped needs --mix-messages 28"):
        choose(asked(mix_messages=27, protocol="clear-shaped"))


def test_every_number_is_explained():
    plan = planned(hops=3)
    found = explain(plan)
    assert found["shape_total"].startswith("2 x shape shift")
    assert "both bins together lose one decay" in found["shape_decay"]
    assert "1 / bins" not in found["standard_error"]
    facts = plan.facts()
    assert (facts["shape_total"], facts["fakes"]) == (28, 84)
    assert facts["standard_error"] ** 2 == pytest.approx(3 * plan.parts[0].recipe.spread)
