"""Plans for mixes in a row: who brings the cover, at the least noise that keeps the promise."""

import math
from fractions import Fraction

import pytest
from mixtally.planner.cascade import CascadeOption, CascadeRequest, cascade
from mixtally.planner.cascade.parts import least_cap, shortest

from helpers.sampled import among
from mixtally.errors import InfeasibleError, ParameterError
from mixtally.planner import PlanRequest
from mixtally.privacy.accountant import Accountant
from mixtally.privacy.overflow import overflow
from mixtally.privacy.terms import Stake, check_terms, delta_of
from mixtally.records.contract import (
    BlanksRecipe,
    Cover,
    FakeRecord,
    OwnFakes,
    ShapedRecipe,
    read_plan,
    write_plan,
)
from mixtally.records.guarantee import Guarantee
from mixtally.records.layout import Form
from mixtally.records.question import Kind, Question, with_attributes

USERS = 100_000
ONE = Question(name="answer", bins=1000)
QUESTIONS = {
    "one": (ONE, {}),
    "set": (Question(name="tags", bins=60, kind=Kind.SET, max_set=2), {}),
    "bits": (Question(name="bits", bins=3, kind=Kind.BITS), {"messages_per_user": 3.0}),
    "attributes": (with_attributes("pair", (4, 6)), {"messages_per_user": 4.0}),
    "twice": (ONE, {"collections": 2}),
}


@pytest.fixture(scope="module")
def accountant():
    return Accountant()


def asked(question=ONE, hops=3, mix_messages=None, **more):
    fields = {"users": USERS, "minimum_crowd": USERS // 2, "messages_per_user": 2.0, **more}
    request = PlanRequest(question=question, guarantee=Guarantee(epsilon=1.0, delta=1e-6), **fields)
    return CascadeRequest(request=request, hops=hops, mix_messages=mix_messages)


def every(choice):
    return [choice.best, *choice.others]


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=[pytest.mark.seconds] if kind in {"attributes", "twice"} else [])
        for kind in QUESTIONS
    ],
)
def test_every_option_keeps_its_promise(kind, accountant):
    question, more = QUESTIONS[kind]
    choice = cascade(asked(question, **more), accountant)
    covers = [option.plan.cover for option in every(choice)]
    assert covers == sorted(covers, key=lambda cover: cover is not Cover.MIXES)
    assert set(covers) == set(Cover)
    for option in every(choice):
        assert check_terms(option.plan, accountant).upper <= 1e-6
        assert read_plan(write_plan(option.plan), "plan") == option.plan


@pytest.mark.parametrize(("each", "error"), [(10**6, 13.06), (10**5, 23.55)])
def test_three_mixes_with_blanks_of_their_own_err_as_the_variance_says(each, error, accountant):
    """C (h + n / K), which is 13.1 for a million blanks a mix and a million people."""
    wanted = asked(users=10**6, minimum_crowd=None, protocol="flip-blank", mix_messages=each)
    choice = cascade(wanted, accountant)
    assert choice.best.plan.cover is Cover.MIXES
    assert choice.best.standard_error == pytest.approx(error, rel=2e-3)
    assert choice.best.messages_per_mix == each
    assert choice.best.standard_error == pytest.approx(math.sqrt(42.65 * (3 + 10**6 / each)), 1e-2)


def test_least_noise_is_found(accountant):
    """A thousandth less of what is sought and the promise is missed."""
    for option in every(cascade(asked(), accountant)):
        (part,) = option.plan.parts
        stake = Stake.of(option.plan)
        if part.threshold is not None:
            less = _with_threshold(part, round(part.threshold * 0.999))
        elif part.own is not None:
            coin = round(part.own.coin * 0.999)
            less = _replaced(part, own=OwnFakes(FakeRecord.UNIFORM, part.own.whole, coin))
        else:
            recipe = ShapedRecipe(part.recipe.ratio, part.recipe.shift - 1)
            less = _replaced(part, recipe=recipe)
        missed = Stake((less,), *_rest(stake))
        assert delta_of(missed, accountant).upper > 1e-6, option.name


def _rest(stake):
    return stake.guarantee, stake.collections, stake.people, stake.count_flips, stake.hops


def _with_threshold(part, threshold):
    if isinstance(part.recipe, BlanksRecipe):
        recipe = BlanksRecipe(part.recipe.count, threshold)
        return _replaced(part, threshold=threshold, recipe=recipe)
    return _replaced(part, threshold=threshold)


