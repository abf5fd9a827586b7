"""The planner picks the protocol of least error that fits, and never states too small a delta."""

import math
from dataclasses import replace as replaced
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from mixtally.accounting.accountant import Accountant
from mixtally.accounting.baselines import central_standard_error, local_standard_error
from mixtally.accounting.plans.terms import PrivacyTerms, delta_of, verify
from mixtally.errors import InfeasibleError, ParameterError, PlanError
from mixtally.model.contract import Cover, read_plan, write_plan
from mixtally.model.guarantee import Guarantee
from mixtally.planning import Planner, choose
from mixtally.planning.choose import SIMILAR_ERROR_RATIO
from planning.requests import OPEN, proved, request


@pytest.mark.parametrize(
    ("kwargs", "protocol", "error", "messages"),
    [
        ({"mix_fakes": True}, "clear-shaped", 2.80, 1.0),
        ({"mix_fakes": True, "bins": 10**5}, "clear-shaped", 2.80, 1.0),
        ({}, "clear-uniform", 6.53, 1.043),
        ({"bins": 10**5}, "clear-uniform", 9.24, 2.0),
        ({"bins": 10**5, "messages_per_user": 5.3}, "clear-uniform", 6.53, 5.27),
        ({"bins": 10**7}, "clear-uniform", 9.24, 2.0),
        ({"bins": 10**5, "protocol": "flip-blank"}, "flip-blank", 9.24, 2.0),
        ({"question": OPEN}, "clear-uniform", 9.24, 2.0),
        ({"messages_per_user": 1.0}, "kary-response", 6.50, 1.0),
        ({"messages_per_user": 1.0, "protocol": "flip"}, "flip", 81.08, 1.0),
        ({"protocol": "flip-blank"}, "flip-blank", 9.24, 2.0),
    ],
)
def test_the_right_protocol_wins(kwargs, protocol, error, messages):
    facts = choose(request(**kwargs)).facts()
    assert facts["protocol"] == protocol
    assert facts["standard_error"] == pytest.approx(error, rel=0.005)
    assert facts["messages_per_user"] == pytest.approx(messages, abs=0.01)


def test_more_fakes_a_user_cut_the_error_of_flips():
    def error(budget):
        return choose(request(protocol="flip-blank", messages_per_user=budget)).plan.standard_error

    # Noise variance is the cover times (1 + users / fakes): half of it is left at many fakes.
    assert error(2.0) / error(101.0) == pytest.approx((2 / 1.01) ** 0.5, rel=0.01)


def test_only_honest_fakes_are_counted():
    """42,650 must certainly come, and some more where coins say how many do."""
    plan = choose(request(honest_share=0.7)).plan
    assert 42_650 <= plan.fakes_counted <= 42_650 * 1.002
    assert plan.fakes_counted == pytest.approx(0.7 * plan.fakes, abs=1)
    everybody = PrivacyTerms.of(replace(plan, honest_share=1.0))
    assert delta_of(everybody, Accountant()).upper < 0.1 * plan.certificate.upper


def test_a_share_in_sixteen_digits_counts_no_person_too_many():
    """A third of 3 in floating point is 1; .3333333333333333 of 6 is less than 2."""
    third = request(bins=3, users=6, epsilon=9.0, delta=0.01, honest_share=0.3333333333333333)
    assert third.people is None
    many = replaced(third, users=300, protocol="clear-uniform", messages_per_user=1000.0)
    assert many.people == 99
    clear = choose(many).plan
    assert clear.honest_people == 99
    own = clear.parts[0].own
    exact = 99 * (own.whole + Fraction(own.coin, 1 << 64))
    assert clear.fakes_counted == math.floor(exact)


@pytest.mark.parametrize(("crowd", "users"), [(2, 3), (5, 6), (6, 7), (10**9 - 1, 10**9)])
def test_a_minimum_crowd_counts_all_of_its_people_and_none_of_the_others(crowd, users):
    assert request(users=users, minimum_crowd=crowd).people == crowd


