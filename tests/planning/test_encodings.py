"""Records of several messages: their parts, their divergence together, and what they leave and
cost.
"""

import math
from dataclasses import replace

import pytest

from mixtally.accounting.accountant import Accountant
from mixtally.accounting.plans.terms import PrivacyTerms, certify_terms, verify
from mixtally.device.contract.contract import envelope_bytes
from mixtally.errors import ParameterError
from mixtally.model.encodings import list_encodings
from mixtally.model.question import Kind, Question, make_attributes_question
from mixtally.planning import choose
from planning.requests import BIT, PAIR, composed_twice, losses, named, proved, request, surveyed

TRIP = request(question=PAIR, users=30_000, messages_per_user=10.0, mix_fakes=True)
composed = pytest.mark.slow
"""Marks what waits for sums over all pairs of outcomes, several seconds each."""
SPLIT = [
    ("clear-shaped, split", "every mix"),
    ("clear-uniform, split", "people"),
    ("flip-blank, split", "people"),
    ("flip-blank, split", "every mix"),
]
split = pytest.mark.parametrize(("name", "cover"), SPLIT)


def labelled(*sizes):
    plain = make_attributes_question("trip", sizes)
    labels = tuple(f"v{i}" for i in range(plain.bins))
    return Question(
        name="trip", bins=plain.bins, kind=Kind.SET, max_set=len(sizes), attributes=sizes,
        labels=labels,
    )  # fmt: skip


def test_attributes_travel_whole_or_one_by_one():
    whole, split = list_encodings(labelled(3, 2, 4))
    assert whole.parts == (labelled(3, 2, 4),)
    assert not whole.is_split
    assert split.is_split
    assert [part.bins for part in split.parts] == [3, 2, 4]
    assert [part.name for part in split.parts] == ["trip/1", "trip/2", "trip/3"]
    assert {part.kind for part in split.parts} == {Kind.ONE}


def test_every_part_has_the_labels_of_its_own_attribute():
    _, split = list_encodings(labelled(3, 2, 4))
    labels = [part.labels for part in split.parts]
    assert labels == [("v0", "v1", "v2"), ("v3", "v4"), ("v5", "v6", "v7", "v8")]


def test_every_bit_is_a_part_with_its_own_label():
    vector = Question(name="has", bins=3, kind=Kind.BITS, labels=("car", "dog", "child"))
    whole, split = list_encodings(vector)
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
        make_attributes_question("q", (7,)),
    ],
)
def test_what_cannot_be_split_travels_whole(question):
    (encoding,) = list_encodings(question)
    assert encoding.parts == (question,)
    assert not encoding.is_split


def test_a_bit_in_clear_is_no_or_yes_and_a_set_cannot_be_in_clear():
    (encoding,) = list_encodings(BIT)
    (answer,) = encoding.to_clear().parts
    assert (answer.bins, answer.labels, answer.kind) == (2, ("no", "yes"), Kind.ONE)
    whole, split = list_encodings(labelled(3, 2))
    assert whole.to_clear() is None
    assert split.to_clear() == split


def test_attributes_need_two_values_each_and_are_sixteen_at_most():
    assert make_attributes_question("q", (2,) * 16).max_set == 16
    for sizes in ((2, 1), (2, 0), (2,) * 17):
        with pytest.raises(ParameterError):
            make_attributes_question("q", sizes)


def test_whole_and_split_are_both_offered():
    names = {(plan.name, plan.cover) for plan in proved(TRIP)}
    more = {("flip-blank", "people"), ("flip-blank", "every mix")}
    more |= {("clear-uniform, 1 of 2 slots", "people")}
    assert names == {*SPLIT, *more, ("clear-uniform, split", "every mix")}
    assert len(named(TRIP, "flip-blank").parts) == 1


@composed
@split
def test_two_messages_tell_together_what_the_sum_over_all_outcomes_says(name, cover):
    """An independent sum over every pair of outcomes: never above the certificate, within 4 %."""
    plan = named(TRIP, name, cover)
    atoms = [losses(part, plan.honest_people) for part in plan.parts]
    truth = max(composed_twice(*atoms, 1.0), composed_twice(*atoms[::-1], 1.0))
    assert truth <= plan.certificate.upper * (1 + 1e-6)
    assert plan.certificate.upper <= 1.04 * truth
    assert plan.certificate.upper <= 1e-6


