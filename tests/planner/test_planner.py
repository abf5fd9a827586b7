"""The planner picks the protocol of least error that fits, and never states too small a delta."""

from dataclasses import replace as replaced
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from mixtally.errors import InfeasibleError, ParameterError, PlanError
from mixtally.ground.codec import canonical, from_canonical
from mixtally.planner import Planner, choose
from mixtally.privacy.baselines import central_standard_error, local_standard_error
from mixtally.privacy.certify import certify, verify
from mixtally.records.guarantee import Guarantee
from mixtally.records.mechanism.named import flip_bits, flip_blank, flip_uniform, single_bit
from mixtally.records.plan import PLAN_VERSION, Plan
from mixtally.records.question import Kind, Question
from planner.requests import BIT, request

ANSWER = Question(name="q", bins=9)
BITS = Question(name="q", bins=5, kind=Kind.BITS)


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
    facts = choose(request(**kwargs)).facts()
    assert facts["protocol"] == protocol
    assert facts["standard_error"] == pytest.approx(error, rel=0.005)
    assert facts["messages_per_user"] == pytest.approx(messages, abs=0.01)


def test_more_fakes_a_user_cut_the_error_of_flips():
    def error(budget):
        return choose(request(protocol="flip-blank", messages_per_user=budget)).best.standard_error

    # Noise variance is the cover times (1 + users / fakes): half of it is left at many fakes.
    assert error(2.0) / error(101.0) == pytest.approx((2 / 1.01) ** 0.5, rel=0.01)


def test_only_honest_fakes_are_counted():
    answer = choose(request(honest_share=0.7))
    facts = answer.facts()
    assert facts["fakes_counted"] == 42_650
    assert 0.7 * facts["fakes"] >= 42_650 > 0.7 * (facts["fakes"] - 1)
    all_honest = certify(answer.best.mechanism, 1.0)
    assert all_honest.upper < answer.best.plan.certificate.upper


def test_a_share_in_sixteen_digits_counts_no_fake_too_many():
    """A third of 3 in floating point is 1; .3333333333333333 of 3 is less, and no fake is sure."""
    third = request(bins=3, users=3, epsilon=9.0, delta=0.01, honest_share=0.3333333333333333)
    (flips,), _ = Planner().survey(third)
    assert (flips.mechanism.fakes.count, flips.facts()["fakes_counted"]) == (3, 0)
    assert verify(flips.plan) == flips.mechanism
    assert third.sure_crowd == 0
    many = replaced(third, users=300, protocol="clear-uniform", messages_per_user=1000.0)
    clear = choose(many).best
    exact = Fraction("0.3333333333333333") * clear.mechanism.fakes.count
    assert clear.facts()["fakes_counted"] == exact.numerator // exact.denominator


@pytest.mark.parametrize(("crowd", "users"), [(2, 3), (5, 6), (6, 7), (10**9 - 1, 10**9)])
def test_a_minimum_crowd_counts_all_of_its_people_and_none_of_the_others(crowd, users):
    asked = request(users=users, minimum_crowd=crowd)
    assert asked.sure_crowd == crowd
    least, exact = Fraction(repr(asked.sure_fraction)), Fraction(crowd, users)
    assert exact * (1 - Fraction(1, 10**15)) < least <= exact


def test_a_wish_that_cannot_be_met_names_what_would():
    with pytest.raises(InfeasibleError, match=r"--messages-per-user 1\.043"):
        choose(request(protocol="clear-uniform", messages_per_user=1.01))
    choose(request(protocol="clear-uniform", messages_per_user=1.043))
    with pytest.raises(InfeasibleError, match="--mix-fakes"):
        choose(request(protocol="clear-shaped"))
    with pytest.raises(InfeasibleError, match="nobody could be told from all"):
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
    errors = [option.standard_error for option in (answer.best, *answer.others)]
    assert errors == sorted(errors)
    for option in (answer.best, *answer.others):
        plan = from_canonical(canonical(option.plan), Plan, "plan")
        assert verify(plan) == option.mechanism == plan.mechanism
        assert plan.certificate.upper <= plan.guarantee.delta
        if option.mechanism.name != "clear-shaped":
            assert option.mechanism.fakes_promised <= (Fraction(repr(budget)) - 1) * users


