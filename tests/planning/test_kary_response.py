"""k-ary response in the planner: how much is replaced, beside which fakes, and when it is taken."""

import math
from dataclasses import replace

import pytest

from helpers.known_errors import Wish, replaced
from helpers.named import kary_response
from mixtally.accounting.plans.terms import PrivacyTerms, delta_of, verify
from mixtally.errors import InfeasibleError, ParameterError
from mixtally.model.contract import read_plan, write_plan
from mixtally.model.mechanism import Parameter
from mixtally.model.question import Kind, Question, make_open_question
from mixtally.planning import Planner, choose, explain, pareto_front
from mixtally.planning.options import Infeasible
from mixtally.planning.pricing import least_replaced
from mixtally.primitives.fixed_point import SCALE
from planning.requests import OPEN, PAIR, request

NAME = "kary-response"


def one_message(bins=100, users=10**4, **rest):
    return request(bins=bins, users=users, messages_per_user=1, **rest)


@pytest.mark.parametrize(
    ("bins", "users", "epsilon", "delta", "share", "empty", "hundredth"),
    [
        (1000, 10**6, 1.0, 1e-6, 0.0391, 6.50, 21.2),
        (100, 10**4, 1.0, 1e-6, 0.2346, 6.32, 8.37),
        (200, 10**5, 0.5, 1e-9, 0.258, 15.3, 24.1),
    ],
)
def test_one_message_without_fakes(bins, users, epsilon, delta, share, empty, hundredth):
    asked = one_message(bins, users, epsilon=epsilon, delta=delta, error_at=0.01)
    plan = choose(asked).plan
    (part,) = plan.parts
    assert (plan.protocol, plan.messages_per_user, plan.fakes) == (NAME, 1.0, 0)
    assert part.replaced / SCALE == pytest.approx(share, rel=2e-3)
    assert plan.standard_error == pytest.approx(empty, rel=2e-3)
    assert plan.error_of(users // 100) == pytest.approx(hundredth, rel=3e-3)
    assert plan.count_flips
    assert plan.certificate.upper <= delta
    assert plan.certificate.lower >= 0.9 * delta
    g = part.replaced / SCALE
    assert plan.local_epsilon == pytest.approx(math.log(1 + (1 - g) * bins / g), rel=1e-9)


def test_fakes_of_the_budget_come_before_replacements():
    """With a twentieth of a fake a user, as is better for bins that people hold."""
    asked = request(bins=100, users=10**4, messages_per_user=1.05)
    plan, bare = choose(asked).plan, choose(one_message()).plan
    assert (plan.protocol, plan.messages_per_user) == (NAME, 1.05)
    assert plan.parts[0].replaced < bare.parts[0].replaced
    assert plan.standard_error <= 9.7
    assert plan.error_of(100) <= min(12.2, bare.error_of(100))
    assert plan.error_of(0) >= bare.error_of(0)


def test_no_less_may_be_replaced():
    for asked in (one_message(), request(bins=100, users=10**4, messages_per_user=1.05)):
        planner = Planner()
        plan = choose(asked, planner).plan
        (part,) = plan.parts
        less = PrivacyTerms.of(plan)
        changed = replace_part(part, round(part.replaced * 0.995))
        less = replace(less, parts=(changed,))
        assert delta_of(less, planner.accountant).upper > 1e-6


def replace_part(part, replaced):
    from msgspec.structs import replace as changed

    return changed(part, replaced=replaced)


def test_where_fakes_suffice_it_is_clear_uniform():
    asked = request(bins=100, users=10**4, messages_per_user=2)
    assert choose(asked).plan.protocol == "clear-uniform"
    alone = choose(replace(asked, protocol=NAME)).plan
    assert alone.protocol == NAME
    assert alone.messages_per_user <= 1.5


@pytest.mark.parametrize(("at", "taken"), [(0, NAME), (0.01, "clear-uniform"), (1, NAME)])
def test_the_count_at_which_errors_are_compared_decides(at, taken):
    """Without fakes an empty bin errs less than among uniform ones, a full one more."""
    choice = choose(request(bins=100, users=10**4, messages_per_user=2, error_at=at))
    assert choice.plan.protocol == taken
    held = {0: 0, 0.01: 100, 1: 1}[at]
    assert choice.count == held
    errors = [choice.plan.error_of(held), *(one.error_of(held) for one in choice.others)]
    assert errors == sorted(errors)
    facts = choice.facts()
    assert (facts["error_at"], facts["standard_error_at"]) == (held, errors[0])
    assert facts["standard_error"] == choice.plan.standard_error


def test_only_replaced_values_err_more_where_people_are():
    choice = choose(request(bins=100, users=10**4, messages_per_user=2))
    for one in (choice.plan, *choice.others):
        more = one.error_of(5000) > one.standard_error
        assert more == (one.protocol == NAME)


def test_by_itself_the_count_is_the_root_of_the_crowd():
    assert request(users=10**6).count == 1000
    assert request(users=10**6, error_at=0.01).count == 10**4
    assert request(users=10**6, error_at=7).count == 7
    for wrong in (-1, 10**6 + 1, math.nan):
        with pytest.raises(ParameterError):
            request(users=10**6, error_at=wrong)


@pytest.mark.parametrize("limit", [1.5, 4.0, 8.0])
def test_a_local_epsilon_is_kept(limit):
    plan = choose(one_message(local_epsilon=limit, protocol=NAME)).plan
    assert plan.local_epsilon <= limit
    assert plan.certificate.upper <= 1e-6
    if limit < 5.0:  # it binds, and no more is replaced than it takes
        assert plan.local_epsilon == pytest.approx(limit, rel=1e-6)


@pytest.mark.parametrize("bins", [2, 100, 10**7])
@pytest.mark.parametrize("limit", [0.01, 1.0, 12.0])
def test_the_least_for_a_local_epsilon(bins, limit):
    one = kary_response(bins=bins, replaced=1, crowd=2)
    least = least_replaced(limit, one)
    assert (
        limit * (1 - 1e-6) <= one.with_parameter(Parameter.REPLACED, least).local_epsilon <= limit
    )


def test_it_counts_on_those_who_surely_take_part():
    plan = choose(one_message(minimum_crowd=8000, honest_share=0.75)).plan
    assert plan.protocol == NAME
    assert plan.crowd == 6000
    more = choose(one_message(users=6000)).plan
    assert plan.parts[0].replaced == pytest.approx(more.parts[0].replaced, rel=1e-3)
    assert (
        "6,000 honest people, who replace their values as the protocol says"
        in plan.certificate.assumption
    )


@pytest.mark.parametrize("users", [1000, 10**6])
def test_two_bins_are_replaced_too(users):
    """Flips of both bins err by 63 and 1,979."""
    plan = choose(request(bins=2, users=users, messages_per_user=1)).plan
    assert plan.protocol == NAME
    assert plan.standard_error < 6.6


def test_what_it_cannot_hold():
    for question, needs in (
        (Question(name="q", bins=9, kind=Kind.SET, max_set=2), ["2 messages a record"]),
        (Question(name="q", bins=3, kind=Kind.BITS), []),
    ):
        found, missing = Planner().candidates(
            request(question=question, users=10**4, messages_per_user=1)
        )
        assert not any(one.protocol == NAME for one in found)
        told = [one.needs for one in missing if one.protocol == NAME]
        assert [one.split(":")[0] for one in told] == needs


def test_too_few_people_are_told_so():
    with pytest.raises(InfeasibleError):
        choose(one_message(bins=10**6, users=10, protocol=NAME))
    _, missing = Planner().candidates(one_message(bins=10**6, users=10))
    assert any(isinstance(one, Infeasible) and one.protocol == NAME for one in missing)


@pytest.mark.seconds
def test_several_messages_and_collections():
    for asked in (
        request(bins=100, users=10**5, messages_per_user=1, collections=12),
        request(question=PAIR, users=10**6, messages_per_user=2, protocol=NAME),
    ):
        plan = choose(asked).plan
        assert plan.protocol == NAME
        assert plan.certificate.upper <= 1e-6
        assert verify(plan).upper == pytest.approx(plan.certificate.upper, rel=1e-9)


@pytest.mark.seconds
def test_several_collections_of_any_text_need_no_fakes():
    """Where nothing else keeps the promise, and as little is said as the formula has."""
    plan = choose(request(question=OPEN, messages_per_user=1, collections=2, error_at=1000)).plan
    assert (plan.protocol, plan.messages_per_user, plan.fakes) == (NAME, 1.0, 0)
    assert plan.certificate.upper <= 1e-6
    known = Wish(1.0, 1e-6, 10**6, None, 1.0, collections=2, count=1000)
    assert plan.error_of(1000) <= 1.02 * replaced(known)


def test_its_file_is_read_and_proved_again():
    for asked in (one_message(), request(bins=100, users=10**4, messages_per_user=1.05)):
        plan = choose(asked).plan
        again = read_plan(write_plan(plan), "plan.json")
        assert again == plan
        assert verify(again).upper == plan.certificate.upper


def test_every_number_is_explained():
    plan = choose(one_message()).plan
    told = explain(plan)
    assert set(told) == set(plan.facts())
    assert "replaced values" in told["fakes"]


def test_what_can_be_had_for_less_is_shown():
    front = pareto_front(request(bins=100, users=10**4, messages_per_user=2))
    assert [one.protocol for one in front if one.messages_per_user == 1.0] == [NAME]


def sets(bins=1000, users=10**6, most=4, budget=4, **rest):
    asked = Question(name="q", bins=bins, kind=Kind.SET, max_set=most)
    return request(users=users, question=asked, messages_per_user=budget, **rest)


@pytest.mark.parametrize(
    ("bins", "users", "most", "budget", "error", "prime"),
    [
        (1000, 10**6, 4, 4, 12.5, None),
        (1000, 10**6, 4, 4.05, 12.4, None),
        (100_000, 10**5, 3, 3, 27.4, 787),
        (20, 2000, 2, 2, 14.6, None),
    ],
)
def test_sets_in_as_many_messages_as_members_are_replaced(bins, users, most, budget, error, prime):
    """Whole flipped vectors err by 393, 393, 124 and 27; one slot of the last sets by less."""
    asked = {} if users > 2000 else {"protocol": NAME}
    plan = choose(sets(bins, users, most, budget, **asked)).plan
    assert plan.protocol == NAME
    assert plan.standard_error == pytest.approx(error, rel=0.01)
    assert (plan.parts[0].planes.prime if plan.parts[0].planes else None) == prime
    assert plan.messages_per_user <= budget
    assert read_plan(write_plan(plan), "plan.json") == plan
    verify(plan)


def test_sets_keep_a_local_epsilon():
    for bins, users in ((50, 10_000), (100_000, 10**6)):
        plan = choose(sets(bins, users, 3, 3, local_epsilon=14.0, protocol=NAME)).plan
        assert 13.999 < plan.local_epsilon <= 14.0


def test_sets_whose_fakes_suffice_are_not_replaced():
    plan = choose(sets(budget=5)).plan
    assert plan.protocol == "clear-uniform"
    with pytest.raises(InfeasibleError, match="nothing need be replaced"):
        choose(sets(budget=5, protocol=NAME))


def test_a_tiny_crowd_that_replaces_nearly_all_sets_is_refused_in_words():
    """Bounds rise there with the share that is replaced; once that ended in an error of ours."""
    question = make_open_question("q", OPEN.hashed.seed, 3)
    asked = request(question=question, users=4190, epsilon=7.03, delta=2.54e-11, collections=7)
    with pytest.raises(InfeasibleError, match="the budget"):
        choose(replace(asked, minimum_crowd=50, messages_per_user=4))