@split
def test_the_certificate_is_that_of_all_parts_together(name, cover):
    plan, accountant = named(TRIP, name, cover), Accountant()
    assert verify(plan, accountant).upper == plan.certificate.upper
    terms = PrivacyTerms.of(plan)
    alone = [certify_terms(replace(terms, parts=(part,)), accountant).upper for part in plan.parts]
    assert max(alone) < plan.certificate.upper <= 1e-6
    assert [question.bins for question in plan.questions] == [part.bins for part in plan.parts]


@split
def test_split_messages_cost_what_the_parts_send_and_fit_the_budget(name, cover):
    plan = named(TRIP, name, cover)
    sizes = envelope_bytes(plan.message_bytes, 1, 1)
    sent = [1 + (0 if part.own is None else part.own.mean) for part in plan.parts]
    size = sum(math.ceil(many) * row[0] for many, row in zip(sent, sizes, strict=True))
    assert plan.messages_per_user == pytest.approx(sum(sent), rel=1e-12)
    assert plan.bytes_per_user == size
    own = round(sum(30_000 * (many - 1) for many in sent))
    assert plan.facts()["fakes"] == own + plan.messages_per_mix
    assert sum(sent) <= 10


def test_a_noise_is_the_largest_of_all_parts():
    plan = named(TRIP, "clear-uniform, split")
    each = [part.standard_error(30_000, 1, 0) for part in plan.parts]
    assert plan.standard_error == max(each)


@pytest.mark.parametrize("limit", [400.0, 700.0, 1000.0])
def test_attributes_of_different_sizes_keep_the_budget_of_bytes(limit):
    """Most fakes are those of the large attribute, whose messages take two bytes."""
    asked = request(question=PAIR, users=30_000, messages_per_user=10.0, bytes_per_user=limit)
    found = proved(asked)
    assert found
    assert all(plan.bytes_per_user <= limit for plan in found)


def test_one_message_a_user_leaves_only_the_whole_record():
    tight = request(
        question=make_attributes_question("q", (4, 5)), users=30_000, messages_per_user=1.5
    )
    slots, whole = proved(tight)
    assert (slots.name, whole.name) == ("clear-uniform, 1 of 2 slots", "flip-blank")
    assert slots.error_of(0) < whole.standard_error
    infeasible = {m.protocol: m.needs for m in choose(tight).infeasible}
    assert "--messages-per-user 2" in infeasible["clear-uniform"]


@pytest.mark.parametrize("cap", [0.5, 3.0])
def test_a_local_cap_is_kept_over_all_parts(cap):
    asked = request(
        question=make_attributes_question("q", (4, 5)), messages_per_user=3.0, local_epsilon=cap
    )
    found = proved(asked)
    name = "flip" if cap == 0.5 else "flip-blank"  # with so many flips no fake is needed
    assert {plan.name for plan in found} == {name, f"{name}, split"}
    for plan in found:
        assert plan.facts()["local_epsilon"] <= cap
        assert plan.facts()["local_epsilon"] == pytest.approx(cap, rel=1e-2)


@pytest.mark.parametrize("cap", [0.2, 2.0])
def test_a_local_cap_of_a_single_bit_is_kept(cap):
    asked = request(question=BIT, local_epsilon=cap, messages_per_user=1.0)
    (plan,) = [plan for plan in proved(asked) if plan.name == "single-bit"]
    assert 0.999 * cap <= plan.local_epsilon <= cap


def test_a_set_of_bins_hides_every_record_of_so_many():
    question = Question(name="q", bins=9, kind=Kind.SET, max_set=2)
    asked = request(question=question, users=10**5, protocol="flip-blank", local_epsilon=3.0)
    (plan,) = proved(asked)
    assert plan.parts[0].most_set == 2
    assert plan.local_epsilon <= 3.0


def test_a_bit_of_a_tiny_crowd_at_a_tiny_delta_is_an_offer_or_a_misfit():
    surveyed(request(question=BIT, users=40, epsilon=0.05, delta=1e-14, messages_per_user=1.39))
