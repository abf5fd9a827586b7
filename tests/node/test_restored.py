"""A restored role learns from its peers what it signed; whatever any of them knows binds it."""

import json
import shutil

import pytest
from msgspec.structs import replace

from helpers.listed import listed
from helpers.roles_in_folders import ENVIRONMENT, Village
from mixtally.device.contract.fields import fingerprint_of
from mixtally.device.wire.manifest import (
    Manifest,
    PartManifest,
    Receipt,
    read_manifest,
    write_manifest,
    write_receipt,
)
from mixtally.device.wire.note import sign_note
from mixtally.device.wire.sheet import write_withdrawal
from mixtally.model.contract import write_contract
from mixtally.model.contract.job import agreement_of
from mixtally.primitives.chance import SecureChance
from mixtally.server.node.backup import restore_backup, write_backup
from mixtally.server.node.calls import Answer
from mixtally.server.node.database import Database
from mixtally.server.node.folder import open_folder
from mixtally.server.node.node import Node
from mixtally.server.node.refusal import OldStateError, ProblemError


class Lost:
    """A village in which the first mix signed one round after its backup; then its disk is lost.

    where
      others    the nodes of mix 2 and the collector
      told      lines of the restored role's log
    """

    def __init__(self, place):
        self.village = Village(place, hops=2)
        nodes = self.village.nodes()
        self.path, self.file = nodes[0].folder.path, place / "file"
        write_backup(self.path, self.file)
        self.note = self.village.agreed(nodes)
        self.first, *self.others = nodes
        for node in self.others:
            self.village.awake(node)

    def restored(self):
        """The first mix as a process that begins after its folder was restored."""
        self.first.close()
        shutil.rmtree(self.path)
        restore_backup(self.file, self.path, ENVIRONMENT)
        return self.begun()

    def begun(self):
        self.first = Node(open_folder(self.path, ENVIRONMENT), SecureChance())
        self.first.start_serving(self.village.agreement(1))
        return self.first

    def ask(self, overruled=(), now=0, call=None):
        peers = self.village.peers(self.first, overruled)
        peers._call = call or peers._call
        return peers.ask(now)

    def rounds(self):
        return [(row.round, row.ended) for row in self.first.rounds.all()]

    def by(self, text):
        return sign_note(text, self.first.signer)

    @property
    def sheet(self):
        return fingerprint_of(self.note)

    @property
    def manifest(self):
        """What the first mix says of the round."""
        text = write_manifest(listed(Manifest(self.sheet, 1, 2, 0, None, None, (PartManifest(0),))))
        return self.by(text)


@pytest.fixture
def lost(tmp_path):
    made = Lost(tmp_path)
    yield made
    made.first.close()


def test_it_takes_up_what_it_signed_and_ends_the_round(lost):
    node = lost.restored()
    assert node.rounds.all() == []
    assert lost.ask() == []
    assert node.cleared == {lost.village.fingerprint}
    assert lost.rounds() == [(1, "lost")]
    assert node.notes.has_signed("mix-1", lost.sheet)
    with pytest.raises(ProblemError):
        node.key(lost.village.fingerprint, 1)
    assert node.key(lost.village.fingerprint, 2)


def test_it_waits_for_every_peer_and_one_may_be_overruled(lost):
    node = lost.restored()
    address = lost.others[1].folder.role.address
    app = lost.village.apps.pop(address)
    assert lost.ask() == ["collector"]
    assert not node.cleared
    with pytest.raises(ProblemError, match="does not serve yet"):
        node.key(lost.village.fingerprint, 2)
    assert lost.ask(["collector"]) == []
    assert node.rounds.list_overruled(lost.village.fingerprint) == ("collector",)
    lost.village.apps[address] = app
    node.close()
    lost.begun()
    assert lost.ask() == []
    assert lost.first.rounds.list_overruled(lost.village.fingerprint) == ()


def test_what_only_one_peer_remembers_binds(lost):
    """The manifest and the receipt of the lost role, and a sheet without its signature."""
    nodes, now = [lost.first, *lost.others], lost.village.now
    lost.others[0].take_note(lost.manifest, now)
    second = lost.village.sheet(nodes, 2)
    by_collector = sign_note(second, lost.others[1].signer)
    lost.others[0].take_note(by_collector, now)
    node = lost.restored()
    assert lost.ask() == []
    assert lost.rounds() == [(1, "lost"), (2, "lost")]
    assert not node.notes.has_signed("mix-1", fingerprint_of(second))
    assert node.manifest_hash(node.rounds.all()[0], 1) == fingerprint_of(lost.manifest)
    with pytest.raises(ProblemError):
        node.key(lost.village.fingerprint, 2)
    row = node.rounds.all()[0]
    with pytest.raises(ProblemError):  # another batch of the round
        node.sign_manifest(row, read_manifest(lost.manifest)._replace(bundles=3))


