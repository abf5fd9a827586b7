"""The planner picks the protocol of least error that fits, and never states too small a delta."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from mixtally.errors import InfeasibleError, ParameterError, PlanError
from mixtally.ground.codec import canonical, from_canonical
from mixtally.planner import Wish, choose
from mixtally.privacy.baselines import central_standard_error, local_standard_error
from mixtally.privacy.certify import certify, verify
from mixtally.records.guarantee import Guarantee
from mixtally.records.plan import Plan
from mixtally.records.question import Question


def wish(bins=1000, users=10**6, epsilon=1.0, delta=1e-6, **rest):
    return Wish(
        question=Question(name="q", bins=bins),
        guarantee=Guarantee(epsilon=epsilon, delta=delta),
        users=users,
        **rest,
    )


@pytest.mark.parametrize(
    ("kwargs", "protocol", "error", "messages"),
    [
        ({"mix_fakes": True}, "clear-shaped", 2.80, 1.027),
        ({"mix_fakes": True, "bins": 10**5}, "clear-shaped", 2.80, 3.70),
        ({}, "clear-uniform", 6.53, 1.043),
        ({"bins": 10**5}, "flip-blank", 9.24, 2.0),
        ({"bins": 10**5, "messages_per_user": 5.3}, "clear-uniform", 6.53, 5.27),
        ({"bins": 10**7}, "flip-blank", 9.24, 2.0),
        ({"messages_per_user": 1.0}, "flip-blank", 1979, 1.0),
        ({"protocol": "flip-blank"}, "flip-blank", 9.24, 2.0),
    ],
)
def test_the_right_protocol_wins(kwargs, protocol, error, messages):
    facts = choose(wish(**kwargs)).facts()
    assert facts["protocol"] == protocol
    assert facts["standard_error"] == pytest.approx(error, rel=0.005)
    assert facts["messages_per_user"] == pytest.approx(messages, abs=0.01)


def test_more_fakes_a_user_cut_the_error_of_flips():
    def error(budget):
        return choose(wish(protocol="flip-blank", messages_per_user=budget)).best.standard_error

    # Noise variance is the cover times (1 + users / fakes): half of it is left at many fakes.
    assert error(2.0) / error(101.0) == pytest.approx((2 / 1.01) ** 0.5, rel=0.01)


def test_only_honest_fakes_are_counted():
    answer = choose(wish(honest_fraction=0.7))
    facts = answer.facts()
    assert facts["fakes_counted"] == 42_650
    assert 0.7 * facts["fakes"] >= 42_650 > 0.7 * (facts["fakes"] - 1)
    all_honest = certify(answer.best.protocol, 1.0)
    assert all_honest.upper < answer.best.plan.certificate.upper


def test_a_wish_that_cannot_be_met_names_what_would():
    with pytest.raises(InfeasibleError, match=r"--messages-per-user 1\.043"):
        choose(wish(protocol="clear-uniform", messages_per_user=1.01))
    choose(wish(protocol="clear-uniform", messages_per_user=1.043))
    with pytest.raises(InfeasibleError, match="--mix-fakes"):
        choose(wish(protocol="clear-shaped"))
    with pytest.raises(InfeasibleError, match="more users or a larger epsilon"):
        choose(wish(users=50, bins=10**6, epsilon=0.01))


def test_bad_budgets_are_refused():
    for budget in (0.99, -1.0, float("nan"), float("inf")):
        with pytest.raises(ParameterError, match="messages per user"):
            wish(messages_per_user=budget)
    with pytest.raises(ParameterError, match="honest fraction"):
        wish(honest_fraction=1.01)
    with pytest.raises(ParameterError, match="protocol"):
        wish(protocol="flip-flop")


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
            wish(
                bins, users, epsilon, min(0.1, 10**exponent),
                messages_per_user=budget, honest_fraction=honest, mix_fakes=mix,
            )
        )  # fmt: skip
    except InfeasibleError:
        return
    errors = [offer.standard_error for offer in (answer.best, *answer.others)]
    assert errors == sorted(errors)
    for offer in (answer.best, *answer.others):
        plan = from_canonical(canonical(offer.plan), Plan, "plan")
        assert verify(plan) == offer.protocol == plan.mechanism
        assert plan.certificate.upper <= plan.guarantee.delta
        if offer.protocol.name != "clear-shaped":
            assert offer.protocol.fakes <= (Fraction(repr(budget)) - 1) * users


def test_a_plan_whose_promise_is_false_is_refused():
    plan = choose(wish(protocol="flip-blank")).best.plan
    integers = {**plan.integers, "threshold": plan.integers["threshold"] * 9 // 10}
    weaker = from_canonical(
        canonical(plan).replace(
            str(plan.integers["threshold"]).encode(), str(integers["threshold"]).encode()
        ),
        Plan,
        "plan",
    )
    with pytest.raises(PlanError, match="promise is false"):
        verify(weaker)


@pytest.mark.parametrize("protocol", ["flip-uniform", "flip-blank"])
@pytest.mark.parametrize("least", [1e-15, 9e-7])
def test_a_promise_below_what_is_proved_is_refused(protocol, least):
    """Where a crowd is counted on only the upper end is known; a lower one of 0 is no check."""
    plan = choose(wish(100, 20_000, messages_per_user=1.1, protocol=protocol, count_crowd=True))
    plan = plan.best.plan
    assert plan.certificate.lower < 9e-7 < plan.certificate.upper
    shown = replace(plan.certificate, lower=0.0, upper=least)
    altered = replace(plan, guarantee=Guarantee(epsilon=1.0, delta=least), certificate=shown)
    with pytest.raises(PlanError, match=r"altered|promise is false"):
        verify(altered)


def test_a_lower_end_above_what_is_proved_is_refused():
    plan = choose(wish(protocol="flip-blank")).best.plan
    shown = replace(plan.certificate, lower=0.05, upper=0.06)
    loose = replace(plan, guarantee=Guarantee(epsilon=1.0, delta=0.1), certificate=shown)
    with pytest.raises(PlanError, match="altered"):
        verify(loose)
    assert verify(replace(loose, certificate=replace(shown, lower=0.0)))  # says less, truly


def test_the_reason_names_the_choice_and_the_rest():
    reason = choose(wish()).reason
    assert reason.startswith("clear-uniform errs least within the budget of 2 messages a user")
    assert "flip-blank would err 1.41 times as much" in reason
    assert "--mix-fakes" in reason


def test_baselines_are_the_known_numbers():
    assert central_standard_error(1.0) == pytest.approx(2.80, abs=0.005)
    assert local_standard_error(1.0, 10**6, 1000) == pytest.approx(1919, abs=1)
    # Direct encoding wins when there are few answers and epsilon is large.
    assert local_standard_error(3.0, 100, 2) < local_standard_error(3.0, 100, 1000)


@pytest.mark.parametrize("changes", [{}, {"local_epsilon": 3.0}, {"collections": 2}])
def test_flip_of_one_value_keeps_what_is_wished(changes):
    best = choose(wish(30, users=10**5, protocol="flip", **changes)).best
    assert (best.plan.protocol, best.protocol.fakes, best.protocol.crowd) == (
        "flip-blank",
        0,
        10**5,
    )
    assert best.certificate.upper <= 1e-6
    local = best.protocol.local_epsilon * best.collections
    assert local <= changes.get("local_epsilon", local)