def test_a_wish_that_cannot_be_met_names_what_would():
    with pytest.raises(InfeasibleError, match=r"--messages-per-user 1\.043"):
        choose(request(protocol="clear-uniform", messages_per_user=1.00005))
    choose(request(protocol="clear-uniform", messages_per_user=1.043))
    few = request(10, users=1000, epsilon=3.0, protocol="clear-uniform", messages_per_user=1.0)
    with pytest.raises(InfeasibleError, match="--messages-per-user") as caught:
        choose(few)
    needed = float(str(caught.value).split("--messages-per-user ")[1].split(";")[0].rstrip("."))
    assert choose(replaced(few, messages_per_user=needed)).plan.messages_per_user <= needed
    with pytest.raises(InfeasibleError, match="--mix-fakes"):
        choose(request(protocol="clear-shaped"))
    with pytest.raises(InfeasibleError, match="interval would span all"):
        choose(request(users=50, bins=10**6, epsilon=0.01))


def test_bad_budgets_are_refused():
    for budget in (0.99, -1.0, float("nan"), float("inf")):
        with pytest.raises(ParameterError, match="messages per user"):
            request(messages_per_user=budget)
    with pytest.raises(ParameterError, match="honest share"):
        request(honest_share=1.01)
    with pytest.raises(ParameterError, match="protocol"):
        request(protocol="flip-flop")


@pytest.mark.seconds
@settings(max_examples=60, deadline=None)
@given(
    epsilon=st.floats(0.05, 20),
    exponent=st.floats(-15, -1),
    users=st.integers(2, 10**10),
    bins=st.integers(2, 10**7),
    budget=st.floats(1, 20),
    honest=st.floats(0.01, 1),
    mix=st.booleans(),
)
def test_every_plan_keeps_its_promise(epsilon, exponent, users, bins, budget, honest, mix):
    try:
        answer = choose(
            request(
                bins, users, epsilon, min(0.1, 10**exponent),
                messages_per_user=budget, honest_share=honest, mix_fakes=mix,
            )
        )  # fmt: skip
    except InfeasibleError:
        return
    error = answer.plan.error_of(answer.count)
    assert all(one.error >= error * 0.95 for one in answer.others)
    plan = read_plan(write_plan(answer.plan), "plan")
    assert verify(plan).upper <= plan.guarantee.delta
    assert plan == answer.plan
    assert plan.messages_per_user <= budget * (1 + 1e-12)
    assert (plan.cover is Cover.MIXES) <= mix


def test_a_plan_that_takes_more_than_its_budget_is_none():
    """Coins and caps are no reason to send more messages or bytes, nor for a mix to add more."""
    planner = Planner()
    for protocol, field in (
        ("clear-uniform", "messages_per_user"),
        ("flip-blank", "bytes_per_user"),
        ("clear-shaped", "mix_messages"),
    ):
        mix = protocol != "clear-uniform"  # whose fakes are then those of people
        (found, *_) = planner.candidates(request(protocol=protocol, mix_fakes=mix)).found
        plan = planner.plan(found)
        exact = plan.messages_per_mix if field == "mix_messages" else getattr(plan, field)
        for limit, fits in ((exact, True), (exact * 0.999, False)):
            limit = int(limit) if field == "mix_messages" else limit
            asked = replaced(found, request=replaced(found.request, **{field: limit}))
            assert (planner.plan(asked) is not None) == fits


def test_the_plan_of_least_error_after_coins_is_chosen():
    """Coins cost records in clear more than flips: what comes next may be better."""
    for asked in (request(messages_per_user=1.05), request(31_000), request(10, users=5000)):
        errors = [plan.error_of(asked.count) for plan in proved(asked)]
        assert choose(asked, similar_ratio=1.0).plan.error_of(asked.count) <= min(errors)


def test_a_candidate_whose_plan_turns_out_worse_gives_way(monkeypatch):
    """And none is proved that erred more before."""
    planner, asked = Planner(), request()
    first, second, *_ = planner.candidates(asked).found
    worse = choose(request(protocol="flip-blank", messages_per_user=1.9)).plan
    better = planner.plan(second)
    assert first.standard_error < better.standard_error < worse.standard_error
    looked = []

    def plan(found):
        looked.append(found)
        return {first: worse, second: better}[found]

    monkeypatch.setattr(planner, "plan", plan)
    ranked = [((True, one.standard_error), lambda one=one: one) for one in (first, second)]
    assert planner.choose_least(ranked)[0] == (better, second)
    looked.clear()
    assert planner.choose_least([ranked[1], ((True, 10.0), lambda: first)])[0] == (better, second)
    assert looked == [second]


