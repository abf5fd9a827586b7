"""Contracts as records: whom they count on, whose keys they name, which parts have a proof."""

import hashlib

import pytest
from msgspec.structs import replace

from helpers.contracts import contract_of, flipped, network, plan_of, shaped, uniform
from helpers.named import flip_blank
from mixtally.errors import PlanError
from mixtally.model.contract import (
    BlanksRecipe,
    FakeRecord,
    OwnFakes,
    Role,
    fingerprint_of,
    format_verifier_key,
    write_contract,
)
from mixtally.model.question import Kind, Question, make_attributes_question

QUESTION = Question(name="q", bins=9)
SETS = Question(name="q", bins=9, kind=Kind.SET, max_set=3)


@pytest.mark.parametrize(
    ("crowd", "share", "sure"), [(90, 0.7, 63), (99, 0.7, 69), (100, 0.999, 99), (3, 1.0, 3)]
)
def test_people_are_counted_on_by_the_minimum_crowd_and_rounded_down(crowd, share, sure):
    plan = plan_of(QUESTION, [uniform(9)], minimum_crowd=crowd, honest_share=share, users=1000)
    assert plan.honest_people == sure


@pytest.mark.parametrize("share", [0.5, 0.75])
def test_one_honest_person_covers_nobody(share):
    with pytest.raises(PlanError, match="at least 2 honest people"):
        plan_of(QUESTION, [uniform(9)], minimum_crowd=2, honest_share=share)


@pytest.mark.parametrize(("whole", "coin", "most"), [(0, 1, 1), (2, 0, 2), (2, 1 << 63, 3)])
def test_a_coin_may_show_one_more_fake(whole, coin, most):
    assert OwnFakes(FakeRecord.BLANK, whole, coin).most == most


def test_hops_are_as_many_as_are_priced():
    plan = plan_of(QUESTION, [shaped(9)], hops=2)
    for hops in (1, 3):
        with pytest.raises(PlanError, match=r"hops of the contract: expected (the )?2"):
            contract_of(plan, hops=network(hops)[0])


def test_the_same_key_under_two_names_is_one_operator_twice():
    hops, collector = network(2)
    public = hashlib.sha256(b"somebody").digest()
    plan = plan_of(QUESTION, [shaped(9)])
    same = tuple(replace(hop, key=format_verifier_key(hop.name, public)) for hop in hops)
    assert {hop.public for hop in same} == {public}
    with pytest.raises(
        PlanError, match="hops of the contract: expected another name, address and key"
    ):
        contract_of(plan, hops=same)
    mine = replace(collector, key=format_verifier_key(collector.name, hops[0].public))
    with pytest.raises(
        PlanError, match="hops of the contract: expected another name, address and key"
    ):
        contract_of(plan, collector=mine)


def test_signatures_are_in_no_fingerprint_and_every_byte_of_the_text_is():
    data = write_contract(contract_of(plan_of(QUESTION, [shaped(9)])))
    signed = data + "\n\u2014 mix-1 AAAA\n".encode()
    assert fingerprint_of(signed) == fingerprint_of(data) == hashlib.sha256(data).hexdigest()
    assert fingerprint_of(data.replace(b'"serial": 1', b'"serial":  1')) != fingerprint_of(data)


@pytest.mark.parametrize("more", [-1, 1])
def test_blanks_are_flipped_as_records_are(more):
    part = flipped(9, blanks=5)
    recipe = BlanksRecipe(5, part.threshold + more)
    with pytest.raises(PlanError, match="blanks of hops, flipped as records are"):
        replace(part, recipe=recipe)


def test_a_cap_leaves_room_for_the_largest_record():
    assert flipped(9, most_set=3, cap=3).layout.cap == 3
    for bins, most in ((9, 3), (3, None)):
        with pytest.raises(PlanError, match="no less than a record sets"):
            flipped(bins, most_set=most, cap=2)


@pytest.mark.parametrize("most", [1, 2, 4])
def test_a_part_hides_records_of_the_size_that_is_asked(most):
    with pytest.raises(PlanError, match="parts of the contract"):
        plan_of(SETS, [flipped(9, most_set=most, blanks=5)])


def test_a_part_without_a_cover_hides_a_record_by_its_own_flips_alone():
    covered = flipped(3, own=OwnFakes(FakeRecord.BLANK, 1, 0))
    parts = [covered, flipped(3)]
    plan = plan_of(make_attributes_question("q", (3, 3)), parts, count_flips=False)
    bare = plan.parts[1].mechanism(fakes=0, crowd=plan.crowd)
    assert bare == flip_blank(bins=3, fakes=0, threshold=plan.parts[1].threshold)
    counted = plan_of(make_attributes_question("q", (3, 3)), parts, count_flips=True)
    assert counted.parts[1].mechanism(fakes=0, crowd=counted.crowd).crowd == 1000


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": "a\x1b[2J"}, r"^role a\\x1b\[2J\.name: expected letters, digits"),
        ({"address": "http://mix.example"}, r"^role mix\.address: expected https://"),
        ({"key": "mix+00000000+AAAA"}, r"^role mix\.key: expected the Ed25519 key mix\+HASH"),
        ({"operator": ""}, r"^role mix\.operator: expected who runs it"),
    ],
)
def test_a_role_that_nobody_can_be_is_named(changes, words):
    good = {"name": "mix", "address": "https://mix.example", "operator": "us"}
    good["key"] = format_verifier_key("mix", bytes(32))
    assert Role(**good).public == bytes(32)
    with pytest.raises(PlanError, match=words):
        Role(**good | changes)
