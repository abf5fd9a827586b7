"""Every number of every kind of plan says where it comes from, and says what is true."""

import math

import pytest
from msgspec.structs import replace

from helpers.contracts import SEED, flipped, gaussian, over_planes, plan_of, shaped, uniform
from mixtally.model.contract import FakeRecord, OwnFakes
from mixtally.model.hashing import HMAC_SHA256, Hashing
from mixtally.model.question import Kind, Question
from mixtally.model.shape import ratio_of
from mixtally.planning import Candidate, choose, explain
from mixtally.planning.options import Infeasible, uninformative_reason
from planning.requests import BIT, OPEN, proved, request

USERS = 10**5
NINE = Question(name="q", bins=9)
VECTOR = Question(name="q", bins=3, kind=Kind.BITS)
SET = Question(name="q", bins=30, kind=Kind.SET, max_set=2)
WORD = Question(name="q", bins=101**3, hashed=Hashing(function=HMAC_SHA256, seed=SEED))
ONE = OwnFakes(FakeRecord.BLANK, 1, 0)
SHAPED = shaped(9, ratio=ratio_of(0.25), shift=60)


def built(question, part, **rest):
    return plan_of(question, [part], delta=1e-6, **{"users": USERS, "hops": 1, **rest})


def bits(bins, most_set, own=None):
    """A flip probability of a quarter: far more than any guarantee here needs."""
    return flipped(bins, most_set=most_set, q=0.25, own=own)


