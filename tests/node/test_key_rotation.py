"""A role replaces its signing key: two keys sign it, peers know the first note, nothing is lost."""

import json

import pytest
from msgspec.structs import replace

from helpers.roles_in_folders import ENVIRONMENT, Village, ask
from mixtally.device.contract.fields import fingerprint_of
from mixtally.device.contract.roles import format_verifier_key
from mixtally.device.wire.note import Signer, find_signers, sign_note
from mixtally.device.wire.problem import Problem
from mixtally.device.wire.rotation import (
    MOST_FOLLOWED,
    Rotation,
    verify_rotation,
    verify_rotations,
    write_rotation,
)
from mixtally.errors import DataError, PlanError
from mixtally.model.contract import write_contract
from mixtally.model.contract.job import agreement_of
from mixtally.primitives.chance import SecureChance
from mixtally.server.node.events import Log
from mixtally.server.node.folder import open_folder
from mixtally.server.node.key_rotation import rotate_signer
from mixtally.server.node.refusal import OldStateError, ProblemError

CHANCE = SecureChance()
STEPS = (
    "after next key",
    "before remember rotation",
    "after remember rotation",
    "before errand",
    "after errand",
    "after earlier key",
    "after new key",
)


class KilledError(Exception):
    """The process ends here."""


@pytest.fixture
def village(tmp_path):
    return Village(tmp_path, hops=2)


def open_again(village, place=1):
    return open_folder(village.folders[place - 1].path, ENVIRONMENT)


def rotate(village, place=1, step=lambda _: None):
    return rotate_signer(open_again(village, place), CHANCE, step)


def queued(node):
    """The rotations that are to be sent; they belong to no contract."""
    return sorted(
        (one for one in node.notes.list_unsent() if not one.contract), key=lambda one: one.role
    )


def stranger(name="mix-1", seed=b"t"):
    return Signer(name, seed * 32)


def note_of(old, new):
    return sign_note(write_rotation(Rotation(old.name, old.public, new.public)), old, new)


def refusal(node, note, now=0):
    with pytest.raises(ProblemError) as error:
        node.take_note(note, now)
    return error.value.problem


class NextSerial:
    """The contract again, with a larger serial and other keys."""

    def __init__(self, village, serial=2, **keys):
        def renewed(role):
            return replace(role, key=keys.get(role.name.replace("-", "_"), role.key))

        made = village.contract
        hops, collector = tuple(map(renewed, made.hops)), renewed(made.collector)
        self.contract = replace(made, serial=serial, hops=hops, collector=collector)
        self.text = write_contract(self.contract)
        self.fingerprint = fingerprint_of(self.text)

    def sign(self, node, place):
        """Sign and serve it; the note."""
        agreement = agreement_of(self.contract, self.fingerprint, place)
        note = node.sign_contract(agreement, self.text)
        node.start_serving(agreement)
        node.cleared.add(self.fingerprint)
        return note


def test_the_folder_has_both_keys_and_a_note_for_every_peer(village):
    village.node(1).close()
    before = village.folders[0].signer
    seen = []
    rotation = rotate(village, step=seen.append)
    assert tuple(seen) == STEPS
    folder = open_again(village)
    assert rotation == Rotation("mix-1", before.public, folder.signer.public)
    assert folder.earlier == (before,)
    assert folder.signer_of(before.public) == before
    assert sorted(path.name for path in folder.path.glob("*.key")) == [
        folder.earlier_key(before).name,
        "signing.key",
    ]
    node = village.node(1)
    to_collector, to_second = queued(node)
    assert verify_rotation(to_second.note) == (rotation, to_second.note)
    assert to_second.note == to_collector.note
    assert (to_collector.role, to_second.role) == (
        "collector http://127.0.0.1:7003",
        "mix-2 http://127.0.0.1:7002",
    )


@pytest.mark.parametrize("kill", STEPS)
def test_a_killed_rotation_is_continued(village, kill):
    village.node(1).close()
    before = village.folders[0].signer
    with pytest.raises(KilledError):
        rotate(village, step=killed_at(kill))
    # Whatever is on disk, the role can be served under its contract in between.
    node = village.node(1)
    assert node.folder.signer_of(before.public) == before
    known = list(verify_rotations(ask(village.awake(node), "GET", rotations(village)).body).items())
    node.close()
    rotation = rotate(village)
    assert rotation.old == before.public
    assert known in ([], [(rotation[:2], rotation.new)])  # a note that may have left is kept
    folder = open_again(village)
    assert (folder.signer.public, folder.earlier) == (rotation.new, (before,))
    assert rotate(village) == rotation  # nothing more is replaced
    assert len(queued(village.node(1))) == 2


def rotations(village, fingerprint=None):
    return f"/contracts/{fingerprint or village.fingerprint}/rotations"


def test_a_role_that_signed_nothing_has_nothing_to_replace(village):
    with pytest.raises(DataError, match="nobody knows yet"):
        rotate(village)