def test_a_plan_whose_promise_is_false_is_refused():
    plan = choose(request(protocol="flip-blank")).best.plan
    threshold = plan.mechanism.threshold
    weaker = from_canonical(
        canonical(plan).replace(str(threshold).encode(), str(threshold * 9 // 10).encode()),
        Plan,
        "plan",
    )
    with pytest.raises(PlanError, match="promise is false"):
        verify(weaker)


@pytest.mark.parametrize("protocol", ["flip-uniform", "flip-blank"])
@pytest.mark.parametrize("least", [1e-15, 9e-7])
def test_a_promise_below_what_is_proved_is_refused(protocol, least):
    """Where a crowd is counted on only the upper bound is known; a lower one of 0 is no check."""
    plan = choose(request(100, 20_000, messages_per_user=1.1, protocol=protocol, count_crowd=True))
    plan = plan.best.plan
    assert plan.certificate.lower < 9e-7 < plan.certificate.upper
    shown = replace(plan.certificate, lower=0.0, upper=least)
    altered = replace(plan, guarantee=Guarantee(epsilon=1.0, delta=least), certificate=shown)
    with pytest.raises(PlanError, match=r"altered|promise is false"):
        verify(altered)


@pytest.mark.parametrize(
    ("question", "mechanism"),
    [
        (BIT, single_bit(fakes=0, threshold=1 << 60, crowd=101)),
        (BITS, flip_bits(bins=5, threshold=1 << 62, crowd=10**6)),
        (ANSWER, flip_blank(bins=9, fakes=0, threshold=1 << 60, crowd=10**6)),
        (ANSWER, flip_blank(bins=9, fakes=50, threshold=1 << 60, crowd=101)),
        (ANSWER, flip_uniform(bins=9, fakes=50, threshold=1 << 60, crowd=10**6)),
    ],
)
def test_a_plan_that_counts_on_more_people_than_take_part_is_refused(question, mechanism):
    """Its certificate is true of its integers: nobody but the 100 users can be in that crowd."""
    shown = certify(mechanism, 1.0)
    plan = Plan(
        version=PLAN_VERSION,
        question=question,
        guarantee=Guarantee(epsilon=1.0, delta=0.1),
        users=mechanism.crowd,
        honest_share=1.0,
        mechanism=mechanism,
        certificate=shown,
    )
    assert verify(plan) == mechanism
    with pytest.raises(PlanError, match=r"crowd counted: wanted at most the 100 users"):
        verify(replace(plan, users=100))


def test_a_lower_end_above_what_is_proved_is_refused():
    plan = choose(request(protocol="flip-blank")).best.plan
    shown = replace(plan.certificate, lower=0.05, upper=0.06)
    loose = replace(plan, guarantee=Guarantee(epsilon=1.0, delta=0.1), certificate=shown)
    with pytest.raises(PlanError, match="altered"):
        verify(loose)
    assert verify(replace(loose, certificate=replace(shown, lower=0.0)))  # says less, truly


def test_the_reason_names_the_choice_and_the_rest():
    reason = choose(request()).reason
    assert reason.startswith(
        "clear-uniform has the smallest standard error within the budget of 2 messages"
    )
    assert "flip-blank would have 1.41 times the standard error" in reason
    assert "--mix-fakes" in reason


def test_baselines_are_the_known_numbers():
    assert central_standard_error(1.0) == pytest.approx(2.80, abs=0.005)
    assert local_standard_error(1.0, 10**6, 1000) == pytest.approx(1919, abs=1)
    # Direct encoding wins when there are few answers and epsilon is large.
    assert local_standard_error(3.0, 100, 2) < local_standard_error(3.0, 100, 1000)


@pytest.mark.parametrize("changes", [{}, {"local_epsilon": 3.0}, {"collections": 2}])
def test_flip_of_one_value_keeps_what_is_wished(changes):
    best = choose(request(30, users=10**5, protocol="flip", **changes)).best
    hiding = best.mechanism.fakes.count, best.mechanism.crowd
    assert (best.plan.protocol, *hiding) == ("flip", 0, 10**5)
    assert best.certificate.upper <= 1e-6
    local = best.mechanism.local_epsilon * best.collections
    assert local <= changes.get("local_epsilon", local)
