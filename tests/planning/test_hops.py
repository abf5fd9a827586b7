"""Mixes in a row: any of them may draw the cover, and people only where enough certainly come."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from msgspec.structs import replace as altered

from helpers.sampled import among
from mixtally.errors import InfeasibleError, ParameterError
from mixtally.model.contract import Cover, FakeRecord, OwnFakes
from mixtally.model.guarantee import Guarantee
from mixtally.model.question import Kind, Question, make_attributes_question
from mixtally.planning import Planner, PlanRequest, choose
from planning.requests import proved, surveyed

USERS = 100_000
ONE = Question(name="answer", bins=1000)
QUESTIONS = {
    "one": (ONE, {}),
    "set": (Question(name="tags", bins=60, kind=Kind.SET, max_set=2), {}),
    "bits": (Question(name="bits", bins=3, kind=Kind.BITS), {"messages_per_user": 3.0}),
    "attributes": (make_attributes_question("pair", (4, 6)), {"messages_per_user": 4.0}),
    "twice": (ONE, {"collections": 2}),
}
every_kind = pytest.mark.parametrize("kind", QUESTIONS)


def asked(question=ONE, hops=3, **more):
    fields = {"users": USERS, "minimum_crowd": USERS // 2, "messages_per_user": 2.0, **more}
    promised = Guarantee(epsilon=1.0, delta=1e-6)
    return PlanRequest(question=question, guarantee=promised, hops=hops, **fields)


@every_kind
def test_what_every_mix_covers_comes_first_whatever_it_errs(kind):
    question, more = QUESTIONS[kind]
    choice = choose(asked(question, **more))
    covers = [one.cover for one in (choice.plan, *choice.others)]
    assert covers == sorted(covers, key=lambda cover: cover is not Cover.MIXES)
    assert set(covers) == set(Cover)
    assert choice.plan.hops == 3
    assert "any one mix is honest" in choice.reason


@pytest.mark.parametrize(("each", "error"), [(10**6, 13.06), (10**5, 23.55)])
def test_three_mixes_with_blanks_of_their_own_err_as_the_variance_says(each, error):
    """C (h + n / K), which is 13.1 for a million blanks a mix and a million people."""
    wanted = asked(users=10**6, minimum_crowd=None, protocol="flip-blank", mix_messages=each)
    plan = choose(wanted).plan
    assert plan.cover is Cover.MIXES
    assert plan.standard_error == pytest.approx(error, rel=2e-3)
    assert plan.messages_per_mix == each
    assert plan.standard_error == pytest.approx(math.sqrt(42.65 * (3 + 10**6 / each)), 1e-2)


@pytest.mark.parametrize("hops", [1, 2, 5])
def test_the_variances_of_mixes_add_and_the_promise_is_that_of_one(hops):
    one = choose(asked(Question(name="q", bins=20), hops=1)).plan
    many = choose(asked(Question(name="q", bins=20), hops=hops)).plan
    assert many.standard_error == pytest.approx(one.standard_error * math.sqrt(hops))
    assert many.certificate.upper == one.certificate.upper
    assert many.parts == one.parts
    assert many.fakes == hops * one.fakes
    assert (f"any one of the {hops} mixes" in many.certificate.assumption) == (hops > 1)


@every_kind
def test_one_hop_is_priced_as_the_one_mix_without_a_network(kind):
    """The same integers for the same crowd, whoever is asked to bring the cover."""
    question, more = QUESTIONS[kind]
    one = asked(question, hops=1, mix_messages=USERS, **more)
    for protocol in {candidate.protocol for candidate in surveyed(one)}:
        network = replace(one, protocol=protocol)
        alone = replace(network, hops=None, mix_fakes=True)
        assert proved(network) == proved(alone)
        people = replace(alone, mix_fakes=False)
        own = [plan for plan in proved(network) if plan.cover is Cover.PEOPLE]
        assert own == proved(people)


def test_without_a_minimum_crowd_people_bring_nothing():
    choice = choose(asked(minimum_crowd=None))
    assert {one.cover for one in (choice.plan, *choice.others)} == {Cover.MIXES}
    assert "--minimum-crowd" in {one.protocol: one.needs for one in choice.infeasible}["flip-blank"]
    assert choice.plan.minimum_crowd == 1


@pytest.mark.parametrize("protocol", ["flip-uniform", "flip"])
def test_people_without_a_minimum_crowd_are_refused_with_what_is_needed(protocol):
    with pytest.raises(InfeasibleError, match="needs --minimum-crowd"):
        choose(asked(minimum_crowd=None, protocol=protocol))
    assert choose(asked(protocol=protocol)).plan.cover is Cover.PEOPLE


def test_uniform_fakes_of_every_mix_need_no_minimum_crowd():
    plan = choose(asked(minimum_crowd=None, protocol="clear-uniform")).plan
    assert (plan.cover, plan.name) == (Cover.MIXES, "clear-uniform")
    assert plan.fakes == plan.hops * plan.messages_per_mix
    assert plan.certificate.upper <= 1e-6


def test_people_of_a_crowd_that_is_not_sure_are_refused_with_what_is_needed():
    with pytest.raises(InfeasibleError, match="more people who are certain to take part"):
        choose(asked(minimum_crowd=3, honest_share=0.5, protocol="clear-uniform", mix_messages=9))


def test_a_mix_that_may_add_little_leaves_it_to_people():
    with pytest.raises(
        InfeasibleError, match=r"clear-shaped needs --mix-messages \d+: \d+ per bin"
    ):
        choose(asked(mix_messages=10, protocol="clear-shaped"))
    assert choose(asked(mix_messages=10, protocol="clear-uniform")).plan.cover is Cover.PEOPLE


@every_kind
@pytest.mark.parametrize("most", [10, 2000, 60_000])
def test_no_mix_adds_more_than_it_may(kind, most):
    question, more = QUESTIONS[kind]
    found = proved(asked(question, mix_messages=most, **more))
    assert all(plan.messages_per_mix <= most for plan in found)
    assert most == 10 or any(plan.cover is Cover.MIXES for plan in found)


def test_a_budget_of_half_a_fake_tosses_coins():
    half = asked(messages_per_user=1.5, protocol="flip-blank")
    (people,) = [plan for plan in proved(half) if plan.cover is Cover.PEOPLE]
    assert people.parts[0].own == OwnFakes(FakeRecord.BLANK, 0, 1 << 63)
    assert people.messages_per_user == 1.5
    whole = choose(asked(protocol="flip-blank")).plan
    assert people.standard_error > whole.standard_error * 0.9


@pytest.mark.parametrize("collections", among([1, 3], [1]))
@pytest.mark.parametrize("count_crowd", [False, True])
def test_no_plan_tells_more_than_the_local_epsilon(collections, count_crowd):
    """Searches for flips among people's own fakes went on below what it wants: 48 of 4.61."""
    wanted = asked(
        Question(name="q", bins=20),
        minimum_crowd=2000,
        messages_per_user=1.5,
        local_epsilon=5.0,
        collections=collections,
        count_crowd=count_crowd,
    )
    found = proved(wanted)
    people = [one for one in found if one.cover is Cover.PEOPLE]
    assert count_crowd or any(one.parts[0].own.coin for one in people)
    assert all(one.local_epsilon <= 5.0 for one in found)


