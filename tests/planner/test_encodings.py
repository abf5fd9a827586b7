"""Records of several messages: their parts, their divergence together, and what they leave and
cost.
"""

import math
from fractions import Fraction

import pytest

from mixtally.errors import ParameterError
from mixtally.planner import choose
from mixtally.privacy.certify import verify
from mixtally.privacy.composition import compose
from mixtally.records.encodings import encodings
from mixtally.records.question import Kind, Question, with_attributes
from planner.requests import BIT, PAIR, composed_twice, divergence, losses, named, request, surveyed

TRIP = request(question=PAIR, users=30_000, messages_per_user=10.0, mix_fakes=True)
composed = pytest.mark.slow
"""Marks what waits for compositions to be calibrated, several seconds a request."""
SPLIT = ["clear-shaped, split", "clear-uniform, split", "flip-blank, split"]


def labelled(*sizes):
    plain = with_attributes("trip", sizes)
    labels = tuple(f"v{i}" for i in range(plain.bins))
    return Question(
        name="trip", bins=plain.bins, kind=Kind.SET, max_set=len(sizes), attributes=sizes,
        labels=labels,
    )  # fmt: skip


def test_attributes_travel_whole_or_one_by_one():
    whole, split = encodings(labelled(3, 2, 4))
    assert whole.parts == (labelled(3, 2, 4),)
    assert not whole.split
    assert split.split
    assert [part.bins for part in split.parts] == [3, 2, 4]
    assert [part.name for part in split.parts] == ["trip/1", "trip/2", "trip/3"]
    assert {part.kind for part in split.parts} == {Kind.ONE}


def test_every_part_has_the_labels_of_its_own_attribute():
    _, split = encodings(labelled(3, 2, 4))
    labels = [part.labels for part in split.parts]
    assert labels == [("v0", "v1", "v2"), ("v3", "v4"), ("v5", "v6", "v7", "v8")]


def test_every_bit_is_a_part_with_its_own_label():
    vector = Question(name="has", bins=3, kind=Kind.BITS, labels=("car", "dog", "child"))
    whole, split = encodings(vector)
    assert whole.parts == (vector,)
    assert [(part.name, part.bins, part.kind, part.labels) for part in split.parts] == [
        ("has/1", 1, Kind.BITS, ("car",)),
        ("has/2", 1, Kind.BITS, ("dog",)),
        ("has/3", 1, Kind.BITS, ("child",)),
    ]


@pytest.mark.parametrize(
    "question",
    [
        Question(name="q", bins=7),
        BIT,
        Question(name="q", bins=7, kind=Kind.SET, max_set=3),
        with_attributes("q", (7,)),
    ],
)
def test_what_cannot_be_split_travels_whole(question):
    (encoding,) = encodings(question)
    assert encoding.parts == (question,)
    assert not encoding.split


def test_a_bit_in_clear_is_no_or_yes_and_a_set_cannot_be_in_clear():
    (encoding,) = encodings(BIT)
    (answer,) = encoding.in_clear().parts
    assert (answer.bins, answer.labels, answer.kind) == (2, ("no", "yes"), Kind.ONE)
    whole, split = encodings(labelled(3, 2))
    assert whole.in_clear() is None
    assert split.in_clear() == split


def test_attributes_need_two_values_each_and_are_sixteen_at_most():
    assert with_attributes("q", (2,) * 16).max_set == 16
    for sizes in ((2, 1), (2, 0), (2,) * 17):
        with pytest.raises(ParameterError):
            with_attributes("q", sizes)


@composed
def test_whole_and_split_are_both_offered():
    assert {option.name for option in surveyed(TRIP)} == {*SPLIT, "flip-blank"}
    assert len(named(TRIP, "flip-blank").plans) == 1


@composed
@pytest.mark.parametrize("name", SPLIT)
def test_two_messages_tell_together_what_the_sum_over_all_outcomes_says(name):
    """An independent sum over every pair of outcomes: never above the certificate, within 1 %."""
    found = named(TRIP, name)
    atoms = [losses(plan.mechanism) for plan in found.plans]
    truth = max(composed_twice(*atoms, 1.0), composed_twice(*atoms[::-1], 1.0))
    assert truth <= found.certificate.upper * (1 + 1e-6)
    assert found.certificate.upper <= 1.01 * truth
    assert found.certificate.upper <= 1e-6


