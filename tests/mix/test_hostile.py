"""Old copies, forged batches, silent roles, expiry, and what is left of a round: nothing."""

import shutil
from hashlib import sha256

import pytest

from helpers.listed import listed
from helpers.mixes import Town
from helpers.roles_in_folders import KEPT, OPEN, START, ask
from mixtally.device.wire.manifest import Manifest, PartManifest, Piece, write_manifest
from mixtally.device.wire.note import sign_note
from mixtally.device.wire.sheet import read_sheet
from mixtally.server.node.refusal import OldStateError

BINS = [bytes([i]) for i in range(4)]


@pytest.fixture
def town(tmp_path):
    town = Town(tmp_path / "town", hops=2)
    town.all_awake()
    yield town
    town.end()


def filled(town, count=4):
    town.round()
    for i in range(count):
        assert town.send(town.bundle([BINS[i % 4]])).status == 201
    return town.mixes[0].node.rounds.all()[0]


def states(town):
    return [(row.state, row.ended) for mix in town.mixes for row in mix.node.rounds.all()]


def test_a_restored_copy_refuses_to_run(town, tmp_path):
    filled(town)
    town.close()
    mix = town.mixes[0]
    mix.node.database.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copytree(mix.node.folder.path, tmp_path / "copy")  # while the round is closed, unmixed
    town.tick()
    assert mix.node.manifest_of(mix.node.rounds.all()[0], 1)
    mix.end()
    shutil.rmtree(mix.node.folder.path)
    shutil.copytree(tmp_path / "copy", mix.node.folder.path)
    old = town.awaken(1)
    with pytest.raises(OldStateError, match="old copy"):
        old.tick(town.now)
    assert not list(old.node.folder.path.rglob("out-*"))  # nothing was drawn or opened again
    with pytest.raises(OldStateError):
        old.tick(town.now)
    town.mixes[0] = old


def test_a_running_role_that_is_shown_its_own_unknown_note_stops(town):
    row = filled(town)
    part = PartManifest(0)
    text = write_manifest(listed(Manifest(row.sheet, 1, 2, 0, None, None, (part,))))
    note = sign_note(text, town.folders[0].signer)
    app = town.apps[town.folders[0].role.address]
    assert ask(app, "POST", "/notes", note).status == 503
    assert isinstance(town.mixes[0].stopped[0], OldStateError)
    with pytest.raises(OldStateError):
        town.mixes[0].tick(town.now)


def test_a_forged_batch_occupies_nothing_and_a_second_is_refused(town):
    row = filled(town)
    size = town.jobs[0].sizes[0][1]
    data = bytes(3 * size)
    piece = Piece(sha256(data).hexdigest(), 3)
    part = PartManifest(3, pieces=(piece,))
    manifest = listed(Manifest(row.sheet, 1, 3, 0, None, None, (part,)))
    text = write_manifest(manifest)
    second = town.apps[town.folders[1].role.address]
    assert ask(second, "PUT", f"/pieces/{piece.sha256}", data).status == 403
    for signer in (town.folders[1].signer, town.folders[2].signer):
        assert ask(second, "POST", "/notes", sign_note(text, signer)).status in (403, 503)
    town.mixes[1].node.stopped = None  # it was shown a manifest of its own place? no: of hop 1
    assert town.mixes[1].stopped == []
    town.close()
    town.tick()
    town.tick()
    evil = sign_note(text, town.folders[0].signer)  # the first mix itself, after its true batch
    answer = ask(second, "POST", "/notes", evil)
    assert answer.status == 409
    assert ask(second, "PUT", f"/pieces/{piece.sha256}", data).status == 403
    town.tick()
    assert len(town.opened()[0]) >= 4


def test_too_small_a_batch_of_a_dishonest_first_mix(town):
    row = filled(town)
    size = town.jobs[0].sizes[0][1]
    data = bytes(size)
    piece = Piece(sha256(data).hexdigest(), 1)
    part = PartManifest(1, pieces=(piece,))
    text = write_manifest(listed(Manifest(row.sheet, 1, 1, 0, None, None, (part,))))
    second = town.apps[town.folders[1].role.address]
    answer = ask(second, "POST", "/notes", sign_note(text, town.folders[0].signer))
    assert answer.status == 403
    assert ask(second, "PUT", f"/pieces/{piece.sha256}", data).status == 403