def test_of_errors_that_are_alike_the_shorter_plan_is_taken():
    """Flips err as planes do here, in more bytes."""
    planner = Planner()
    longer, shorter = (
        planner.candidates(request(10**5, protocol=name)).found[0]
        for name in ("flip-blank", "clear-uniform")
    )
    ranked = [((True, one.standard_error), lambda one=one: one) for one in (longer, shorter)]
    plans = [planner.plan(one) for one in (longer, shorter)]
    errors = [plan.error_of(0) for plan in plans]
    assert max(errors) < SIMILAR_ERROR_RATIO * min(errors)
    assert plans[0].bytes_per_user > 1.5 * plans[1].bytes_per_user
    for several in (ranked, ranked[::-1]):
        assert planner.choose_least(several)[0] == (plans[1], shorter)


def test_a_plan_whose_promise_is_false_is_refused():
    plan = choose(request(protocol="flip-blank")).plan
    part = plan.parts[0]
    weaker = replace(part, threshold=part.threshold * 9 // 10)
    with pytest.raises(PlanError, match="promise is false"):
        verify(replace(plan, parts=(weaker,)))


@pytest.mark.parametrize(
    ("protocol", "bins", "users"),
    [pytest.param("flip-uniform", 10, 2000, marks=pytest.mark.seconds), ("flip", 100, 20_000)],
)
@pytest.mark.parametrize("least", [1e-15, 9e-7])
def test_a_promise_below_what_is_proved_is_refused(protocol, bins, users, least):
    """Where a crowd is counted on only the upper bound is known; a lower one of 0 is no check."""
    asked = request(bins, users, messages_per_user=1.1, protocol=protocol, count_crowd=True)
    plan = choose(asked).plan
    assert plan.certificate.lower < 9e-7 < plan.certificate.upper
    shown = replace(plan.certificate, lower=0.0, upper=least)
    altered = replace(plan, guarantee=Guarantee(epsilon=1.0, delta=least), certificate=shown)
    with pytest.raises(PlanError, match=r"altered|promise is false"):
        verify(altered)


def test_a_plan_counts_on_no_more_people_than_take_part():
    plan = choose(request(users=1000, count_crowd=True, messages_per_user=1.0)).plan
    assert plan.crowd == 1000
    with pytest.raises(PlanError, match="minimum_crowd"):
        replace(plan, users=100)


def test_ends_other_than_those_that_are_proved_are_refused():
    plan = choose(request(protocol="flip-blank")).plan
    shown = replace(plan.certificate, lower=0.05, upper=0.06)
    loose = replace(plan, guarantee=Guarantee(epsilon=1.0, delta=0.1), certificate=shown)
    with pytest.raises(PlanError, match="altered"):
        verify(loose)
    with pytest.raises(PlanError, match="altered"):
        verify(replace(loose, certificate=replace(shown, lower=0.0)))


def test_the_reason_names_the_choice_and_the_rest():
    reason = choose(request()).reason
    assert reason.startswith(
        "clear-uniform has the smallest standard error within the budget of 2 messages"
    )
    assert "kary-response, with fakes would have 1.31 times the standard error" in reason
    assert "--mix-fakes" in reason


def test_baselines_are_the_known_numbers():
    assert central_standard_error(1.0) == pytest.approx(2.80, abs=0.005)
    assert local_standard_error(1.0, 10**6, 1000) == pytest.approx(1919, abs=1)
    # Direct encoding wins when there are few answers and epsilon is large.
    assert local_standard_error(3.0, 100, 2) < local_standard_error(3.0, 100, 1000)


@pytest.mark.parametrize("changes", [{}, {"local_epsilon": 3.0}, {"collections": 2}])
def test_flip_of_one_value_keeps_what_is_wished(changes):
    plan = choose(request(30, users=10**5, protocol="flip", **changes)).plan
    assert (plan.protocol, plan.fakes, plan.crowd) == ("flip", 0, 10**5)
    assert plan.certificate.upper <= 1e-6
    assert plan.local_epsilon <= changes.get("local_epsilon", math.inf)
