"""Numbers that do not add up release nothing, and the hop that said them is named."""

import json

import msgspec
import pytest

from helpers.collector_scene import FAKES, Office
from helpers.roles_in_folders import ENVIRONMENT
from mixtally.device.wire.manifest import TOO_FEW, PartManifest
from mixtally.errors import DataError
from mixtally.server.collector import CollectorState, conclude_again
from mixtally.server.collector.results import round_document
from mixtally.server.node.folder import open_folder

VALUES = [0, 1] * 100


@pytest.fixture
def office(tmp_path):
    office = Office(tmp_path, hops=3)
    office.begin()
    office.proposed()
    return office


def refusal(office, manifests, pieces):
    office.send(manifests, pieces)
    office.collector.tick(office.now)
    assert office.row().state == CollectorState.REFUSED
    said = json.loads(office.result().body)
    assert not said["released"]
    assert "estimates" not in said
    assert b"Nothing is released" in office.ask("GET", "/").body
    return said["refusal"]


def altered(office, place, **changes):
    """The usual round, in which one hop says something else; what follows names it."""
    manifests, pieces = office.usual(VALUES)
    manifests[place - 1] = manifests[place - 1]._replace(**changes)
    return manifests, pieces


def part(manifest, **changes):
    return (manifest.parts[0]._replace(**changes),)


def test_another_number_of_people(office):
    said = refusal(office, *altered(office, 2, bundles=201))
    assert "manifest of mix-2" in said
    assert "bundles-differ" in said


def test_a_manifest_of_another_batch(office):
    said = refusal(office, *altered(office, 3, before="0" * 64))
    assert "manifest of mix-3" in said
    assert "before-unfit" in said


def test_more_came_than_was_sent(office):
    manifests, pieces = office.usual(VALUES)
    one = manifests[0].parts[0]
    fewer = one._replace(received=one.received - 5, pieces=(one.pieces[0]._replace(messages=207),))
    manifests[0] = manifests[0]._replace(parts=(fewer,))
    said = refusal(office, manifests, pieces)
    assert "manifest of mix-2" in said  # its ``before`` is not that manifest


def test_a_first_mix_that_left_people_out(office):
    """It says 200 bundles, and passes on fewer records: no coins vary here."""
    messages = [bytes([value]) for value in VALUES[:-5]] + FAKES * 3
    manifests, pieces = office.chain(200, office.sealed(messages), people=195)
    said = refusal(office, manifests, pieces)
    assert "messages of people in part 1" in said


def test_fakes_outside_the_recipe(office):
    sealed = office.sealed([bytes([value]) for value in VALUES] + FAKES * 2 + FAKES * 3)
    manifests, pieces = office.chain(200, sealed, parts={2: {"added": 36}})
    said = refusal(office, manifests, pieces)
    assert "messages of hop 2" in said


def test_a_hop_that_destroyed_what_a_later_one_sent(office):
    manifests, pieces = office.usual(VALUES)
    manifests[1] = manifests[1]._replace(
        destroyed=TOO_FEW, parts=(PartManifest(manifests[1].parts[0].received),)
    )
    said = refusal(office, manifests, pieces)
    assert "manifest of mix-2: expected a batch" in said


def test_a_hop_that_says_it_drew_nothing(office):
    """Its fakes are not taken off, and the others still hide everybody."""
    sealed = office.sealed([bytes([value]) for value in VALUES] + FAKES * 2)
    manifests, pieces = office.chain(200, sealed, parts={2: {"added": 0}})
    office.send(manifests, pieces)
    office.collector.tick(office.now)
    said = json.loads(office.result().body)
    assert said["received"]["parts"][0]["declared"] == [12, None, 12]
    assert [row["estimate"] for row in said["estimates"]] == [100, 100, 0, 0]
    assert said["rests_on"] == ["mix-1", "mix-3"]
    assert said["assumption"] == (
        "holds if hop 1 or 3 is honest; the other hops added fewer fakes than their recipe says"
    )
    page = office.ask("GET", "/").body.decode()
    assert "Fewer fakes than the recipe requires were added by mix-2: mix-1 or mix-3 must" in page
    shown = round_document(
        office.collector.shown_round(office.row()), office.collector.conclusion(office.row()), 5
    )
    assert "Assumes: hop 1 or 3 is honest" in shown.promise[1]


def test_no_hop_that_brought_its_cover(office):
    """Every one left something out; each number by itself could be."""
    sealed = office.sealed([bytes([value]) for value in VALUES])
    nothing = {hop: {"added": 0} for hop in (1, 2, 3)}
    said = refusal(office, *office.chain(200, sealed, parts=nothing))
    assert "nothing else hides an answer" in said


def test_all_hops_that_kept_to_their_recipe(office):
    office.send(*office.usual(VALUES))
    office.collector.tick(office.now)
    said = json.loads(office.result().body)
    assert said["rests_on"] == ["mix-1", "mix-2", "mix-3"]
    assert said["assumption"] == office.contract.plan.certificate.assumption
    assert said["doubts"] == []
    assert b"Less cover" not in office.ask("GET", "/").body


