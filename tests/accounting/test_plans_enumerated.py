"""No plan promises more than it keeps: random ones of every mechanism, each outcome enumerated."""

from fractions import Fraction
from random import Random

import pytest
from msgspec.structs import replace

from accounting import brute_sets, test_kary_response, test_sets_among_shapes
from accounting.enumerated_plans import cases, table
from accounting.random_plans import MECHANISMS
from helpers import contracts as c
from helpers import exact_plans
from helpers.exact_plans import honest_people, true_delta
from helpers.sampled import exhaustive
from mixtally.accounting.plans.terms import PrivacyTerms, certify_terms
from mixtally.model.contract import LaplaceShape, OwnFakes, UniformRecipe
from mixtally.model.layout import Form, Layout
from mixtally.model.question import Kind, Question
from mixtally.primitives.fixed_point import SCALE
from oracle import exp_exactly

SEED, QUICK, SOME, MANY = 31, 12, 30, 300
"""How many: a mechanism, where seconds are taken, and in each part of the longest."""


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_truth_lies_within_its_bounds(name):
    assert [one for one in cases(SEED, QUICK, name) if one.wrong] == []


@pytest.mark.seconds
@pytest.mark.parametrize("name", MECHANISMS)
def test_and_so_it_does_for_more(name):
    found = list(cases(1 + SEED, SOME, name))
    assert [one for one in found if one.wrong] == []
    assert len(table(found)) == 3


@pytest.mark.slow
@pytest.mark.parametrize("part", [0, *exhaustive(range(1, 17))])
def test_and_for_hundreds(part):
    assert [one for one in cases(1000 + part, MANY) if one.wrong] == []


@pytest.mark.parametrize("share", [0.25, 1 / 3, 0.5])
def test_two_bins_among_coins_have_two_directions(share):
    """Which of them is worse depends on how many fakes came, so the larger has no average."""
    own = OwnFakes(c.FakeRecord.UNIFORM, 0, 3 << 62)
    part = c.replaced(2, share=share, own=own)
    plan = c.plan_of(Question(name="q", bins=2), [part], users=4, epsilon=0.3)
    bounds, truth = certify_terms(PrivacyTerms.of(plan)), true_delta(plan, Random(0))
    assert 0.5 * truth < bounds.lower <= truth <= bounds.upper


def parts_of(plan, change):
    """The plan with every part changed."""
    return replace(plan, parts=tuple(change(part) for part in plan.parts))


def coins_always_show(plan):
    def change(part):
        own = part.own
        return part if own is None else replace(part, own=OwnFakes(own.record, own.whole + 1, 0))

    return parts_of(plan, change)


def everybody_is_honest(plan):
    return replace(plan, honest_share=1.0)


def one_person_more(plan):
    """Who holds the value counts among those whose replacements hide it."""
    people = honest_people(plan) + 1
    return replace(plan, minimum_crowd=people, users=max(people, plan.users), honest_share=1.0)


def recipes_of(plan, change):
    def changed(part):
        return replace(part, recipe=UniformRecipe(change(part.recipe.count)))

    return parts_of(plan, changed)


def a_shift_more(plan):
    def change(part):
        return replace(part, recipe=replace(part.recipe, shift=part.recipe.shift + 1))

    return parts_of(plan, change)


def as_one_message(plan):
    (part,) = plan.parts
    one = replace(part, most_set=1, layout=Layout(Form.INDEX, part.bins))
    return replace(plan, parts=(one,), question=Question(name="q", bins=part.bins))


def once(plan):
    first = plan.parts[:1]
    question = Question(name="q", bins=first[0].bins)
    return replace(plan, parts=first, question=question, grid=None, collections=1)