def test_a_lost_next_key_is_not_replaced_by_another(village):
    village.node(1).close()
    with pytest.raises(KilledError):
        rotate(village, step=killed_at("after errand"))
    (village.folders[0].path / "next-signing.key").unlink()
    with pytest.raises(DataError, match="although its rotation is signed"):
        rotate(village)


def killed_at(name):
    def step(reached):
        if reached == name:
            raise KilledError

    return step


def test_peers_take_the_note_and_the_next_serial(village):
    """Whole life of a rotation: note, next serial, a round under each contract, end of the key."""
    nodes = village.nodes()
    village.agreed(nodes)
    nodes[0].close()
    before = village.folders[0].signer
    rotation = rotate(village)
    nodes[0] = node = village.node(1)
    for other in nodes[1:]:
        village.awake(other)
    village.peers(node).send_all(village.now)
    assert node.notes.list_unsent() == []
    for other in nodes:
        listed = ask(village.awake(other), "GET", rotations(village)).body
        assert verify_rotations(listed) == {("mix-1", before.public): rotation.new}
        assert "rotation" not in {row.state for row in other.rounds.all()}
    later = NextSerial(village, mix_1=node.signer.verifier)
    # The round of the first contract is not over: its manifest is signed with the old key.
    assert find_signers(node.sheet_note(node.rounds.all()[0]), {"mix-1": before.public})
    for place, other in enumerate(nodes, 1):
        note = later.sign(other, place)
        assert find_signers(note, {other.signer.name: open_again(village, place).signer.public})
        assert json.loads(
            ask(
                village.apps[other.folder.role.address],
                "GET",
                rotations(village, later.fingerprint),
            ).body
        )
    node.destroy_earlier_signers()
    assert node.folder.earlier == (before,)
    (row,) = node.rounds.all()
    node.shred_round(row)
    node.destroy_earlier_signers()
    assert node.folder.earlier == open_again(village).earlier == ()
    assert len(list(node.folder.path.glob("*.key"))) == 1


def test_a_sheet_of_the_next_serial_ends_the_earlier_key_where_all_contracts_are_served(village):
    nodes = village.nodes()
    nodes[0].close()
    rotate(village)
    nodes[0] = village.node(1)
    for other in nodes[1:]:
        other.take_note(queued(nodes[0])[0].note, village.now)
    later = NextSerial(village, mix_1=nodes[0].signer.verifier)
    for place, other in enumerate(nodes, 1):
        later.sign(other, place)
    first, village.fingerprint = village.fingerprint, later.fingerprint
    note = nodes[-1].propose(village.sheet(nodes), village.now)
    served = nodes[0].agreements.pop(first)  # as in a command for the next serial alone
    note = nodes[0].take_note(note, village.now)
    assert len(open_again(village).earlier) == 1
    nodes[0].agreements[first] = served
    nodes[0].take_note(note, village.now)
    assert open_again(village).earlier == ()


def test_an_earlier_contract_is_signed_with_its_own_key(village):
    nodes = village.nodes()
    nodes[0].close()
    before = village.folders[0].signer
    rotate(village)
    nodes[0] = village.node(1)
    village.agreed(nodes)
    (row,) = nodes[0].rounds.all()
    assert all(node.is_complete(row) for node in nodes)
    assert find_signers(nodes[0].sheet_note(row), {"mix-1": before.public})


def test_the_next_serial_is_signed_with_the_chain_alone(village):
    node, old = village.node(2), village.folders[0].signer
    new, newer = stranger(seed=b"n"), stranger(seed=b"m")
    for key in (new, newer):
        with pytest.raises(PlanError, match="Use the key that `rotate` printed"):
            NextSerial(village, mix_1=key.verifier).sign(node, 2)
    node.take_note(note_of(old, new), 0)
    with pytest.raises(PlanError, match="Use the key"):
        NextSerial(village).sign(node, 2)  # the old key, which was replaced
    node.take_note(note_of(new, newer), 0)
    with pytest.raises(PlanError, match="Use the key"):
        NextSerial(village, mix_1=new.verifier).sign(node, 2)
    NextSerial(village, mix_1=newer.verifier).sign(node, 2)
    village.node(2).close()  # and signs the first one again, which repairs a file


def test_a_replaced_key_is_in_no_new_contract(village):
    node, old = village.node(2), village.folders[0].signer
    node.take_note(note_of(old, stranger()), 0)
    other = NextSerial(village, serial=1)
    other.contract = replace(other.contract, name="another")
    other.text = write_contract(other.contract)
    with pytest.raises(PlanError, match="key of mix-1 in another"):
        other.sign(node, 2)


FORGED = {
    "signed by the old key alone": lambda old, new: sign_note(
        write_rotation(Rotation("mix-1", old.public, new.public)), old
    ),
    "signed by the new key alone": lambda old, new: sign_note(
        write_rotation(Rotation("mix-1", old.public, new.public)), new
    ),
    "signed by nobody": lambda old, new: write_rotation(Rotation("mix-1", old.public, new.public)),
}