def _replaced(part, **changes):
    from msgspec.structs import replace

    return replace(part, **changes)


def test_without_a_minimum_crowd_people_bring_nothing(accountant):
    choice = cascade(asked(minimum_crowd=None), accountant)
    assert {option.plan.cover for option in every(choice)} == {Cover.MIXES}
    assert "--minimum-crowd" in {one.protocol: one.needs for one in choice.infeasible}["flip-blank"]
    assert choice.best.plan.minimum_crowd == 1


def test_a_mix_that_may_add_little_leaves_it_to_people(accountant):
    choice = cascade(asked(mix_messages=10, protocol="clear-uniform"), accountant)
    assert choice.best.plan.cover is Cover.PEOPLE
    assert "people bring the cover" in choice.reason


def test_a_budget_of_half_a_fake_tosses_coins(accountant):
    choice = cascade(asked(messages_per_user=1.5, protocol="flip-blank"), accountant)
    (people,) = [one for one in every(choice) if one.plan.cover is Cover.PEOPLE]
    assert people.plan.parts[0].own == OwnFakes(FakeRecord.BLANK, 0, 1 << 63)
    assert people.messages_per_user == 1.5
    plain = cascade(asked(protocol="flip-blank"), accountant)
    assert people.standard_error > plain.best.standard_error * 0.9


@pytest.mark.parametrize("collections", among([1, 3], [1]))
@pytest.mark.parametrize("count_crowd", [False, True])
def test_no_option_tells_more_than_the_local_epsilon(collections, count_crowd, accountant):
    """Searches for flips among people's own fakes went on below what it wants: 48 of 4.61."""
    wanted = asked(
        Question(name="q", bins=20),
        minimum_crowd=2000,
        messages_per_user=1.5,
        local_epsilon=5.0,
        collections=collections,
        count_crowd=count_crowd,
    )
    found = every(cascade(wanted, accountant))
    people = [one for one in found if one.plan.cover is Cover.PEOPLE]
    assert any(one.plan.parts[0].own.coin for one in people if one.plan.parts[0].own)
    for one in found:
        assert one.plan.local_epsilon <= 5.0 * (1.0 + 1e-9)


def test_only_honest_people_of_the_minimum_crowd_are_counted_on(accountant):
    wanted = asked(honest_share=0.7, protocol="clear-uniform", messages_per_user=3.0)
    assert wanted.people == 35_000
    (option,) = every(cascade(wanted, accountant))
    assert option.plan.sure_people == 35_000
    assert check_terms(option.plan, accountant).upper <= 1e-6


def test_a_budget_is_shared_by_all_parts():
    wanted = asked(messages_per_user=3.0)
    assert [wanted.own_fakes(parts) for parts in (1, 2, 3)] == [2, Fraction(1, 2), 0]
    assert wanted.own_fakes(4) < 0


def test_nothing_fits_and_it_is_said_why(accountant):
    with pytest.raises(InfeasibleError, match="clear-uniform needs --minimum-crowd"):
        cascade(asked(minimum_crowd=None, protocol="clear-uniform"), accountant)


@pytest.mark.parametrize("hops", [0, 6])
def test_a_number_of_mixes_that_nobody_runs_is_refused(hops):
    with pytest.raises(ParameterError, match="hops"):
        asked(hops=hops)


@pytest.mark.parametrize("bins", [65, 1000, 100_000])
@pytest.mark.parametrize("threshold", [1 << 45, 1 << 52, 1 << 60])
def test_the_layout_is_the_shorter_and_its_cap_the_least(bins, threshold):
    rare = 1e-15
    layout = shortest(bins, 1, threshold, rare)
    cap = least_cap(bins, 1, threshold, rare)
    assert overflow(bins, 1, threshold, cap) <= rare
    assert cap == 1 or overflow(bins, 1, threshold, cap - 1) > rare
    dense = -(-bins // 8)
    listed = (1 if cap < 256 else 2) + -(-cap * (bins - 1).bit_length() // 8)
    assert layout.message_bytes == min(dense, listed)
    assert (layout.form is Form.POSITIONS) == (listed < dense)


def test_facts_are_plain(accountant):
    facts = cascade(asked(), accountant).facts()
    assert facts["cover"] == "every mix"
    assert facts["assumption"].startswith("holds if any one of the 3 mixes is honest")
    assert all(other["delta"] <= 1e-6 for other in facts["alternatives"])
    assert isinstance(cascade(asked(), accountant).best, CascadeOption)
