"""Rotation of signing keys: of this role by its operator, and of peers by their notes.

Each step of ``rotate_signer`` is durable, and a repeated call continues where the last one was
killed. The next key is on disk before a note names it, and the old key is stored under another name
before the next key replaces it. Notes are queued for all peers, and sent when the role is served.
"""

from contextlib import closing
from typing import NamedTuple

from mixtally.device.contract.fields import fingerprint_of, parse_json, text_of
from mixtally.device.contract.roles import Role, format_verifier_key, read_role
from mixtally.device.wire.note import sign_note
from mixtally.device.wire.problem import Problem
from mixtally.device.wire.rotation import (
    MOST_FOLLOWED,
    MOST_LISTED,
    KeyChanges,
    Rotation,
    follow_key,
    read_rotation,
    write_rotation,
)
from mixtally.errors import DataError, PlanError
from mixtally.model.agreement import Agreement
from mixtally.primitives.chance import Chance
from mixtally.server.node.database import Database
from mixtally.server.node.disk import Step, no_step
from mixtally.server.node.events import Condition
from mixtally.server.node.folder import Folder
from mixtally.server.node.notes import Notes
from mixtally.server.node.refusal import ProblemError
from mixtally.server.node.signing_slots import rotation_entry
from mixtally.server.node.state import RoleState


class _Parties(NamedTuple):
    """The roles of a contract that this role has signed."""

    name: str
    serial: int
    roles: tuple[Role, ...]

    def key_of(self, name: str) -> bytes | None:
        """Return the public key of a role; None if the contract has no role of this name."""
        return next((role.key for role in self.roles if role.name == name), None)


def rotate_signer(folder: Folder, chance: Chance, step: Step = no_step) -> Rotation:
    """Replace the signing key of a role that is not served, and return the signed rotation.

    A repeated call returns the same rotation until a contract that names the new key is signed.

    Raises
    ------
    DataError
        If the role has signed no contract with its key, or the next key of a signed rotation is
        lost.
    """
    name, old = folder.role.name, folder.signer
    with closing(Database(folder.database, step)) as database:
        notes = Notes(database)
        contracts = _list_parties(notes)
        if all(one.key_of(name) != old.public for one in contracts):
            return _find_last_rotation(notes, folder)
        latest = {one.name: one for one in sorted(contracts, key=lambda one: one.serial)}
        others = {role for one in latest.values() for role in one.roles if role.name != name}
        _check_next_key(notes, folder)
        new = folder.next_signer(chance)
        step("after next key")
        rotation = Rotation(name, old.public, new.public)
        note = sign_note(write_rotation(rotation), old, new)
        notes.remember(rotation_entry(rotation), note, name)
        notes.send_again(
            fingerprint_of(note), sorted(f"{one.name} {one.address}" for one in others)
        )
    folder.replace_signer(chance, step)
    return rotation


def _check_next_key(notes: Notes, folder: Folder) -> None:
    """Raise DataError if a rotation of the current key is signed, and the next key is lost."""
    known = read_changes(notes).get((folder.role.name, folder.signer.public))
    if known is not None and not folder.has_next_signer:
        raise DataError(
            str(folder.path),
            expected=f"the next key {format_verifier_key(folder.role.name, known)}",
            got="none, although its rotation is signed",
            do="restore the newest folder; if the key is lost, join contracts under another name",
        )


def _find_last_rotation(notes: Notes, folder: Folder) -> Rotation:
    """Return the rotation by which the current key became the signing key.

    No contract names the current key yet. Raises DataError if there is no such rotation.
    """
    name, new = folder.role.name, folder.signer.public
    for (role, old), key in read_changes(notes).items():
        if (role, key) == (name, new):
            return Rotation(role, old, new)
    raise DataError(
        str(folder.path),
        expected="a role that has signed a contract with its key",
        got="one whose key nobody knows yet",
        do="make another folder with init: nothing has to be replaced",
    )


def check_rotation(node: RoleState, rotation: Rotation, digest: str) -> None:
    """Raise ProblemError unless a rotation replaces a known key that was not replaced before.

    A key is known if a served contract names it, or if rotations lead from such a key to it.
    ``digest`` is the SHA-256 of the rotation's text. A second rotation of a key means that somebody
    has stolen the key, so the operator is warned.
    """
    name, changes = rotation.role, read_changes(node.notes)
    named = [one.keys[name] for one in node.agreements.values() if name in one.keys]
    if not any(rotation.old in follow_key(changes, name, key)[:MOST_FOLLOWED] for key in named):
        if not node.serves_all:
            raise ProblemError(Problem.NOT_READY, retry_seconds=5)
        raise ProblemError(Problem.NOT_AGREED, "no contract here names the key that is replaced")
    if node.notes.hash_in_slot(name, rotation_entry(rotation).slot) not in (None, digest):
        node.log.set_condition(Condition.ROTATED_TWICE, True, role=name)
        raise ProblemError(Problem.ANOTHER_NOTE)


def check_role_keys(notes: Notes, agreement: Agreement) -> None:
    """Check the keys in a contract that is to be signed against known rotations.

    Raises
    ------
    PlanError
        If a key in the contract was already replaced. Also if a role had another key under the
        last serial, and the known rotations do not lead from that key to the one in the contract.
    """
    changes = read_changes(notes)
    before = [
        one
        for one in _list_parties(notes)
        if one.name == agreement.name and one.serial < agreement.serial
    ]
    last = max(before, key=lambda one: one.serial, default=_Parties(agreement.name, 0, ()))
    for role in agreement.roles:
        old, key = last.key_of(role.name), role.public
        current = follow_key(changes, role.name, old or key)[-1]
        if (role.name, key) in changes or (old is not None and key != current):
            raise PlanError(
                f"key of {role.name} in {agreement.name}, serial {agreement.serial}",
                expected=format_verifier_key(role.name, current),
                got=role.key,
                do="use the key that `rotate` printed, and wait for the note of the role; a role "
                "that lost its key joins under another name",
            )


def read_changes(notes: Notes) -> KeyChanges:
    """Return all key changes that this role knows."""
    rows = notes.database.rows("SELECT note FROM notes WHERE kind = 'rotation'")
    known = (read_rotation(note) for (note,) in rows)
    return {(one.role, one.old): one.new for one in known}


def list_rotations(notes: Notes, agreement: Agreement) -> list[bytes]:
    """Return the rotation notes of the roles of a contract, newest first."""
    names = list(agreement.keys)
    marks = ", ".join("?" * len(names))
    rows = notes.database.rows(
        "SELECT DISTINCT note FROM notes JOIN signers USING (hash) WHERE kind = 'rotation' "
        f"AND name IN ({marks}) ORDER BY notes.rowid DESC LIMIT ?",
        *names,
        MOST_LISTED,
    )
    return [note for (note,) in rows]


def _list_parties(notes: Notes) -> list[_Parties]:
    """Return the roles of all contracts that this role has signed."""
    found = []
    for (note,) in notes.database.rows("SELECT note FROM notes WHERE kind = 'contract'"):
        plain = parse_json(text_of(note))
        roles = (read_role(one, "role") for one in (*plain["hops"], plain["collector"]))
        found.append(_Parties(plain["name"], plain["serial"], tuple(roles)))
    return found
