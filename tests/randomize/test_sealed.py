"""The sealed bytes of memoized responses: as documented, and refused when anything is not right."""

import hashlib

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from mixtally.errors import DataError, PlanError
from mixtally.ground.bits import one_hot
from mixtally.ground.codec import fingerprint
from mixtally.randomize.memoized import Responses, new_key, recall, value_tag
from mixtally.randomize.sealed import seal, unseal
from mixtally.records.memoized_plan import hashed_question, memoized_plan
from mixtally.records.question import Question
from mixtally.simulation.seeded import SeededChance

KEY = bytes(range(32))
QUESTION = Question(name="color", bins=3, labels=("red", "green", "blue"))
PLAN = memoized_plan(QUESTION, 0.5, 0.5, 0.75)


@pytest.fixture
def kept():
    tags = [value_tag(KEY, "ann", value) for value in ("red", "blue")]
    records = one_hot(np.array([0, 2]), 3)
    return recall(Responses(PLAN, "ann", {}), tags, records, SeededChance(1))[0]


@pytest.fixture
def data(kept):
    return seal(kept, KEY)


def opened(data, plan=PLAN, owner="ann", key=KEY):
    return unseal(data, plan, owner, key, "ann.memory")


def test_what_was_sealed_comes_back(kept, data):
    back = opened(data)
    assert (back.plan, back.owner, back.by_tag) == (PLAN, "ann", kept.by_tag)
    assert seal(back, KEY) == data
    assert opened(seal(Responses(PLAN, "ann", {}), KEY)).by_tag == {}


def test_the_bytes_are_as_documented(kept, data):
    """Read once more from the description alone."""

    def keyed(purpose, text):
        raw = text.encode()
        return hashlib.blake2b(
            len(raw).to_bytes(8, "little") + raw, digest_size=16, key=KEY, person=purpose
        ).digest()

    assert data[:16] == b"mixtally memory\n"
    assert data[16:18] == b"\2\0"
    assert data[18:50].hex() == fingerprint(PLAN)
    assert data[50:58] == hashlib.blake2b(b"", digest_size=16, key=KEY, person=b"key").digest()[:8]
    assert data[58:74] == keyed(b"owner", "ann")
    sealing = hashlib.blake2b(b"", digest_size=64, key=KEY, person=b"seal").digest()
    plain = AESSIV(sealing).decrypt(data[74:], [data[:74]])
    assert int.from_bytes(plain[:8], "little") == 2
    entries = [plain[8 + 17 * i : 25 + 17 * i] for i in range(2)]
    assert {entry[:16]: entry[16:] for entry in entries} == kept.by_tag
    assert entries == sorted(entries)
    assert len(plain) == 8 + 2 * 17


def test_neither_owner_nor_value_nor_response_stands_there_in_plain(kept, data):
    for text in (b"ann", b"red", b"blue", *kept.by_tag):
        assert text not in data


@pytest.mark.parametrize(
    "plan",
    [
        memoized_plan(QUESTION, 0.5000001, 0.5, 0.75),
        memoized_plan(QUESTION, 0.5, 0.4, 0.75),
        memoized_plan(QUESTION, 0.5, 0.5, 0.8),
        memoized_plan(Question(name="hue", bins=3, labels=QUESTION.labels), 0.5, 0.5, 0.75),
        memoized_plan(
            Question(name="color", bins=3, labels=("green", "red", "blue")), 0.5, 0.5, 0.75
        ),
        memoized_plan(hashed_question("color", 3, 1), 0.5, 0.5, 0.75),
        memoized_plan(hashed_question("color", 3, 1), 0.5, 0.5, 0.75, 2),
    ],
)
def test_responses_of_another_plan_is_refused(data, plan):
    with pytest.raises(
        PlanError, match=r"ann\.memory: wanted the memoized responses of plan .* one file a plan"
    ):
        opened(data, plan=plan)


def test_the_damaged_end_of_a_fingerprint_is_not_called_another_plan(data):
    late = 16 + 2 + 31  # its last byte
    edited = data[:late] + bytes([data[late] ^ 1]) + data[late + 1 :]
    with pytest.raises(DataError, match="fingerprint of which a part was edited"):
        opened(edited)


def test_responses_of_another_person_are_refused(data):
    with pytest.raises(
        DataError, match="wanted the memoized responses of 'bob', got those of somebody else"
    ):
        opened(data, owner="bob")


def test_responses_of_another_key_are_refused(data):
    with pytest.raises(DataError, match="sealed with this key"):
        opened(data, key=new_key(SeededChance(5)))


@pytest.mark.parametrize("other", [1, 3])
def test_another_version_is_refused(data, other):
    with pytest.raises(
        PlanError, match=f"wanted memoized responses of version 2, got version {other}"
    ):
        opened(data[:16] + bytes([other, 0]) + data[18:])


def test_every_cut_is_refused(data):
    for length in range(len(data)):
        with pytest.raises(DataError, match="whole and as they were written"):
            opened(data[:length])
    with pytest.raises(DataError):
        opened(data + b"\0")


@pytest.mark.parametrize("bit", [0, 7])
def test_every_edited_byte_is_refused(data, bit):
    for place in range(len(data)):
        edited = bytearray(data)
        edited[place] ^= 1 << bit
        with pytest.raises((DataError, PlanError)):
            opened(bytes(edited))


def test_a_header_moved_to_another_body_is_refused(kept, data):
    """Two people of one key: the seal binds a body to its owner."""
    other = seal(Responses(PLAN, "bob", kept.by_tag), KEY)
    with pytest.raises(DataError, match="cut short or edited"):
        opened(data[:74] + other[74:])


def test_without_the_header_in_the_seal_that_would_pass(kept, data, monkeypatch):
    """The planted bug that the test above must catch."""

    class Loose:
        def __init__(self, key):
            self.true = AESSIV(key)

        def encrypt(self, plain, _):
            return self.true.encrypt(plain, [])

        def decrypt(self, sealed, _):
            return self.true.decrypt(sealed, [])

    monkeypatch.setattr("mixtally.randomize.sealed.AESSIV", Loose)
    mine, other = seal(kept, KEY), seal(Responses(PLAN, "bob", kept.by_tag), KEY)
    assert opened(mine[:74] + other[74:]).by_tag == kept.by_tag
