"""A batch comes once: charged, received, counted, reconciled, released; its tally stays."""

import json

import pytest

from helpers.collector_scene import FAKES, Office
from helpers.roles_in_folders import EVERY
from mixtally.device.wire.manifest import EXPIRED, TOO_FEW, write_manifest
from mixtally.device.wire.note import Signer, sign_note
from mixtally.errors import ParameterError
from mixtally.protocol.estimate.analysis import Analysis
from mixtally.server.collector import CollectorState
from mixtally.server.node.refusal import OldStateError

VALUES = [0, 0, 0, 1, 1, 3]


@pytest.fixture
def office(tmp_path):
    office = Office(tmp_path, hops=2)
    office.begin()
    office.proposed()
    return office


def estimates(said):
    return [row["estimate"] for row in said["estimates"]]


def test_a_round_from_its_sheet_to_its_release(office):
    assert office.row().state == CollectorState.OPEN
    office.send(*office.usual(VALUES))
    office.collector.tick(office.now)
    row = office.row()
    assert (row.state, row.ended) == (CollectorState.RELEASED, "released")
    said = json.loads(office.result().body)
    assert estimates(said) == [3, 2, 0, 1]
    assert said["received"]["contributors"] == 6
    assert said["received"]["parts"][0]["declared"] == [12, 12]
    assert office.collector.results.read_tally(row.folder).parts[0].counts == [9, 8, 6, 7]
    assert office.mixes[1].has_receipt(row, office.collector.node.preceding_manifest(row)[0])
    assert not list((office.folders[-1].path / "keys").iterdir())
    assert not list((office.folders[-1].path / "rounds").iterdir())


def test_a_round_that_is_over_is_looked_at_once(office, plant):
    office.send(*office.usual(VALUES))
    office.collector.tick(office.now)
    looked = []
    plant(office.collector, "facts", lambda honest, row: looked.append(row.round) or honest(row))
    for _ in range(3):
        office.collector.tick(office.now)
    assert looked == []
    office.now += EVERY
    office.proposed()
    office.collector.tick(office.now)
    assert set(looked) == {2}


def test_it_is_charged_before_a_piece_may_come(office):
    manifests, pieces = office.usual(VALUES)
    (name,) = pieces
    assert office.ask("PUT", f"/pieces/{name}", pieces[name]).status == 403
    assert office.collector.results.charges() == []
    office.post(office.note_of(manifests[-1]))
    (charge,) = office.collector.results.charges()
    assert (charge.round, charge.collections, charge.epsilon) == (1, 3, 1.0)
    assert office.ask("PUT", f"/pieces/{name}", pieces[name]).status == 201


def test_without_its_charge_nothing_comes(office, monkeypatch):
    """The disk refuses the charge: no piece, no receipt; later it goes on."""
    manifests, pieces = office.usual(VALUES)
    (name,) = pieces

    def full(*_):
        raise OSError(28, "no space")

    results = type(office.collector.results)
    with monkeypatch.context() as patch:
        patch.setattr(results, "charge", full)
        assert office.post(office.note_of(manifests[-1])).status == 503
        assert office.ask("PUT", f"/pieces/{name}", pieces[name]).status == 403
        with pytest.raises(OSError, match="no space"):
            office.collector.tick(office.now)
    assert not office.collector.node.has_signed_receipt(office.row())
    office.collector.tick(office.now)
    assert len(office.collector.results.charges()) == 1
    office.send(manifests, pieces)
    office.collector.tick(office.now)
    assert office.row().state == CollectorState.RELEASED


def test_a_second_batch_is_refused(office):
    manifests, pieces = office.usual(VALUES)
    others, more = office.usual([*VALUES, 2])
    office.post(office.note_of(manifests[-1]))
    answer = office.post(office.note_of(others[-1]))
    assert answer.status == 409
    for name, data in more.items():
        assert office.ask("PUT", f"/pieces/{name}", data).status == 403
    office.send(manifests, pieces)
    office.collector.tick(office.now)
    assert office.post(office.note_of(others[-1])).status == 409
    for name, data in more.items():
        assert office.ask("PUT", f"/pieces/{name}", data).status == 403
    assert len(office.collector.results.charges()) == 1
    assert estimates(json.loads(office.result().body)) == [3, 2, 0, 1]


def test_a_batch_of_strangers_occupies_nothing(office):
    manifests, pieces = office.usual(VALUES)
    text = write_manifest(manifests[-1])
    for signer in (Signer("mix-2", b"s" * 32), office.folders[0].signer, office.folders[-1].signer):
        assert office.post(sign_note(text, signer)).status == 403
    assert office.collector.results.charges() == []
    office.send(manifests, pieces)
    office.collector.tick(office.now)
    assert office.row().state == CollectorState.RELEASED


