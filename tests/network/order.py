"""The order of events: what comes before its time or after it changes nothing."""

import json
import shutil
import threading

from msgspec.structs import replace

from helpers.roles_in_folders import EVERY, START
from mixtally.device.contract.fields import fingerprint_of
from mixtally.device.wire.manifest import Receipt, write_manifest, write_receipt
from mixtally.model.contract import write_contract
from mixtally.server.node import disk
from network.stage import BINS, of_one, people


def inner(stage):
    """What mix 2 might receive."""
    return [stage.sealed(one, first=2) for one in BINS]


def asked(place, method, rest, number=1):
    return lambda stage: stage.ask(place, method, stage.path(rest, number))


def piece_first(stage):
    manifest, data = stage.batch(1, inner(stage))
    return stage.ask(2, "PUT", f"/pieces/{manifest.parts[0].pieces[0].sha256}", data)


def receipt_first(stage):
    return stage.post(1, stage.by(2, write_receipt(Receipt("5" * 64, 2))))


def manifest_first(stage):
    return stage.told(1, inner(stage), sheet="5" * 64)


def half_signed(stage):
    """The second round is signed by its collector and mix 1, and then people come."""
    stage.hostile = {4}
    note = stage.by(4, stage.text_of_sheet(2))
    assert stage.post(1, note).status == 200
    stage.tick()
    stage.now = START + EVERY
    return stage.send(stage.bundle([BINS[0]]), 2)


def unasked(stage):
    """Mix 2 begins again while the collector sleeps, and is asked to sign."""
    note = stage.by(4, stage.text_of_sheet(2))
    stage.mixes[1].end()
    app = stage.apps.pop(stage.folders[3].role.address)
    stage.mixes[1] = stage.awaken(2)
    stage.mixes[1].tick(stage.now)
    stage.apps[stage.folders[3].role.address] = app
    return stage.post(2, note)


def key_unasked(stage):
    """The same, and it is asked for a key."""
    unasked(stage)
    return stage.ask(2, "POST", stage.path("/key", 3))


def bundle_after_mixing(stage):
    people(stage)
    body = stage.bundle([BINS[3]])
    stage.finish()
    return stage.send(body)


def second_batch_after_mixing(stage):
    people(stage)
    stage.finish()
    return stage.told(1, inner(stage))


def early_batch(stage):
    """Mix 1 hands over before the window is over: what people still send is refused by it alone."""
    stage.hostile = {1}
    assert stage.told(1, inner(stage)).status == 204
    return stage.told(1, [*inner(stage), inner(stage)[0]])


def round_over(stage):
    """A round is shredded; its key is asked for."""
    people(stage)
    stage.finish()
    return stage.ask(2, "POST", stage.path("/key"))


def earlier_round(stage):
    """The third round is signed; then somebody proposes the second."""
    note = stage.by(4, stage.text_of_sheet(2))
    stage.round(3)
    return stage.post(2, note)


def withdrawn(stage):
    """The second round is withdrawn before it opens; the third takes its time."""
    stage.round(2)
    row = stage.row(2)
    note = stage.collector.withdraw(row, stage.now)
    for place in (1, 2, 3, 4):
        note = stage.post(place, note).body
    stage.tick()
    said = json.loads(stage.send(of_one(bytes(stage.jobs[0].sizes[0][0])), 2).body)["detail"]
    stage.round(3, opens=row.opens, closes=row.closes)
    assert {node.rounds.of(stage.fingerprint, 2).ended for node in stage.nodes_awake} == {
        "withdrawn"
    }
    assert not [name for node in stage.nodes_awake for name in node.keys.all() if name[-1] == "2"]
    return f"{stage.states(2)}; {said}; {stage.row(3, 1).state}"


def old_copy(place):
    """A mix begins from a copy that was made before its batch left."""

    def act(stage):
        people(stage)
        stage.hostile = set(range(place, 5))
        stage.finish()
        folder = stage.folders[place - 1].path
        stage.mixes[place - 1].node.database.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        shutil.copytree(folder, stage.place / "copy")
        stage.hostile = set()
        for _ in range(5):
            stage.tick()
        stage.mixes[place - 1].end()
        shutil.rmtree(folder)
        shutil.copytree(stage.place / "copy", folder)
        stage.mixes[place - 1] = stage.awaken(place)
        stage.mixes[place - 1].tick(stage.now)
        return stage.states()

    return act


def forgotten_contract(stage):
    """A running mix is shown a contract that it signed and its disk does not know."""
    other = write_contract(replace(stage.contract, name="elsewhere"))
    return came_to_stop(stage, stage.by(2, other))


def forgotten_sheet(stage):
    """The same with a sheet of a contract that it does not serve."""
    return came_to_stop(stage, stage.by(2, stage.text_of_sheet(2, contract="7" * 64)))