@pytest.mark.parametrize("case", FORGED)
def test_a_note_with_one_signature_is_refused(village, case):
    node = village.node(2)
    note = FORGED[case](village.folders[0].signer, stranger())
    assert refusal(node, note) is Problem.NOT_SIGNED
    assert node.notes.database.rows("SELECT * FROM notes WHERE kind = 'rotation'") == []


def test_a_key_that_no_contract_names_is_refused(village):
    node = village.node(2)
    for old in (stranger(seed=b"o"), stranger("mix-9"), Signer("mix-2", b"o" * 32)):
        assert refusal(node, note_of(old, Signer(old.name, b"p" * 32))) is Problem.NOT_AGREED
    node.agreements.clear()  # as in the first second of a process
    old = village.folders[0].signer
    assert refusal(node, note_of(old, stranger())) is Problem.NOT_READY


def test_the_first_rotation_counts_and_the_second_is_a_warning(village):
    lines = []
    node, old = village.node(2), village.folders[0].signer
    node.log = Log(lines.append, clock=lambda: 0)
    node.take_note(note_of(old, stranger(seed=b"n")), 0)
    node.take_note(note_of(old, stranger(seed=b"n")), 0)  # the same again
    for seed in (b"x", b"y"):
        assert refusal(node, note_of(old, stranger(seed=seed))) is Problem.ANOTHER_NOTE
    key = format_verifier_key("mix-1", stranger(seed=b"n").public)
    assert lines == [
        f"1970-01-01T00:00:00Z key rotated role=mix-1 key={key}",
        "1970-01-01T00:00:00Z second rotation of a key role=mix-1",
    ]
    listed = ask(village.awake(node), "GET", rotations(village)).body
    assert verify_rotations(listed) == {("mix-1", old.public): stranger(seed=b"n").public}


def test_the_owner_is_told_that_a_thief_was_first(village):
    lines, peer = [], village.node(2)
    village.node(1).close()
    peer.take_note(note_of(village.folders[0].signer, stranger()), 0)
    rotate(village)
    node = village.node(1)
    node.log = Log(lines.append, clock=lambda: 0)
    village.awake(peer)
    village.peers(node).send_all(village.now)
    assert "1970-01-01T00:00:00Z second rotation of a key role=mix-1 peer=mix-2" in lines


def test_a_thief_cannot_rotate_at_the_owner(village):
    village.node(1).close()
    old = village.folders[0].signer
    rotation = rotate(village)
    node = village.node(1)
    assert refusal(node, note_of(old, stranger())) is Problem.ANOTHER_NOTE
    (own,) = {errand.note for errand in queued(node)}
    assert node.take_note(own, 0) is None
    assert verify_rotation(own)[0] == rotation


def test_a_rotation_of_the_own_key_that_is_unknown_stops_the_role(village):
    node = village.node(1)
    with pytest.raises(OldStateError):
        node.take_note(note_of(village.folders[0].signer, stranger()), 0)
    assert isinstance(node.fatal_error, OldStateError)


def test_an_old_copy_from_before_a_rotation_does_not_run(village):
    village.node(1).close()
    peer, path = village.node(2), village.folders[0].path
    copy = {one: one.read_bytes() for one in path.iterdir() if one.is_file()}
    rotate(village)
    village.awake(peer)
    node = village.node(1)
    village.peers(node).send_all(village.now)
    node.close()
    for one in path.iterdir():
        if one.is_file():
            one.unlink()
    for one, data in copy.items():
        one.write_bytes(data)
        one.chmod(0o600)
    restored = village.node(1, cleared=False)
    with pytest.raises(OldStateError):
        village.peers(restored).ask(village.now)


def test_a_note_of_the_old_key_is_known_as_own_after_the_next_serial(village):
    """Contracts of one role may name different keys: a lost note of any of them is found."""
    node, old = village.node(1), village.folders[0].signer
    node.close()
    rotate(village)
    node = village.node(1)
    NextSerial(village, mix_1=node.signer.verifier).sign(node, 1)
    for signer in (old, node.signer):
        assert node.has_own_signature(sign_note(b"text\n", signer))
    assert not node.has_own_signature(sign_note(b"text\n", stranger()))


def test_a_role_cannot_make_peers_store_notes_without_end(village):
    node, key = village.node(2), village.folders[0].signer
    for number in range(MOST_FOLLOWED):
        new = stranger(seed=bytes([number + 1]))
        node.take_note(note_of(key, new), 0)
        key = new
    assert refusal(node, note_of(key, stranger(seed=b"z"))) is Problem.NOT_AGREED
    ((count,),) = node.database.rows("SELECT count(*) FROM notes WHERE kind = 'rotation'")
    assert count == MOST_FOLLOWED


def test_a_contract_without_a_kept_key_is_named(village):
    village.node(1).close()
    rotate(village)
    old = village.folders[0].signer
    open_again(village).earlier_key(old).unlink()
    with pytest.raises(DataError, match="a key is kept until its rounds are over") as error:
        open_again(village).signer_of(old.public)
    assert old.verifier in str(error.value)
