"""Every number of every kind of option says where it comes from, and says what is true."""

import math

import pytest
from mixtally.planner.build import option

from mixtally.planner import explain
from mixtally.planner.options import Infeasible
from mixtally.privacy.accountant import Accountant
from mixtally.records.hashing import HMAC_SHA256, Hashing
from mixtally.records.mechanism.fakes import ratio_of
from mixtally.records.mechanism.named import (
    clear_shaped,
    clear_uniform,
    flip_bits,
    flip_blank,
    single_bit,
)
from mixtally.records.question import Kind, Question
from planner.requests import BIT, SEED, request, surveyed

VECTOR = Question(name="q", bins=3, kind=Kind.BITS)
SET = Question(name="q", bins=30, kind=Kind.SET, max_set=2)
HALF = 1 << 62
"""A flip probability of a quarter: far more than any guarantee here needs."""


def built(question, mechanism, **rest):
    asked = request(question=question, users=10**5, **rest)
    made = option(asked, [(question, mechanism)], Accountant())
    assert not isinstance(made, Infeasible)
    return made


OPTIONS = {
    "flip-blank": built(
        Question(name="q", bins=9), flip_blank(bins=9, fakes=10**5, threshold=HALF)
    ),
    "flip-blank, set": built(SET, flip_blank(bins=30, fakes=10**6, threshold=HALF, max_set=2)),
    "single-bit": built(BIT, single_bit(fakes=10**5, threshold=HALF, crowd=10**5)),
    "flip": built(VECTOR, flip_bits(bins=3, threshold=HALF, crowd=10**5)),
    "flip, sent 2 times": built(VECTOR, flip_bits(bins=3, threshold=HALF, crowd=10**5, repeats=2)),
    "clear-uniform": built(Question(name="q", bins=9), clear_uniform(bins=9, fakes=1000)),
    "clear-uniform, hashed": built(
        Question(name="q", bins=900, hashed=Hashing(function=HMAC_SHA256, seed=SEED, values=10**6)),
        clear_uniform(bins=900, fakes=90_000),
    ),
    "clear-shaped": built(
        Question(name="q", bins=9),
        clear_shaped(bins=9, ratio=ratio_of(0.25), shift=60),
        mix_fakes=True,
    ),
    "clear-shaped by three": built(
        Question(name="q", bins=9),
        clear_shaped(bins=9, ratio=ratio_of(0.25), shift=60, mixes=3),
        mix_fakes=True,
    ),
}
each = pytest.mark.parametrize("made", OPTIONS.values(), ids=OPTIONS)


@each
def test_every_fact_is_explained_in_words(made):
    sources = explain(made)
    assert list(sources) == list(made.facts())
    for name, text in sources.items():
        assert text == text.strip()
        assert len(text) > 6, name
        assert "None" not in text


def test_every_offer_that_a_survey_finds_is_explained():
    for asked in (
        request(messages_per_user=3.0, mix_fakes=True),
        request(10**6),
        request(question=BIT, users=10**4),
        request(honest_share=0.7, minimum_crowd=5000, count_crowd=True),
    ):
        for found in surveyed(asked):
            assert explain(found).keys() == found.facts().keys()


@each
def test_facts_can_be_written_as_json_and_are_finite(made):
    for name, value in made.facts().items():
        assert not isinstance(value, float) or math.isfinite(value), name


def test_the_name_says_what_is_special():
    assert OPTIONS["flip, sent 2 times"].name == "flip, sent 2 times"
    assert OPTIONS["clear-uniform, hashed"].name == "clear-uniform, hashed"


@each
def test_the_messages_of_a_user_are_what_the_sentence_says(made):
    facts = made.facts()
    repeats = facts.get("repeats", 1)
    assert facts["messages_per_user"] == pytest.approx(repeats + facts["fakes"] / facts["users"])
    assert facts["bytes_per_user"] == pytest.approx(
        facts["messages_per_user"] * facts["bytes_per_message"]
    )


def test_the_standard_errors_are_what_the_sentences_say():
    def error(name):
        return OPTIONS[name].noise ** 2

    flips = 0.25 * 0.75 / 0.5**2
    assert error("flip-blank") == pytest.approx(200_000 * flips)
    assert error("single-bit") == pytest.approx(200_000 * flips)
    assert error("flip") == pytest.approx(100_000 * flips)
    assert error("flip, sent 2 times") == pytest.approx(50_000 * flips)
    assert error("clear-uniform") == pytest.approx(1000 / 9 * (8 / 9))
    assert error("clear-shaped by three") == pytest.approx(3 * error("clear-shaped"))


def test_the_local_epsilons_are_what_the_sentences_say():
    one = math.log(3.0)
    for name, times in (
        ("flip-blank", 2), ("flip-blank, set", 4), ("single-bit", 1), ("flip", 3),
        ("flip, sent 2 times", 6),
    ):  # fmt: skip
        assert OPTIONS[name].facts()["local_epsilon"] == pytest.approx(times * one)
    assert OPTIONS["clear-uniform"].facts()["local_epsilon"] is None


def test_the_collision_error_is_what_the_sentence_says():
    facts = OPTIONS["clear-uniform, hashed"].facts()
    assert facts["collision_error"] == pytest.approx(10**5 * math.sqrt(899) / 900)
    assert facts["standard_error"] == pytest.approx(
        math.hypot(OPTIONS["clear-uniform, hashed"].noise, facts["collision_error"])
    )


def test_the_minimum_crowd_of_shaped_fakes_is_explained_as_what_it_is():
    made = OPTIONS["clear-shaped"]
    assert made.facts()["minimum_crowd"] == 1
    assert "honest share x users" not in explain(made)["minimum_crowd"]


def test_the_fakes_of_flips_without_fakes_are_explained_as_none():
    assert OPTIONS["flip"].facts()["fakes"] == 0
    assert "messages per user" not in explain(OPTIONS["flip"])["fakes"]


def test_a_plan_that_tells_nothing_is_no_offer():
    asked = request(users=100)
    coins = flip_blank(bins=1000, fakes=10**4, threshold=(1 << 63) - (1 << 50))
    found = option(asked, [(asked.question, coins)], Accountant())
    assert isinstance(found, Infeasible)
    assert "more users" in found.needs
