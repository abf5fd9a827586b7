"""A plan holds together or is refused, and the bytes of its file are its identity."""

import hashlib
import json
import math

import pytest
from msgspec.structs import replace

from helpers.contracts import flipped, plan_of, shaped, uniform
from mixtally.errors import PlanError
from mixtally.model.contract import FakeRecord, OwnFakes, read_plan, write_plan
from mixtally.model.grid import Grid
from mixtally.model.guarantee import Guarantee
from mixtally.model.plan import Plan
from mixtally.model.question import Kind, Question, make_attributes_question
from model.builders import a_certificate, a_plan

PART = a_plan().parts[0]


def read(tree):
    return read_plan(json.dumps(tree).encode(), "plan")


def turned(tree):
    """The same fields in the other order."""
    if isinstance(tree, list):
        return [turned(one) for one in tree]
    if not isinstance(tree, dict):
        return tree
    return {name: turned(tree[name]) for name in reversed(tree)}


def test_a_plan_comes_back_from_its_bytes_and_from_any_spelling():
    plan = a_plan()
    assert read_plan(write_plan(plan), "plan") == plan
    tree = json.loads(write_plan(plan))
    assert read_plan(json.dumps(tree, indent=4).encode(), "plan") == plan
    assert list(turned(tree)["parts"][0]) == list(tree["parts"][0])[::-1]
    assert read(turned(tree)) == plan
    assert write_plan(read(turned(tree))) == write_plan(plan)


def test_a_fingerprint_is_the_hash_of_the_file_that_a_contract_embeds():
    data = write_plan(a_plan())
    assert a_plan().fingerprint == hashlib.sha256(data).hexdigest()
    assert data.startswith(b'{\n "version": 6,\n "question"')


def test_thresholds_of_64_bits_keep_every_digit():
    part = replace(PART, threshold=(1 << 63) - 1)
    data = write_plan(replace(a_plan(), parts=(part,)))
    assert f'"{(1 << 63) - 1}"'.encode() in data
    assert read_plan(data, "plan").parts[0].threshold == (1 << 63) - 1


@pytest.mark.parametrize(
    "changes",
    [
        {"users": 1001},
        {"honest_share": 0.6},
        {"minimum_crowd": 999},
        {"count_flips": True},
        {"collections": 2},
        {"hops": 2},
        {"local_epsilon": 3.0},
        {"edges": (0.0, 1.0, 2.0, 3.0)},
        {"grid": Grid(low=0.0, high=1.0, points=3)},
        {"question": Question(name="fruits", bins=3, labels=("apple", "pear", "plum"))},
        {"parts": (replace(PART, own=OwnFakes(FakeRecord.BLANK, 2, 1)),)},
        {"parts": (replace(PART, own=OwnFakes(FakeRecord.UNIFORM, 2, 0)),)},
        {"parts": (replace(PART, threshold=PART.threshold + 1),)},
        {"guarantee": Guarantee(epsilon=1.0, delta=2e-6)},
        {"certificate": a_certificate(assumption="another")},
    ],
    ids=str,
)
def test_every_field_is_part_of_the_fingerprint(changes):
    changed = replace(a_plan(), **changes)
    assert changed.fingerprint != a_plan().fingerprint


@pytest.mark.parametrize(
    "changes",
    [
        {"upper": math.nextafter(1e-6, 1)},
        {"upper": 1.0},
        {"epsilon": 1.1},
        {"epsilon": 0.9},
        {"epsilon": math.nan},
    ],
)
def test_a_certificate_that_does_not_keep_the_promise_is_refused(changes):
    with pytest.raises((PlanError, ValueError)):
        a_plan(certificate=a_certificate(**changes))


def test_a_certificate_at_the_promise_itself_is_accepted():
    assert a_plan(certificate=a_certificate(upper=1e-6)).certificate.upper == 1e-6


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"users": 1}, "users of the contract"),
        ({"users": 10**10 + 1}, "users of the contract"),
        ({"honest_share": 0.0}, "honest_share of the contract"),
        ({"honest_share": math.nan}, "honest_share of the contract"),
        ({"version": 3}, "version of the contract"),
    ],
)
def test_what_cannot_be_is_refused_when_it_is_made(changes, words):
    with pytest.raises(PlanError, match=words):
        replace(a_plan(), **changes)


@pytest.mark.parametrize("field", json.loads(write_plan(a_plan())))
def test_a_missing_field_is_refused(field):
    tree = json.loads(write_plan(a_plan()))
    del tree[field]
    with pytest.raises(PlanError, match=field):
        read(tree)


@pytest.mark.parametrize(
    ("plan", "asked"),
    [
        (plan_of(make_attributes_question("q", (3, 4)), [uniform(3), uniform(4)]), [3, 4]),
        (plan_of(Question(name="q", bins=3, kind=Kind.BITS), [shaped(2)] * 3), [2, 2, 2]),
        (plan_of(make_attributes_question("q", (3, 4)), [flipped(7, most_set=2, blanks=3)]), [7]),
    ],
)
def test_every_part_knows_what_it_asks(plan, asked):
    assert [question.bins for question in plan.questions] == asked


def test_fakes_that_are_counted_on_are_those_of_honest_people_or_of_one_mix():
    people = a_plan(honest_share=0.7, minimum_crowd=900)
    assert people.fakes_counted == 2 * 630
    coins = replace(people, parts=(replace(PART, own=OwnFakes(FakeRecord.BLANK, 0, 1 << 63)),))
    assert coins.fakes_counted == 315
    mixes = plan_of(Question(name="q", bins=3), [shaped(3, shift=20)], hops=3)
    assert (mixes.fakes_counted, mixes.fakes) == (60, 180)


def test_what_is_left_of_fewer_collections_is_their_share():
    plan = a_plan(collections=4, local_epsilon=8.0)
    assert plan.local_epsilon_of(1) == 2.0
    assert a_plan().local_epsilon_of(1) is None


def test_a_plan_that_is_not_checked_would_be_written(monkeypatch):
    """The planted bug: records that ask no device."""
    monkeypatch.setattr("mixtally.model.plan.check_readable", lambda *_: None)
    assert isinstance(replace(a_plan(), users=1), Plan)
    monkeypatch.undo()
    with pytest.raises(PlanError):
        replace(a_plan(), users=1)