def test_another_look_is_free(office):
    office.send(*office.usual(VALUES))
    office.collector.tick(office.now)
    row, before = office.row(), office.collector.results.charges()
    wide = office.collector.conclusion(row, Analysis(level=0.999)).result
    usual = office.collector.conclusion(row).result
    assert (wide.estimate.individual.upper >= usual.estimate.individual.upper).all()
    found = office.collector.conclusion(row, Analysis(projection="simplex")).result
    assert found.estimate.projected.sum() == pytest.approx(6)
    with pytest.raises(ParameterError, match="a tally that holds single bins"):
        office.collector.conclusion(row, Analysis(pairs=True))
    assert office.collector.results.charges() == before


def test_it_says_when_it_is_too_early(office):
    answer = office.result()
    assert answer.status == 503
    assert answer.headers["retry-after"] == "600"
    detail = json.loads(answer.body)["detail"]
    assert detail.startswith("answers are taken until 1970-01-12 13:56:50 UTC and mixed by ")
    office.over()
    assert office.result().headers["retry-after"] == "5"
    assert office.result(2).status == 404
    path = f"/contracts/{'0' * 64}/rounds/1/result"
    assert office.ask("GET", path).status == 404


@pytest.mark.parametrize("end", [TOO_FEW, EXPIRED])
def test_a_round_that_a_mix_destroyed(office, end):
    manifests, _ = office.usual(VALUES)
    nothing = [one._replace(added=0, received=0, pieces=()) for one in manifests[-1].parts]
    last = manifests[-1]._replace(destroyed=end, bundles=1, parts=tuple(nothing))
    assert office.post(office.note_of(last)).status == 204
    office.collector.tick(office.now)
    row = office.row()
    assert (row.state, row.ended) == (CollectorState.DESTROYED, end)
    assert office.collector.results.charges() == []
    assert not list((office.folders[-1].path / "keys").iterdir())
    said = json.loads(office.result().body)
    assert not said["released"]
    assert end in said["refusal"]


def test_what_is_late_is_lost(office):
    manifests, pieces = office.usual(VALUES)
    office.post(office.note_of(manifests[-1]))
    office.now = office.row().expires
    office.collector.tick(office.now)
    row = office.row()
    assert (row.state, row.ended) == (CollectorState.EXPIRED, "expired")
    assert not list((office.folders[-1].path / "keys").iterdir())
    for name, data in pieces.items():
        assert office.ask("PUT", f"/pieces/{name}", data).status == 403
    assert len(office.collector.results.charges()) == 1  # it may have been seen


def test_manifests_that_are_missing_are_waited_for_and_asked_for(office):
    manifests, pieces = office.usual(VALUES)
    office.post(office.note_of(manifests[-1]))
    office.put(pieces)
    office.collector.tick(office.now)
    row = office.row()
    assert row.state == CollectorState.COUNTED
    assert not list((office.folders[-1].path / "keys").iterdir())  # it waits without a key
    assert office.collector.describe_missing(row) == "waits for manifests of mix-1"
    assert b"aits for manifests of mix-1" in office.ask("GET", "/").body
    assert office.result().status == 503
    office.mixes[1].take_note(office.note_of(manifests[0]), office.now)  # the other mix knows it
    office.collector.tick(office.now + 1)
    assert office.row().state == CollectorState.COUNTED
    office.collector.tick(office.now + 11)
    assert office.row().state == CollectorState.RELEASED


def test_pieces_are_what_the_manifest_names(office):
    manifests, pieces = office.usual(VALUES)
    (name,) = pieces
    office.post(office.note_of(manifests[-1]))
    assert office.ask("PUT", f"/pieces/{name}", b"x" * len(pieces[name])).status == 400
    office.collector.tick(office.now)
    assert office.row().state == CollectorState.OPEN
    assert not office.collector.node.has_signed_receipt(office.row())


def test_an_old_copy_does_not_run(office, tmp_path):
    """A mix shows the receipt that the restored folder lacks."""
    office.collector.end()
    place = office.folders[-1].path
    copy = tmp_path / "copy.db"
    copy.write_bytes((place / "node.db").read_bytes())
    keys = {path.name: path.read_bytes() for path in (place / "keys").iterdir()}
    office.reopen()
    office.send(*office.usual(VALUES))
    office.collector.tick(office.now)
    office.collector.end()
    for path in place.glob("node.db*"):
        path.unlink()
    (place / "node.db").write_bytes(copy.read_bytes())
    for name, data in keys.items():
        (place / "keys" / name).write_bytes(data)
    with pytest.raises(OldStateError, match="restore the newest folder"):
        office.reopen()


def test_the_recipe_is_met(office):
    """The helper's fakes are those of a recipe with this mean."""
    assert len(FAKES) == 4 * office.contract.plan.parts[0].recipe.shift
