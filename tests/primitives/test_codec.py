"""Canonical bytes: one value has one encoding, and nothing else is accepted."""

import hashlib
import json
import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixtally.errors import PlanError
from mixtally.model.plan import Plan
from mixtally.model.question import Question
from mixtally.primitives.codec import canonical_bytes, fingerprint, from_canonical, from_json
from model.builders import a_plan

TEXT = st.characters(exclude_categories=["Cc", "Cs"], include_characters="\t\r\n")

FRUIT = Question(name="fruit", bins=2, labels=("apple", "pear"))
FRUIT_BYTES = (
    b'{"attributes":null,"bins":2,"hashed":null,"kind":"one","labels":["apple","pear"],'
    b'"max_set":1,"name":"fruit"}'
)


class Number(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    value: float
    count: int = 0


def read(data, kind=Question):
    return from_canonical(data, kind, "question")


def test_the_encoding_is_sorted_and_without_spaces():
    assert canonical_bytes(FRUIT) == FRUIT_BYTES


def test_canonical_bytes_come_back_as_the_same_record():
    assert read(FRUIT_BYTES) == FRUIT
    plan = a_plan()
    assert from_canonical(canonical_bytes(plan), Plan, "plan") == plan


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(-(2**63), 2**64 - 1))
def test_every_number_comes_back_exactly(value, count):
    back = from_canonical(canonical_bytes(Number(value, count)), Number, "number")
    assert back.count == count
    assert back.value == value
    assert math.copysign(1, back.value) == math.copysign(1, value)


@given(st.lists(st.text(TEXT, min_size=1), min_size=2, max_size=4, unique=True))
def test_every_text_comes_back_exactly(labels):
    question = Question(name=labels[0], bins=len(labels), labels=tuple(labels))
    data = canonical_bytes(question)
    assert data.isascii()
    assert read(data) == question


def test_labels_outside_ascii_are_escaped():
    question = Question(name="città", bins=2, labels=("Zürich", "東京"))
    assert rb"Z\u00fcrich" in canonical_bytes(question)
    assert read(canonical_bytes(question)) == question
    plain = json.dumps(json.loads(canonical_bytes(question)), ensure_ascii=False, sort_keys=True)
    assert from_json(plain.encode(), Question, "question") == question
    with pytest.raises(PlanError, match="another spelling"):
        read(plain.replace(": ", ":").replace(", ", ",").encode())


@pytest.mark.parametrize(
    "other",
    [
        b' {"bins":2,"labels":["apple","pear"],"name":"fruit"}',
        b'{"bins":2,"labels":["apple","pear"],"name":"fruit"}\n',
        b'{"bins": 2,"labels":["apple","pear"],"name":"fruit"}',
        b'{"name":"fruit","bins":2,"labels":["apple","pear"]}',
        b'{"bins":2,"labels":["apple","pear"],"name":"\\u0066ruit"}',
        FRUIT_BYTES.decode().encode("utf-16"),
    ],
)
def test_another_spelling_is_read_as_json_but_is_not_canonical(other):
    assert from_json(other, Question, "question") == FRUIT
    with pytest.raises(PlanError, match="another spelling"):
        read(other)


def test_a_field_left_to_its_default_is_not_canonical():
    with pytest.raises(PlanError, match="another spelling"):
        read(b'{"bins":2,"name":"fruit"}')


@pytest.mark.parametrize("number", [b"1e-6", b"0.000001", b"1.0e-06", b"1E-06"])
def test_another_spelling_of_a_number_is_refused(number):
    assert canonical_bytes(Number(1e-6)) == b'{"count":0,"value":1e-06}'
    with pytest.raises(PlanError, match="another spelling"):
        read(b'{"count":0,"value":' + number + b"}", Number)


def test_a_double_in_disguise_is_refused():
    with pytest.raises(PlanError):
        read(b'{"count":1.0,"value":1e-06}', Number)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'{"bins":2,"bins":2,"labels":null,"name":"x"}', "stands twice"),
        (b'{"bins":2,"color":1,"labels":null,"name":"x"}', "color"),
        (b'{"bins":2,"labels":null}', "name"),
        (b'{"bins":"2","labels":null,"name":"x"}', "int"),
        (b'{"bins":true,"labels":null,"name":"x"}', "int"),
        (b'{"bins":NaN,"labels":null,"name":"x"}', "NaN is not a number"),
        (b'{"bins":-Infinity,"labels":null,"name":"x"}', "Infinity is not a number"),
        (FRUIT_BYTES[:-1], "something else"),
        (FRUIT_BYTES[:20], "something else"),
        (b"", "something else"),
        (b"[]", "object"),
        (b"null", "object"),
        (FRUIT_BYTES + FRUIT_BYTES, "something else"),
        (b'{"bins":2,"labels":null,"name":"\xff"}', "utf-8"),
        (b"[" * 200_000, "recursion"),
        (b'{"bins":' + b"9" * 5000 + b',"labels":null,"name":"x"}', "something else"),
    ],
)
def test_what_this_version_did_not_write_is_refused(data, reason):
    for reader in (from_json, from_canonical):
        with pytest.raises(PlanError, match=reason):
            reader(data, Question, "question")


@pytest.mark.parametrize("cut", range(len(FRUIT_BYTES)))
def test_text_truncated_anywhere_is_refused(cut):
    with pytest.raises(PlanError):
        from_json(FRUIT_BYTES[:cut], Question, "question")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_number_json_does_not_know_is_never_written(value):
    with pytest.raises(ValueError, match="JSON"):
        canonical_bytes(Number(value))


def test_the_fingerprint_is_the_hash_of_the_bytes():
    assert fingerprint(FRUIT) == hashlib.sha256(FRUIT_BYTES).hexdigest()
    assert fingerprint(a_plan()) != fingerprint(a_plan(users=1001))