PRICED_WRONGLY = {
    "a coin forgotten": ("clear-uniform of people", coins_always_show),
    "a coin forgotten among sets": ("sets among uniform", coins_always_show),
    "a coin forgotten over planes": ("planes of people", coins_always_show),
    "a coin forgotten beside replacements": ("k-ary among fakes", coins_always_show),
    "all are honest": ("clear-uniform of people", everybody_is_honest),
    "all replace as told": ("k-ary", everybody_is_honest),
    "one's own replacement counted for others": ("k-ary", one_person_more),
    "one's own beside fakes": ("k-ary among fakes", one_person_more),
    "one's own over planes": ("k-ary over planes", one_person_more),
    "a replaced set as one value": ("k-ary sets", as_one_message),
    "a fake of a mix too many": (
        "clear-uniform of mixes", lambda plan: recipes_of(plan, lambda count: count + 1),
    ),
    "a fake of a mix over planes too many": (
        "planes of mixes", lambda plan: recipes_of(plan, lambda count: count + 1),
    ),
    "the fakes of all mixes": (
        "planes of mixes", lambda plan: recipes_of(plan, lambda count: count * plan.hops),
    ),
    "a Laplace shift too far": ("Laplace, one cut", a_shift_more),
    "a Gaussian shift too far": ("Gaussian", a_shift_more),
    "a set priced as one message": ("sets among shapes", as_one_message),
    "a fake of a mix among slots too many": (
        "slots of mixes", lambda plan: recipes_of(plan, lambda count: count + 1),
    ),
    "a coin forgotten among slots": ("slots of people", coins_always_show),
    "two streams priced as one": ("Gaussian", once),
    "two collections priced as one": ("clear-uniform of people", once),
}  # fmt: skip


@pytest.mark.parametrize("name", PRICED_WRONGLY)
def test_a_wrong_price_is_found(name):
    mechanism, priced = PRICED_WRONGLY[name]
    assert any(one.below for one in cases(SEED, QUICK, mechanism, priced=priced))


def pads_of_one_bin(honest, part, contents):
    """Members that are lacking are one bin, and that as likely as any other."""
    if len(contents) >= part.most_set:
        return honest(part, contents)
    pads = (part.bins,) * (part.most_set - len(contents))
    return {sum(exact_plans.seen(one) for one in (*contents, *pads)): 1}


def replaced_by_others(honest, part, contents):
    """A replaced value is never the person's own."""
    own = exact_plans.in_clear(part, contents[0])
    others = {message: 1 for message in exact_plans.uniform(part) if message not in own}
    return exact_plans.mixed([(own, SCALE - part.replaced), (others, part.replaced)])


def the_first_direction(honest, part, contents):
    """Values are named by the planes of one direction, fakes by those of all."""
    whole = honest(part, contents)
    return dict([min(whole.items())])


DRAWN_WRONGLY = {
    "pads of one ordinary bin": ("sets among uniform", "sent", pads_of_one_bin),
    "pads of one shape": ("sets among shapes", "sent", pads_of_one_bin),
    "a replaced value is another": ("k-ary", "sent", replaced_by_others),
    "one direction for all": ("planes of mixes", "in_clear", the_first_direction),
    "fakes of people as mixes'": (
        "flips among fakes", "fakes", lambda honest, part, people: honest(part, people - 1),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DRAWN_WRONGLY)
def test_a_wrong_draw_is_found(name, plant):
    mechanism, what, change = DRAWN_WRONGLY[name]
    plant(exact_plans, what, change)
    assert any(one.below for one in cases(SEED, 2 * SOME, mechanism))


def test_the_truth_of_sets_is_that_of_another_enumeration():
    question, grow = Question(name="s", bins=2, kind=Kind.SET, max_set=2), exp_exactly(1.0)
    plan = c.plan_of(question, [c.uniform(2, most_set=2, whole=1, coin=0)], users=2)
    assert true_delta(plan, Random(0)) == brute_sets.worst(2, 2, 2, grow)
    shape = LaplaceShape(SCALE >> 14, 1)
    part = c.shaped(2, ratio=shape.ratio, shift=1, most_set=2)
    truth = true_delta(c.plan_of(question, [part]), Random(0))
    assert truth == test_sets_among_shapes.worst(2, 2, shape.weights, grow)


def test_the_truth_of_replaced_values_is_that_of_another_enumeration():
    own = OwnFakes(c.FakeRecord.UNIFORM, 1, 0)
    plan = c.plan_of(Question(name="q", bins=3), [c.replaced(3, share=0.25, own=own)], users=3)
    other = test_kary_response.truth(3, 3, Fraction(1, 4), 3, exp_exactly(1.0))
    assert true_delta(plan, Random(0)) == other