def came_to_stop(stage, note):
    assert stage.post(2, note).status == 503
    stage.mixes[1].tick(stage.now)
    return "it goes on"


def shredded_while_a_piece_comes(stage):
    """The round expires while a piece is being written."""
    manifest, data = stage.batch(1, inner(stage))
    node, row = stage.mixes[1].node, stage.row(1, 2)
    stage.post(2, stage.by(1, write_manifest(manifest)))
    name, shredding = (
        manifest.parts[0].pieces[0].sha256,
        threading.Thread(target=node.shred_round, args=(row,)),
    )
    put = disk.put

    def slowly(path, some, what):
        if what == "a piece":
            shredding.start()
            shredding.join(0.2)  # long enough to remove the folder, if nothing keeps it
        put(path, some, what)

    disk.put = slowly
    try:
        node.pieces.put(name, data)
    finally:
        disk.put = put
        shredding.join()
    return "gone" if not node.round_folder(row).exists() else "a folder is left"


def expected_while_shredded(stage):
    """A manifest comes while the round is being shredded."""
    manifest, _ = stage.batch(1, inner(stage))
    note = stage.by(1, write_manifest(manifest))
    node, row = stage.mixes[1].node, stage.row(1, 2)
    took, ended = threading.Event(), []

    def take():
        took.wait()
        ended.append(stage.post(2, note).status)

    coming, destroy = threading.Thread(target=take), node.keys.destroy

    def slowly(name):
        took.set()
        coming.join(0.2)
        destroy(name)

    node.keys.destroy = slowly
    coming.start()
    node.shred_round(row)
    coming.join()
    return f"{ended[0]}, {'gone' if not node.round_folder(row).exists() else 'a folder is left'}"


def later_serial_ends(stage):
    """A round that is open goes on when a later serial is signed: it was charged."""
    people(stage)
    text = write_contract(replace(stage.contract, serial=2))
    for node in stage.nodes_awake:
        later = replace(stage.agreement(1), contract=fingerprint_of(text), serial=2)
        node.sign_contract(later, text)
    stage.finish()
    return stage.states().split()[-1]


def wrong_place(stage):
    """The second mix is sent bundles."""
    return stage.ask(2, "POST", stage.path("/bundles"), of_one(stage.sealed(BINS[0])))


def takes_nothing_while_it_waits(stage):
    """Before all roles have answered nothing is opened, even if the time has come."""
    people(stage)
    stage.mixes[0].end()
    del stage.apps[stage.folders[3].role.address]
    stage.mixes[0] = stage.awaken(1)
    stage.hostile = {4}
    stage.finish()
    return stage.states().split()[0]


SHARED = {
    "a piece before its manifest": (piece_first, "403 not-named"),
    "a receipt before its manifest": (receipt_first, "404 unknown"),
    "a manifest before its sheet": (manifest_first, "404 unknown"),
    "a result before there is one": (asked(4, "GET", "/result"), "503 no-result"),
    "the result of a round that nobody proposed": (asked(4, "GET", "/result", 3), "404 unknown"),
    "bundles for a round that nobody proposed": (asked(1, "POST", "/bundles", 3), "404 unknown"),
    "bundles to the second mix": (wrong_place, "404 unknown"),
}
ALONE = {
    "bundles before all have signed": (half_signed, "503 not-ready"),
    "a sheet before all roles have answered": (unasked, "503 not-ready"),
    "a request for a key before all roles have answered": (key_unasked, "503 not-ready"),
    "the end of a round before all roles have answered": (takes_nothing_while_it_waits, "open/"),
    "a bundle after its round was mixed": (bundle_after_mixing, "410 round-closed"),
    "a second batch after the first was mixed": (second_batch_after_mixing, "409 another-note"),
    "a batch before the window is over, and another behind it": (early_batch, "409 another-note"),
    "a request for the key of a round that is over": (round_over, "410 round-closed"),
    "a round withdrawn before it opens": (
        withdrawn,
        "shredded/withdrawn shredded/withdrawn shredded/withdrawn withdrawn/withdrawn; "
        "the round was withdrawn before it opened; open",
    ),
    "a round proposed after a later one": (earlier_round, "403 not-agreed"),
    "an old copy of mix 2 begins": (old_copy(2), "stops"),
    "an old copy of mix 3 begins": (old_copy(3), "stops"),
    "a running mix is shown a contract that it forgot": (forgotten_contract, "stops"),
    "a running mix is shown a sheet of a contract that it forgot": (forgotten_sheet, "stops"),
    "a round is shredded while a piece is written": (shredded_while_a_piece_comes, "gone"),
    "a manifest comes while its round is shredded": (expected_while_shredded, "204, gone"),
    "a later serial is signed while a round is open": (later_serial_ends, "released/released"),
}