def test_what_is_impossible_is_dropped_and_counted(office):
    """A copy, a foreign envelope, a bin past the last, another length: one message each."""
    good = office.sealed([bytes([value]) for value in VALUES[:-2]] + FAKES * 3)
    size = office.jobs[0].sizes[0][-1]
    manifests, pieces = office.chain(200, [*good, good[0], b"\x07" * size])
    office.send(manifests, pieces)
    office.collector.tick(office.now)
    (came,) = json.loads(office.result().body)["received"]["parts"]
    assert came["dropped"] == {
        "a copy of another, at the collector": 1,
        "not sealed for this round, at the collector": 1,
    }
    assert came["received"] == 198 + 36


def test_what_hops_dropped_is_counted_too(office):
    sealed = office.sealed([bytes([value]) for value in VALUES[:-1]] + FAKES * 3)
    manifests, pieces = office.chain(200, sealed, parts={2: {"unopened": 1}})
    office.send(manifests, pieces)
    office.collector.tick(office.now)
    said = json.loads(office.result().body)
    assert said["received"]["parts"][0]["dropped"] == {"not sealed for it, at mix-2": 1}
    assert b"1 for not sealed for it, at mix-2" in office.ask("GET", "/").body


def test_what_cannot_be_read_refuses_nothing_however_much_it_is(office):
    """A thousand bundles of nonsense, sealed for all hops or for the first alone."""
    bad = office.sealed([b"\x04"] * 600)  # there are bins 0 to 3
    sealed = office.sealed([bytes([value]) for value in VALUES] + FAKES * 3)
    manifests, pieces = office.chain(
        1200, [*sealed, *bad], parts={2: {"unopened": 400}}, left_out=11
    )
    office.send(manifests, pieces)
    office.collector.tick(office.now)
    said = json.loads(office.result().body)
    assert said["received"]["left_out"] == {"an envelope that does not open, at mix-1": 11}
    assert said["received"]["parts"][0]["dropped"] == {
        "not sealed for it, at mix-2": 400,
        "a bin past the last, at the collector": 600,
    }
    assert [row["estimate"] for row in said["estimates"]] == [100, 100, 0, 0]
    page = office.ask("GET", "/").body
    assert b"Bundles left out whole: 11 for an envelope that does not open, at mix-1." in page
    assert b"600 for a bin past the last, at the collector" in page


def test_more_than_people_sent_cannot_be_read(office):
    bad = office.sealed([b"\x04"] * 200)
    said = refusal(office, *office.chain(200, [*office.sealed(FAKES * 3), *bad]))
    assert "dropped messages of part 1: expected fewer than the 200 messages of people" in said


def test_a_round_that_was_refused_is_concluded_again(office):
    """Its tally was damaged when it was concluded, and is mended: nothing else is needed."""
    office.send(*office.usual(VALUES))
    office.collector.tick(office.now)
    row, results = office.row(), office.collector.results
    right = results.read_tally(row.folder)
    (part,) = right.parts
    short = msgspec.structs.replace(part, came=part.came - 1)
    results.keep(row.folder, msgspec.structs.replace(right, parts=(short,)))
    office.collector.node.rounds.move(row, CollectorState.REFUSED, "refused")
    office.collector.conclude_again(office.row())
    assert office.row().state == CollectorState.REFUSED
    assert not json.loads(office.result().body)["released"]
    office.collector.tick(office.now)
    assert b"Nothing is released" in office.ask("GET", "/").body
    results.keep(row.folder, right)
    for _ in range(2):
        conclude_again(open_folder(office.folders[-1].path, ENVIRONMENT), row.name, 1)
        assert (office.row().state, office.row().ended) == (CollectorState.RELEASED, "released")
    said = json.loads(office.result().body)
    assert [one["estimate"] for one in said["estimates"]] == [100, 100, 0, 0]
    office.collector.tick(office.now)
    assert b"Nothing is released" not in office.ask("GET", "/").body
    assert len(results.charges()) == 1


def test_a_round_that_is_not_over_is_not_concluded_again(office):
    with pytest.raises(DataError, match="expected one that was refused"):
        office.collector.conclude_again(office.row())


def test_a_tally_of_another_batch(office):
    """The folder was put together from two copies."""
    office.send(*office.usual(VALUES))
    office.collector.tick(office.now)
    row, results = office.row(), office.collector.results
    tally = results.read_tally(row.folder)
    results.keep(row.folder, msgspec.structs.replace(tally, manifest="0" * 64))
    found = office.collector.conclusion(row)
    assert found.result is None
    assert "that of the batch that was counted" in found.refusal
    (part,) = tally.parts
    results.keep(
        row.folder,
        msgspec.structs.replace(tally, parts=(msgspec.structs.replace(part, came=part.came - 1),)),
    )
    assert "messages of mix-3: expected 236, got 235" in office.collector.conclusion(row).refusal
