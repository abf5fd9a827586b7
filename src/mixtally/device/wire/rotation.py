"""Rotation notes: a role replaces its signing key. Both the old and the new key sign the note.

A peer or a device that trusts the old key of a role follows such notes to the key that the next
contract names. A thief of the old key can sign such a note as well. So a peer or a device accepts
only the first note that it knows for an old key.
"""

import json
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from mixtally.device.contract.fields import items, make_refusal, parse_json, text, text_of
from mixtally.device.contract.roles import format_verifier_key, parse_verifier_key, read_role_name
from mixtally.device.wire.note import merge_notes, verify_note
from mixtally.device.wire.sheet import note_fields, write_note

MOST_FOLLOWED = 16
"""The maximum number of rotations that are followed from one key to its successors.

Without a limit, a role could make its peers store any number of notes. If a key is replaced every
month, 16 rotations are enough for a contract that has no new serial for more than a year.
"""
MOST_LISTED = 100
"""The maximum number of rotations in a list: six roles with 16 each, rounded up."""


class Rotation(NamedTuple):
    """The replacement of a role's Ed25519 public key, 32 bytes, by another one."""

    role: str
    old: bytes
    new: bytes


KeyChanges = Mapping[tuple[str, bytes], bytes]
"""Verified key replacements: a map from (name of a role, old key) to the new key."""


def write_rotation(rotation: Rotation) -> bytes:
    """Return the text that both keys sign."""
    role, old, new = rotation
    fields = {"old": format_verifier_key(role, old), "new": format_verifier_key(role, new)}
    return write_note("rotation", {"role": role, **fields})


def read_rotation(data: bytes) -> Rotation:
    """Read the rotation in ``data`` without checking signatures, or raise RefusedError."""
    fields = note_fields(data, "rotation", "version kind role old new")
    role = read_role_name(fields, "role")
    old, new = (
        parse_verifier_key(role, fields.text(name), fields.at(name)) for name in ("old", "new")
    )
    if old == new:
        raise make_refusal(
            "key-twice", fields.at("new"), "another key than the old one", "the same"
        )
    return Rotation(role, old, new)


def verify_rotation(data: bytes) -> tuple[Rotation, bytes]:
    """Return the rotation in ``data``, and its note with only the signatures of the two keys.

    Raise RefusedError unless the old and the new key have signed the note.
    """
    rotation = read_rotation(data)
    signed = text_of(data)
    lines = b""
    for key in (rotation.old, rotation.new):
        known = {rotation.role: key}
        verify_note(data, known)
        lines += merge_notes(signed, [data], known)[len(signed) + 1 :]
    return rotation, signed + b"\n" + lines


def write_rotations(notes: Iterable[bytes]) -> bytes:
    """Return a JSON list of rotation notes, which a role serves for a contract."""
    return json.dumps([note.decode() for note in notes]).encode() + b"\n"


def verify_rotations(data: bytes) -> dict[tuple[str, bytes], bytes]:
    """Return the key changes in a list that ``write_rotations`` made.

    Raise RefusedError for anything else, a note without both signatures, and two notes that replace
    one key by different keys.
    """
    listed = items(parse_json(data), "rotations")
    if len(listed) > MOST_LISTED:
        raise make_refusal("too-long", "rotations", f"at most {MOST_LISTED}", len(listed))
    found: dict[tuple[str, bytes], bytes] = {}
    for one in listed:
        # JSON can contain half of a surrogate pair. A note that contains one is refused.
        rotation, _ = verify_rotation(text(one, "rotations").encode("utf-8", "surrogatepass"))
        if found.setdefault(rotation[:2], rotation.new) != rotation.new:
            expected = f"one rotation of each key of {rotation.role}"
            raise make_refusal("rotated-twice", "rotations", expected, "two: somebody stole a key")
    return found


def follow_key(changes: KeyChanges, role: str, key: bytes) -> list[bytes]:
    """Return ``key`` and its successors, oldest first.

    At most ``MOST_FOLLOWED`` rotations are followed.

    Parameters
    ----------
    changes : KeyChanges
        The verified rotations of keys.
    role : str
        The name of the role.
    key : bytes
        The first key, such as one that a device trusts.
    """
    keys = [key]
    while len(keys) <= MOST_FOLLOWED and (new := changes.get((role, keys[-1]))) is not None:
        keys.append(new)
    return keys