def test_flips_are_not_searched_for_below_what_the_local_epsilon_wants():
    """Where more fakes are sent than such flips need."""
    wanted = asked(Question(name="q", bins=20), messages_per_user=1.5, local_epsilon=5.0)
    people = [one for one in surveyed(wanted) if one.cover is Cover.PEOPLE]
    (found,) = [one for one in people if one.protocol == "flip-blank"]
    part = altered(found.parts[0], own=OwnFakes(FakeRecord.BLANK, 0, 1 << 63))
    plan = Planner().plan(replace(found, parts=(part,)))
    assert 4.99 < plan.local_epsilon <= 5.0


def test_only_honest_people_of_the_minimum_crowd_are_counted_on():
    wanted = asked(honest_share=0.7, protocol="clear-uniform", messages_per_user=3.0)
    assert wanted.people == 35_000
    plans = [plan for plan in proved(wanted) if plan.cover is Cover.PEOPLE]
    assert plans
    for plan in plans:
        assert plan.honest_people == 35_000
        assert plan.certificate.upper <= 1e-6


def test_a_budget_is_shared_by_all_parts():
    wanted = asked(messages_per_user=3.0)
    assert [wanted.own_fakes(parts) for parts in (1, 2, 3)] == [2, Fraction(1, 2), 0]
    assert wanted.own_fakes(4) < 0


@pytest.mark.parametrize("hops", [0, 6])
def test_a_number_of_mixes_that_nobody_runs_is_refused(hops):
    with pytest.raises(ParameterError, match="hops"):
        asked(hops=hops)


def test_facts_are_plain():
    choice = choose(asked())
    facts = choice.facts()
    assert facts["cover"] == "every mix"
    assert facts["assumption"].startswith("holds if any one of the 3 mixes is honest")
    assert facts["fingerprint"] == choice.plan.fingerprint
    assert {other["cover"] for other in facts["alternatives"]} == {"every mix", "people"}