def test_a_receipt_binds_and_a_withdrawal_ends(tmp_path):
    village = Village(tmp_path, hops=2)
    nodes = village.nodes()
    write_backup(nodes[1].folder.path, tmp_path / "file")
    sheet = fingerprint_of(village.agreed(nodes))
    first = listed(Manifest(sheet, 1, 2, 0, None, None, (PartManifest(0),)))
    given = sign_note(write_manifest(first), nodes[0].signer)
    receipt = sign_note(write_receipt(Receipt(fingerprint_of(given), 2)), nodes[1].signer)
    for note in (given, receipt):
        nodes[2].take_note(note, village.now)
    later = village.agreed(nodes, 2, opens=village.now + 1000, closes=village.now + 1600)
    withdrawal = write_withdrawal(fingerprint_of(later))
    note = nodes[2].withdraw(nodes[2].rounds.all()[1], village.now)
    note = nodes[2].take_note(nodes[1].take_note(note, village.now), village.now)
    for node in (nodes[0], nodes[2]):
        village.awake(node)
    nodes[1].close()
    shutil.rmtree(nodes[1].folder.path)
    made = restore_backup(tmp_path / "file", nodes[1].folder.path, ENVIRONMENT)
    node = Node(made.folder, SecureChance())
    node.start_serving(village.agreement(2))
    assert village.peers(node).ask(0) == []
    assert [(row.round, row.ended) for row in node.rounds.all()] == [(1, "lost"), (2, "withdrawn")]
    assert node.has_signed_receipt(node.rounds.all()[0])
    assert node.notes.has_signed("mix-2", fingerprint_of(withdrawal))
    assert village.peers(node).ask(0) == []
    node.close()


def test_from_then_on_an_old_copy_is_refused_again(lost, tmp_path):
    node = lost.restored()
    assert lost.ask() == []
    node.close()
    shutil.copytree(lost.path, tmp_path / "copy")
    lost.begun().cleared.add(lost.village.fingerprint)
    village = lost.village
    village.now += 1000
    village.agreed([lost.first, *lost.others], 2)
    old = Node(open_folder(tmp_path / "copy", ENVIRONMENT), SecureChance())
    old.start_serving(village.agreement(1))
    with pytest.raises(OldStateError, match="mix-2"):
        village.peers(old).ask(0)
    old.close()


def test_a_backup_made_after_a_restore_can_be_restored(lost):
    """What was settled then is asked again."""
    lost.restored()
    assert lost.ask() == []
    write_backup(lost.path, lost.file)
    lost.first.cleared.add(lost.village.fingerprint)
    lost.village.now += 1000
    lost.village.agreed([lost.first, *lost.others], 2)
    lost.restored()
    assert lost.rounds() == [(1, "lost")]
    assert lost.ask() == []
    assert lost.rounds() == [(1, "lost"), (2, "lost")]


def test_a_copy_that_was_not_restored_by_the_command_is_refused(lost, tmp_path):
    """Only the command marks a folder; its database alone is an old copy."""
    restore_backup(lost.file, tmp_path / "again", ENVIRONMENT)
    lost.first.close()
    shutil.copytree(tmp_path / "again", tmp_path / "copy")
    with Database(tmp_path / "copy" / "node.db").transaction("unmark") as open_:
        open_.execute("DELETE FROM restores")
    old = Node(open_folder(tmp_path / "copy", ENVIRONMENT), SecureChance())
    old.start_serving(lost.village.agreement(1))
    with pytest.raises(OldStateError):
        lost.village.peers(old).ask(0)
    old.close()


def test_a_note_that_arrives_before_the_first_answer_stops_nobody(lost):
    node = lost.restored()
    with pytest.raises(ProblemError, match="does not serve yet"):
        node.take_note(lost.note, lost.village.now)
    assert node.fatal_error is None
    assert lost.rounds() == [(1, "lost")]
    assert lost.ask() == []


def test_after_an_overruled_peer_a_lost_round_may_have_two_manifests(lost):
    """The peer that knows the true one answers after the round was declared lost."""
    lost.others[0].take_note(lost.manifest, lost.village.now)
    node = lost.restored()
    app = lost.village.apps.pop(lost.others[0].folder.role.address)
    assert lost.ask(["mix-2"]) == []
    row = node.rounds.all()[0]
    node.sign_manifest(row, Manifest(row.sheet, 1, 0, 0, "lost", None, (PartManifest(0),)))
    lost.village.apps[lost.others[0].folder.role.address] = app
    node.close()
    lost.begun()
    assert lost.ask() == []
    node = lost.first
    assert node.manifest_of(node.rounds.all()[0], 1)[1].destroyed == "lost"
    assert node.notes.has_signed("mix-1", fingerprint_of(lost.manifest))


