"""Numbers that do not add up release nothing, and the hop that said them is named."""

import json

import msgspec
import pytest

from collecting import FAKES, Office
from mixtally.collector import State
from mixtally.wire.manifest import TOO_FEW, PartManifest

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
    assert office.row().state == State.REFUSED
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
    assert "manifest of mix-2: wanted a batch" in said


def test_a_hop_that_says_it_drew_nothing(office):
    """Its fakes are not taken off, and the others still hide everybody."""
    sealed = office.sealed([bytes([value]) for value in VALUES] + FAKES * 2)
    manifests, pieces = office.chain(200, sealed, parts={2: {"added": 0}})
    office.send(manifests, pieces)
    office.collector.tick(office.now)
    said = json.loads(office.result().body)
    assert said["received"]["parts"][0]["declared"] == [12, None, 12]
    assert [row["estimate"] for row in said["estimates"]] == [100, 100, 0, 0]


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


def test_too_much_that_is_dropped(office):
    bad = office.sealed([b"\x04"] * 3)  # there are bins 0 to 3
    sealed = office.sealed([bytes([value]) for value in VALUES[:-3]] + FAKES * 3)
    said = refusal(office, *office.chain(200, [*sealed, *bad]))
    assert "dropped messages of part 1" in said
    assert "3 for a bin past the last, at the collector" in said


def test_a_tally_of_another_batch(office):
    """The folder was put together from two copies."""
    office.send(*office.usual(VALUES))
    office.collector.tick(office.now)
    row, results = office.row(), office.collector.results
    tally = results.counted(row.folder)
    results.keep(row.folder, msgspec.structs.replace(tally, manifest="0" * 64))
    found = office.collector.conclusion(row)
    assert found.result is None
    assert "that of the batch that was counted" in found.refusal
    (part,) = tally.parts
    results.keep(
        row.folder,
        msgspec.structs.replace(tally, parts=(msgspec.structs.replace(part, came=part.came - 1),)),
    )
    assert "messages of mix-3: wanted 236, got 235" in office.collector.conclusion(row).refusal