PLANS = {
    "flip-blank": built(NINE, bits(9, 1, ONE)),
    "flip-blank, set": built(SET, bits(30, 2, OwnFakes(FakeRecord.BLANK, 10, 0))),
    "flip-blank by mixes": built(NINE, flipped(9, q=0.25, blanks=10**5), hops=3),
    "flip-uniform": built(NINE, bits(9, 1, OwnFakes(FakeRecord.UNIFORM, 1, 0))),
    "single-bit": built(BIT, bits(1, None, ONE), count_flips=True),
    "flip": built(VECTOR, bits(3, None)),
    "flip alone": built(NINE, bits(9, 1), count_flips=False),
    "flip, sent 2 times": built(VECTOR, replace(bits(3, None), repeats=2)),
    "clear-uniform": built(NINE, uniform(9, coin=(1 << 64) // 100)),
    "clear-uniform, over planes": built(
        Question(name="q", bins=10**6), over_planes(10**6, 101, coin=9 * (1 << 64) // 10)
    ),
    "clear-uniform, over planes, open": built(WORD, over_planes(101**3, 101, coin=1 << 62)),
    "clear-uniform, over planes, by mixes": built(
        Question(name="q", bins=10**6),
        over_planes(10**6, 101, drawn=10**5),
        minimum_crowd=1,
        hops=3,
    ),
    "clear-shaped": built(NINE, SHAPED, minimum_crowd=1),
    "clear-shaped, Gaussian": built(NINE, gaussian(9), minimum_crowd=1),
    "clear-shaped by three": built(NINE, SHAPED, minimum_crowd=1, hops=3),
}
each = pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)


@each
def test_every_fact_is_explained_in_words(plan):
    sources = explain(plan)
    assert list(sources) == list(plan.facts())
    for name, text in sources.items():
        assert text == text.strip()
        assert len(text) > 6, name
        assert "None" not in text


def test_every_plan_that_a_survey_finds_is_explained():
    for asked in (
        request(messages_per_user=3.0, mix_fakes=True),
        request(10**6),
        request(question=OPEN, hops=2, minimum_crowd=10**5),
        request(question=BIT, users=10**4),
        request(honest_share=0.7, minimum_crowd=5000, count_crowd=True, protocol="flip"),
        request(hops=3, minimum_crowd=10**5),
    ):
        for found in proved(asked):
            assert explain(found).keys() == found.facts().keys()


@each
def test_facts_can_be_written_as_json_and_are_finite(plan):
    for name, value in plan.facts().items():
        assert not isinstance(value, float) or math.isfinite(value), name


def test_the_name_says_what_is_special():
    assert PLANS["flip, sent 2 times"].name == "flip, sent 2 times"
    assert PLANS["clear-uniform, over planes, open"].name == "clear-uniform, over planes"


@each
def test_the_messages_of_a_user_are_what_the_sentence_says(plan):
    facts = plan.facts()
    people = facts["fakes"] - plan.hops * facts["messages_per_mix"]
    sent = facts.get("repeats", 1) + people / facts["users"]
    assert facts["messages_per_user"] == pytest.approx(sent)
    layers = 48 * (plan.hops + 1)
    (size,) = facts["bytes_per_message"]
    assert facts["bytes_per_user"] == math.ceil(sent) * (size + layers)


def test_the_standard_errors_are_what_the_sentences_say():
    def error(name):
        return PLANS[name].standard_error ** 2

    flips, summed = 0.25 * 0.75 / 0.5**2, 1 - 1 / 9
    assert error("flip-blank") == pytest.approx(200_000 * flips * summed)
    assert error("flip-blank by mixes") == pytest.approx(400_000 * flips * summed)
    assert error("flip-uniform") == pytest.approx((200_000 * flips + 10**5 / 9) * summed)
    assert error("single-bit") == pytest.approx(200_000 * flips)
    assert error("flip") == pytest.approx(100_000 * flips)
    assert error("flip, sent 2 times") == pytest.approx(50_000 * flips)
    assert error("clear-uniform") == pytest.approx(1000 / 9 * (8 / 9))
    assert error("clear-shaped by three") == pytest.approx(3 * error("clear-shaped"))


def test_the_local_epsilons_are_what_the_sentences_say():
    one = math.log(3.0)
    for name, times in (
        ("flip-blank", 2), ("flip-blank, set", 4), ("single-bit", 1), ("flip", 3),
        ("flip, sent 2 times", 6), ("flip-uniform", 2),
    ):  # fmt: skip
        (part,) = PLANS[name].parts
        assert part.local_epsilon == pytest.approx(times * one)
    assert PLANS["clear-uniform"].parts[0].local_epsilon == math.inf
    assert PLANS["clear-uniform"].facts()["local_epsilon"] is None


@pytest.mark.parametrize(
    ("name", "fakes"),
    [
        ("clear-uniform, over planes", 90_000),
        ("clear-uniform, over planes, open", 25_000),
        ("clear-uniform, over planes, by mixes", 300_000),
    ],
)
def test_the_error_over_planes_is_what_the_sentence_says(name, fakes):
    """(users k (1 - k) + (fakes / prime)(1 - 1 / prime)) / (1 - k)^2, k = (p^2 - 1) / (p^3 - 1)."""
    facts, k = PLANS[name].facts(), (101**2 - 1) / (101**3 - 1)
    assert (facts["prime"], facts["digits"], facts["fakes"]) == (101, 3, fakes)
    variance = (USERS * k * (1 - k) + fakes / 101 * (100 / 101)) / (1 - k) ** 2
    assert facts["standard_error"] ** 2 == pytest.approx(variance)
    assert explain(PLANS[name])["prime"].startswith("the greatest prime")


def test_a_reason_says_that_a_message_names_a_plane():
    assert "names one of 23,417 planes of values" in choose(request(question=OPEN)).reason


def test_the_minimum_crowd_of_shaped_fakes_is_explained_as_what_it_is():
    plan = PLANS["clear-shaped"]
    assert plan.facts()["minimum_crowd"] == 1
    assert "mixes draw the fakes" in explain(plan)["minimum_crowd"]
    assert "delta is larger" in explain(PLANS["clear-uniform"])["minimum_crowd"]


def test_the_fakes_of_flips_without_fakes_are_explained_as_none():
    assert PLANS["flip"].facts()["fakes"] == 0
    assert explain(PLANS["flip"])["fakes"] == "none: other people's flips hide a person"
    assert "a person's own flips" in explain(PLANS["flip alone"])["fakes"]


def test_a_plan_that_tells_nothing_is_no_offer():
    asked = request(users=100)
    coins = flipped(1000, q=0.5 - 2**-14, own=OwnFakes(FakeRecord.BLANK, 100, 0))
    found = uninformative_reason(Candidate(asked, asked.question, (coins,)))
    assert isinstance(found, Infeasible)
    assert "more users" in found.needs