@composed
@pytest.mark.parametrize("name", SPLIT)
def test_the_certificate_is_the_composition_of_its_plans(name):
    found = named(TRIP, name)
    again = compose.delta_of([(plan, 1) for plan in found.plans], 1.0)
    assert again.upper <= found.certificate.upper <= 1.01 * again.upper
    assert (again.lower, again.source) == (found.certificate.lower, found.certificate.source)
    assert again.lower >= max(plan.certificate.lower for plan in found.plans) * 1e-9


@composed
@pytest.mark.parametrize("name", SPLIT)
def test_each_part_keeps_a_promise_of_its_own_that_is_true(name):
    found = named(TRIP, name)
    for plan in found.plans:
        assert verify(plan) == plan.mechanism
        (alone,) = [divergence(losses(plan.mechanism), plan.guarantee.epsilon)]
        assert alone <= plan.guarantee.delta * (1 + 1e-6)
        assert plan.guarantee.epsilon < 1.0


@composed
@pytest.mark.parametrize("name", SPLIT)
def test_split_messages_cost_what_the_parts_send_and_fit_the_budget(name):
    found = named(TRIP, name)
    each = [plan.mechanism for plan in found.plans]
    sent = sum(1 + Fraction(m.fakes_promised, 30_000) for m in each)
    size = sum((1 + Fraction(m.fakes_promised, 30_000)) * m.layout.message_bytes for m in each)
    assert found.messages_per_user == pytest.approx(float(sent), rel=1e-12)
    assert found.bytes_per_user == pytest.approx(float(size), rel=1e-12)
    assert found.facts()["fakes"] == sum(m.fakes_promised for m in each)
    if name != "clear-shaped, split":
        assert sent <= 10


@composed
def test_a_noise_is_the_largest_of_all_parts():
    found = named(TRIP, "clear-uniform, split")
    each = [plan.mechanism.standard_error(30_000) for plan in found.plans]
    assert found.noise == found.standard_error == max(each)


@composed
def test_attributes_of_different_sizes_keep_the_budget_of_bytes():
    """Most fakes are those of the large attribute, whose messages take two bytes."""
    asked = request(question=PAIR, users=30_000, messages_per_user=10.0, bytes_per_user=8.0)
    assert all(option.bytes_per_user <= 8.0 for option in surveyed(asked))


@composed
def test_one_message_a_user_leaves_only_the_whole_record():
    tight = request(question=with_attributes("q", (4, 5)), users=30_000, messages_per_user=1.5)
    assert [option.name for option in surveyed(tight)] == ["flip-blank"]
    infeasible = {m.protocol: m.needs for m in choose(tight).infeasible}
    assert "--messages-per-user 2" in infeasible["clear-uniform"]


@composed
@pytest.mark.parametrize("cap", [0.5, 3.0])
def test_a_local_cap_is_kept_over_all_parts(cap):
    asked = request(question=with_attributes("q", (4, 5)), messages_per_user=3.0, local_epsilon=cap)
    options = surveyed(asked)
    assert {option.name for option in options} == {"flip-blank", "flip-blank, split"}
    for option in options:
        left = math.fsum(plan.mechanism.local_epsilon for plan in option.plans)
        assert left <= cap
        assert option.facts()["local_epsilon"] <= cap
        assert option.facts()["local_epsilon"] == pytest.approx(cap, rel=1e-6)


@pytest.mark.parametrize("cap", [0.2, 2.0])
def test_a_local_cap_of_a_single_bit_is_kept(cap):
    asked = request(question=BIT, local_epsilon=cap, messages_per_user=1.0)
    (option,) = surveyed(asked)
    assert option.name == "single-bit"
    assert 0.999 * cap <= option.mechanism.local_epsilon <= cap


def test_a_set_of_bins_hides_every_record_of_so_many():
    question = Question(name="q", bins=9, kind=Kind.SET, max_set=2)
    asked = request(question=question, users=10**5, protocol="flip-blank", local_epsilon=3.0)
    (option,) = surveyed(asked)
    assert option.mechanism.max_set == 2
    assert option.mechanism.local_epsilon <= 3.0


def test_a_bit_of_a_tiny_crowd_at_a_tiny_delta_is_an_offer_or_a_misfit():
    surveyed(request(question=BIT, users=40, epsilon=0.05, delta=1e-14, messages_per_user=1.39))