def test_a_silent_role_delays_a_start_unless_it_is_overruled_and_that_is_told(town):
    filled(town)
    town.mixes[0].end()
    address = town.folders[2].role.address
    app = town.apps.pop(address)
    town.mixes[0] = town.awaken(1)
    town.close()
    town.mixes[0].tick(town.now)
    assert town.mixes[0].node.cleared == set()
    assert town.mixes[0].node.rounds.all()[0].state == "open"
    town.mixes[0].end()
    town.mixes[0] = town.awaken(1, overruled=["collector"])
    town.mixes[0].tick(town.now)
    row = town.mixes[0].node.rounds.all()[0]
    assert row.state == "mixed"
    assert town.mixes[0].node.manifest_of(row, 1)[1].overruled == ("collector",)
    town.apps[address] = app


def test_a_round_that_is_not_delivered_expires(town):
    filled(town)
    del town.apps[town.folders[1].role.address]  # the next role is silent
    town.close()
    town.mixes[0].tick(town.now)
    assert town.mixes[0].node.rounds.all()[0].state == "mixed"
    town.now = START + OPEN + KEPT
    town.mixes[0].tick(town.now)
    town.mixes[1].tick(town.now)
    assert states(town) == [("shredded", "expired")] * 2
    row = town.mixes[0].node.rounds.all()[0]
    assert town.mixes[0].node.manifest_of(row, 1)[1].destroyed is None  # that had left
    assert town.mixes[1].node.manifest_of(row, 2)[1].destroyed == "expired"
    for mix in town.mixes:
        assert mix.node.keys.all() == []


def test_a_round_that_not_all_sign_expires(town):
    nodes = [mix.node for mix in town.mixes] + [town.collector]
    note = town.collector.propose(town.sheet(nodes), town.now)
    town.mixes[0].node.take_note(note, town.now)
    town.now = START + OPEN + KEPT
    town.tick()
    assert states(town) == [("shredded", "expired")]


def test_a_round_that_was_destroyed_counts(town):
    row = filled(town, 1)
    town.close()
    for _ in range(3):
        town.tick()
    assert states(town) == [("shredded", "destroyed")] * 2
    assert town.send(b"").status == 410
    app = town.apps[town.folders[0].role.address]
    path = f"/contracts/{town.fingerprint}/rounds/1/key"
    assert ask(app, "POST", path).status == 410
    assert ask(app, "POST", path.replace("/1/", "/2/")).status == 200
    again = read_sheet(town.note)._replace(expires=row.expires + 1)
    from mixtally.device.wire.sheet import write_sheet

    other = sign_note(write_sheet(again), town.folders[-1].signer)
    assert ask(app, "POST", "/notes", other).status == 409


def test_shredding_leaves_no_row_file_or_key(town):
    before = {path for folder in town.folders for path in folder.path.rglob("*")}
    bundles = []
    town.round()
    for i in range(5):
        bundles.append(town.bundle([BINS[i % 4]]))
        town.send(bundles[-1])
    row = town.mixes[0].node.rounds.all()[0]
    secrets = [part for mix in town.mixes for part in mix.node.keys.read_key(row.folder)]
    secrets += [bundle[2:34] for bundle in bundles]  # key shares of the envelopes
    town.close()
    for _ in range(3):
        town.tick()
    secrets.append(next(town.collector.folder.path.rglob("in-*")).read_bytes()[:32])
    town.receive()
    town.tick()
    assert states(town) == [("shredded", "delivered")] * 2
    for mix in town.mixes:
        place = mix.node.folder.path
        lists = {place / "lists", *(place / "lists").iterdir()}
        assert len(lists) == 2  # tags of what it received, which it has published
        assert set(place.rglob("*")) - lists <= before
        for path in place.rglob("*"):
            data = path.read_bytes() if path.is_file() else b""
            assert not [one for one in secrets if one in data], path


def test_status_tells_states_and_no_numbers_of_people(town):
    filled(town)
    app = town.apps[town.folders[0].role.address]
    few = ask(app, "GET", "/status").body
    for i in range(20):
        town.send(town.bundle([BINS[i % 4]]))
    assert ask(app, "GET", "/status").body == few
