"""Pins follow a rotation that the old and the new key signed, and never back or to another key."""

import random

import pytest
from msgspec.structs import replace

from helpers.devices import ANY, NOW, World, secret
from mixtally.device.client.net import (
    Diary,
    Pins,
    describe_consent,
    move_pins,
    open_round,
    prepare,
    verify_contract,
)
from mixtally.device.wire.note import Signer, sign_note
from mixtally.errors import RefusedError
from mixtally.model.contract import write_contract

WORLD = World()
MIX = WORLD.signers[0]
OLD, EARLIEST, STOLEN = (Signer("mix-1", secret(name)) for name in ("old", "earliest", "stolen"))
PINS = Pins(keys=(("mix-1", OLD.public),))
CHANGES = {("mix-1", OLD.public): MIX.public}


def reason(call, *arguments):
    with pytest.raises(RefusedError) as refusal:
        call(*arguments)
    return refusal.value.reason


def rotated(changes=CHANGES, pins=PINS):
    return verify_contract(WORLD.note, pins, ANY, changes)


def test_an_old_pin_takes_the_contract_with_the_note_alone():
    assert reason(verify_contract, WORLD.note, PINS, ANY) == "not-the-pinned-key"
    agreed = rotated()
    assert [(one.old, one.new) for one in agreed.rotations] == [(OLD.public, MIX.public)]
    (line,) = [line for line in describe_consent(agreed) if "new key" in line]
    assert line == f"mix-1 has a new key, signed by the old one that you trusted: {MIX.verifier}"


def test_two_rotations_are_followed_as_far_as_the_contract():
    pins = Pins(keys=(("mix-1", EARLIEST.public),))
    changes = {**CHANGES, ("mix-1", EARLIEST.public): OLD.public}
    later = {("mix-1", MIX.public): STOLEN.public}
    for known in (changes, changes | later):
        assert [one.new for one in rotated(known, pins).rotations] == [OLD.public, MIX.public]


@pytest.mark.parametrize(
    "changes",
    [
        {("mix-1", MIX.public): OLD.public},
        {("mix-2", OLD.public): MIX.public},
        {("mix-1", OLD.public): STOLEN.public},
        {("mix-1", STOLEN.public): MIX.public},
    ],
    ids=["backwards", "of another role", "to another key", "from another key"],
)
def test_other_rotations_lead_nowhere(changes):
    assert reason(rotated, changes) == "not-the-pinned-key"


def test_a_pinned_fingerprint_needs_no_rotation():
    agreed = verify_contract(WORLD.note, WORLD.pins, ANY, CHANGES)
    assert agreed.rotations == ()


def of_first_mix(signer):
    """The contract with another key of mix-1, signed by all."""
    first = replace(WORLD.contract.hops[0], key=signer.verifier)
    text = write_contract(replace(WORLD.contract, hops=(first, *WORLD.contract.hops[1:])))
    return sign_note(text, signer, *WORLD.signers[1:])


@pytest.fixture
def diary(tmp_path):
    with Diary(tmp_path / "diary.db") as diary:
        yield diary


def answer(diary, agreed, number=1):
    words = lambda count: random.Random(number).randbytes(8 * count)  # noqa: E731
    return prepare(diary, open_round(agreed, WORLD.sheet(number), NOW), "yes", words, NOW)


def test_the_diary_moves_the_pin_for_good(diary):
    """What a thief of the old key signs later is refused, also a contract of the old key."""
    assert diary.key_changes() == {}
    answer(diary, rotated())
    assert diary.key_changes() == CHANGES
    moved = move_pins(PINS, diary.key_changes())
    assert moved == Pins(keys=(("mix-1", MIX.public),))
    assert verify_contract(WORLD.note, moved, ANY).rotations == ()
    for signer in (OLD, STOLEN):
        changes = {("mix-1", OLD.public): STOLEN.public}
        note = of_first_mix(signer)
        assert verify_contract(note, PINS, ANY, changes)
        assert reason(verify_contract, note, moved, ANY, changes) == "not-the-pinned-key"


def test_a_second_rotation_of_a_key_is_not_entered(diary):
    """Two processes of one device verified their contracts before either wrote its bundle."""
    answer(diary, rotated())
    other = rotated()._replace(rotations=(rotated().rotations[0]._replace(new=STOLEN.public),))
    assert reason(answer, diary, other, 2) == "rotated-twice"
    assert diary.key_changes() == CHANGES
    assert [entry.round for entry in diary.entries()] == [1]