def test_two_sheets_of_one_round_stop_it(lost):
    """It has signed another sheet since the restore, without the peer that knows the first."""
    apps = {
        node.folder.role.address: lost.village.apps.pop(node.folder.role.address)
        for node in lost.others
    }
    node = lost.restored()
    assert lost.ask(["mix-2", "collector"]) == []
    collector = lost.others[1].signer
    sheet = lost.village.sheet([node, lost.others[0], lost.others[1]], 1, expires=1_009_999)
    node.take_note(sign_note(sheet, collector), lost.village.now)
    lost.village.apps.update(apps)
    node.close()
    lost.begun()
    with pytest.raises(OldStateError):
        lost.ask()


def altered(lost, change):
    """The calls of a role whose peer mix-2 changes what it answers."""

    def call(address, method, path, body=b""):
        answer = lost.village.call(address, method, path, body)
        return change(path, answer) if address.endswith("7002") else answer

    return call


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"{}", b'{"rounds": 1}', b'{"rounds": [1]}', b"[" * 9999, b'{"rounds": [{}]}'],
)
def test_a_peer_without_a_status_has_not_answered(lost, body):
    lost.restored()
    call = altered(lost, lambda path, given: Answer(200, body) if path == "/status" else given)
    assert lost.ask(call=call) == ["mix-2"]


@pytest.mark.parametrize("path", ["/status", "/contracts", "/note/"])
def test_a_peer_that_is_busy_has_not_answered(lost, path):
    lost.others[0].take_note(lost.manifest, lost.village.now)
    lost.restored()
    call = altered(lost, lambda at, given: Answer(503, b"") if at.startswith(path) else given)
    assert lost.ask(call=call) == ["mix-2"]
    assert lost.ask(now=1000) == []


def test_invented_rounds_use_up_no_number(lost):
    """A round counts only with a sheet that the collector has signed."""
    lost.restored()
    rounds = [{"contract": lost.village.fingerprint, "round": number} for number in (2, 3, 10**9)]
    forged = sign_note(lost.village.sheet(lost.others + lost.others[:1], 3), lost.others[0].signer)

    def change(path, given):
        if path == "/status":
            return Answer(200, json.dumps({"rounds": rounds}).encode())
        return Answer(200, forged) if path.endswith("/rounds/3") else given

    assert lost.ask(call=altered(lost, change)) == []
    assert lost.rounds() == [(1, "lost")]


def test_a_contract_signed_after_the_backup_binds_too(lost):
    """It is signed again, and its rounds are known."""
    village = lost.village
    nodes = [lost.first, *lost.others]
    contract = replace(village.contract, serial=2)
    other, text = fingerprint_of(write_contract(contract)), write_contract(contract)
    for place, node in enumerate(nodes, 1):
        agreement = agreement_of(contract, other, place)
        note = node.sign_contract(agreement, text)
        node.start_serving(agreement)
        node.cleared.add(other)
        for peer in nodes:
            if peer.notes.of(other):
                peer.notes.merge(note, agreement.keys)
    village.now += 1000
    first, village.fingerprint = village.fingerprint, other
    village.agreed(nodes, 2)
    for node in nodes:
        for peer in lost.others:
            peer.take_note(node.notes.of(other), village.now)
    row = nodes[0].rounds.all()[1]
    batch = listed(Manifest(row.sheet, 1, 2, 0, None, None, (PartManifest(0),)))
    note = nodes[0].sign_manifest(row, batch)
    lost.others[0].take_note(note, village.now)
    village.fingerprint = first
    lines = []
    node = lost.restored()
    node.log._write = lines.append
    assert lost.ask() == []
    assert lost.rounds() == [(1, "lost"), (2, "lost")]
    assert len([line for line in lines if "contract to sign again" in line and other in line]) == 1
    agreement = agreement_of(contract, other, 1)
    assert node.has_signed_contract(agreement)
    with pytest.raises(ProblemError):
        node.check_contract(agreement_of(contract, "0" * 64, 1))
    assert [one["fingerprint"] for one in node.log.list_warnings()] == [other]
    node.start_serving(agreement)
    assert node.log.list_warnings() == []
    assert lost.ask() == []
    assert node.cleared == {first, other}
    assert node.manifest_hash(node.rounds.all()[1], 1) == fingerprint_of(note)
