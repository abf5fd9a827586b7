"""Rotation notes: both keys sign one, and lists of them lead from an old key to a new one."""

import pytest

from helpers.devices import secret
from mixtally.device.wire.note import Signer, sign_note
from mixtally.device.wire.rotation import (
    MOST_FOLLOWED,
    MOST_LISTED,
    Rotation,
    follow_key,
    read_rotation,
    verify_rotation,
    verify_rotations,
    write_rotation,
    write_rotations,
)
from mixtally.device.wire.sheet import write_note
from mixtally.errors import RefusedError

OLD, NEW, NEWER = (Signer("mix-1", secret(f"key {number}")) for number in range(3))
ROTATION = Rotation("mix-1", OLD.public, NEW.public)
TEXT = write_rotation(ROTATION)
NOTE = sign_note(TEXT, OLD, NEW)


def fields(**changes):
    plain = {"role": "mix-1", "old": OLD.verifier, "new": NEW.verifier, **changes}
    return write_note("rotation", {name: value for name, value in plain.items() if value})


def reason(call, data):
    with pytest.raises(RefusedError) as refusal:
        call(data)
    return refusal.value.reason


def test_both_keys_signed_and_lines_of_others_are_dropped():
    other = Signer("mix-1", secret("another mix-1"))
    for note in (NOTE, sign_note(TEXT, other, NEW, Signer("mix-2", secret("mix-2")), OLD, OLD)):
        assert verify_rotation(note) == (ROTATION, NOTE)
    assert read_rotation(TEXT) == ROTATION


FALSE = NOTE[:-10] + (b"A" if NOTE[-10:-9] != b"A" else b"B") + NOTE[-9:]
BAD = {
    "nobody signed": (TEXT, "signature-missing"),
    "only the old key signed": (sign_note(TEXT, OLD), "signature-missing"),
    "only the new key signed": (sign_note(TEXT, NEW), "signature-missing"),
    "a key of the same name signed": (
        sign_note(TEXT, NEW, Signer("mix-1", secret("another mix-1"))), "signature-missing",
    ),
    "a false signature of the new key": (FALSE, "signature-false"),
    "signatures of another rotation": (
        fields(new=NEWER.verifier) + NOTE[len(TEXT):], "signature-false",
    ),
    "to the same key": (fields(new=OLD.verifier), "key-twice"),
    "a key of another name": (
        fields(new=Signer("mix-2", secret("key 1")).verifier), "key-malformed",
    ),
    "an empty key": (fields(old="+"), "key-malformed"),
    "no name of a role": (fields(role="no name"), "role-name-malformed"),
    "a number as its role": (fields(role=7), "wrong-type"),
    "no old key": (fields(old=None), "field-missing"),
    "a date": (fields(since=1), "field-unknown"),
    "another kind": (TEXT.replace(b"rotation", b"withdrawal"), "another-kind"),
    "another version": (TEXT.replace(b'"version": 1', b'"version": 2'), "unknown-version"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_a_note_is_refused(case):
    note, why = BAD[case]
    assert reason(verify_rotation, note) == why


def test_a_list_is_followed_from_key_to_key():
    second = sign_note(write_rotation(Rotation("mix-1", NEW.public, NEWER.public)), NEW, NEWER)
    changes = verify_rotations(write_rotations([second, NOTE, NOTE]))
    assert follow_key(changes, "mix-1", OLD.public) == [OLD.public, NEW.public, NEWER.public]
    assert follow_key(changes, "mix-1", NEWER.public) == [NEWER.public]
    assert follow_key(changes, "mix-2", OLD.public) == [OLD.public]


def test_a_circle_of_rotations_ends():
    changes = {("mix-1", b"a"): b"b", ("mix-1", b"b"): b"a"}
    assert len(follow_key(changes, "mix-1", b"a")) == MOST_FOLLOWED + 1


LISTS = {
    "two rotations of one key": (
        write_rotations(
            [NOTE, sign_note(write_rotation(ROTATION._replace(new=NEWER.public)), OLD, NEWER)]
        ),
        "rotated-twice",
    ),
    "a note with one signature": (
        write_rotations([NOTE, sign_note(TEXT, OLD)]),
        "signature-missing",
    ),
    "too many": (write_rotations([NOTE] * (MOST_LISTED + 1)), "too-long"),
    "half a character": (b'["\\ud800"]', "not-json"),
    "a number": (b"[7]", "wrong-type"),
    "an object": (b"{}", "wrong-type"),
    "nothing": (b"", "not-json"),
}


@pytest.mark.parametrize("case", LISTS)
def test_a_list_is_refused(case):
    data, why = LISTS[case]
    assert reason(verify_rotations, data) == why


def test_a_list_of_the_largest_size_is_read():
    assert verify_rotations(write_rotations([NOTE] * MOST_LISTED)) == {
        ("mix-1", OLD.public): NEW.public
    }
    assert verify_rotations(write_rotations([])) == {}
