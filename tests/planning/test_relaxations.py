"""When nothing fits: every change that is named helps, and a slightly smaller one does not."""

from dataclasses import replace
from fractions import Fraction
from functools import cache

import msgspec
import pytest

from mixtally.accounting.plans.terms import verify
from mixtally.errors import InfeasibleError
from mixtally.model.contract import Cover
from mixtally.planning import choose, relaxations
from mixtally.planning.choose import Planner, choose_by_estimates
from planning.requests import request, surveyed

IMPOSSIBLE = {
    "the brief": request(10**7, users=1000, epsilon=0.1, messages_per_user=1.0, over_planes=False),
    "few people": request(100, users=10, epsilon=0.5),
    "clear": request(5000, users=2000, protocol="clear-uniform", messages_per_user=1.03),
    "doubt": request(100, users=100, epsilon=0.02, honest_share=0.1),
    "crowd": request(100, users=100, epsilon=0.02, minimum_crowd=10),
    "capped": request(100, users=100, epsilon=0.02, local_epsilon=0.02),
    "strict": request(10, users=100, epsilon=0.1, delta=1e-15),
    "network": request(100, users=100, epsilon=0.02, hops=3, minimum_crowd=50),
    "network without a crowd": request(100, users=100, epsilon=0.02, hops=3),
}
each = pytest.mark.parametrize("asked", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
WITHIN = 1.02


@cache
def found_for(asked):
    """The relaxations of a request: they take a while."""
    return relaxations(asked, 10**6).found


def changed(asked, change, share=1.0):
    """The request after a change as it is printed, or ``share`` of it."""
    flag, _, text = change.partition(" ")
    if flag == "--mix-fakes":
        return replace(asked, mix_fakes=True)
    value = float(text) * share
    if flag == "--epsilon":
        return replace(asked, guarantee=msgspec.structs.replace(asked.guarantee, epsilon=value))
    if flag == "--users":
        return replace(asked, users=int(value))
    assert flag == "--messages-per-user"
    return replace(asked, messages_per_user=max(1.0, value))


@each
def test_the_wish_itself_cannot_be_met(asked):
    with pytest.raises(InfeasibleError):
        choose(asked)


@each
def test_every_change_helps_as_it_is_printed(asked):
    found = found_for(asked)
    assert found
    for near in found:
        plan = choose(changed(asked, near.change)).plan
        assert plan == near.plan
        assert verify(plan).upper <= asked.guarantee.delta


@each
@pytest.mark.parametrize("flag", ["--epsilon", "--messages-per-user"])
def test_two_percent_less_does_not_help(asked, flag):
    for near in found_for(asked):
        if near.change.startswith(flag):
            rounding = 0.001 if flag == "--epsilon" else 0.01
            less = 1.0 / WITHIN - rounding / float(near.change.split()[1])
            assert not surveyed(changed(asked, near.change, less))


@each
def test_a_tenth_fewer_users_do_not_help(asked):
    """The number is rounded up to two digits, so it may be a tenth too large, but no more."""
    for near in found_for(asked):
        if near.change.startswith("--users"):
            assert not surveyed(changed(asked, near.change, 0.89))


@pytest.mark.seconds
def test_users_are_within_a_few_percent():
    """What can be met is not quite monotone: every case is looked at well below its answer."""
    for asked in IMPOSSIBLE.values():
        for near in found_for(asked):
            if near.change.startswith("--users") and near.plan.users >= 100:
                assert not surveyed(changed(asked, near.change, 0.9))


@each
def test_only_one_thing_is_changed(asked):
    for near in found_for(asked):
        plan = near.plan
        if not near.change.startswith("--users"):
            assert plan.users == asked.users
        if not near.change.startswith("--epsilon"):
            assert plan.guarantee == asked.guarantee
        if near.change.startswith("--messages-per-user") and not asked.mixes_draw:
            budget = Fraction(near.change.split()[1])
            assert plan.fakes <= (budget - 1) * asked.users
        assert asked.mixes_draw or (near.change == "--mix-fakes") == (plan.cover is Cover.MIXES)


def test_a_mix_is_not_offered_where_it_is_allowed_already():
    asked = request(100, users=3, epsilon=0.01, mix_fakes=True)
    assert not surveyed(asked)
    assert not [near for near in found_for(asked) if "mix" in near.change]


def test_what_no_change_helps_has_no_nearest_plan():
    assert relaxations(request(protocol="single-bit")) == ([], [])
    assert relaxations(
        request(users=100, epsilon=20.0, protocol="clear-shaped", local_epsilon=1.0)
    ) == ([], [])


def test_the_facts_name_the_change():
    facts = [near.facts() for near in found_for(IMPOSSIBLE["the brief"])]
    assert [one["change"].split()[0] for one in facts] == [
        "--epsilon", "--users", "--messages-per-user", "--mix-fakes",
    ]  # fmt: skip
    assert all(one["delta"] <= one["delta_target"] for one in facts)


def test_a_budget_of_bytes_that_is_too_small_is_what_gets_changed():
    asked = request(10**5, bytes_per_user=100.0, protocol="flip-blank")
    assert any(near.change.startswith("--bytes-per-user") for near in found_for(asked))


def test_a_protocol_that_cannot_hold_the_record_says_so():
    with pytest.raises(InfeasibleError, match="single-bit"):
        choose(request(protocol="single-bit"))


@pytest.mark.parametrize("more", [{"protocol": "clear-shaped", "mix_fakes": True}, {}])
def test_a_record_that_is_larger_than_the_bytes_is_told_how_many_it_takes(more):
    asked = request(bytes_per_user=1.0, **({"protocol": "clear-uniform"} | more))
    with pytest.raises(InfeasibleError, match="--bytes-per-user"):
        choose(asked)


@each
def test_the_best_of_what_is_likely_is_the_best_of_all(asked):
    """Nothing else is proved for a plan that is only named."""
    met = changed(asked, found_for(asked)[0].change)
    best = choose_by_estimates(met, Planner())
    assert best is not None
    assert best == choose(met).plan
    assert choose_by_estimates(asked, Planner()) is None
