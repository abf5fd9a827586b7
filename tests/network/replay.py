"""Replay and copies: whatever comes twice counts once, and in its own round, part and hop alone."""

from hashlib import sha256

from helpers import contracts
from helpers.roles_in_folders import EVERY, START
from mixtally.device.contract.fields import fingerprint_of
from mixtally.device.wire.bundle import write_bundle
from mixtally.device.wire.manifest import (
    Manifest,
    PartManifest,
    Piece,
    Receipt,
    write_manifest,
    write_receipt,
)
from mixtally.model.question import Kind, Question
from network.stage import BINS, of_one, people


def together(*envelopes_of):
    """These envelopes come beside those of three people; what is dropped of them."""

    def act(stage):
        people(stage)
        for make in envelopes_of:
            assert stage.send(of_one(make(stage))).status == 201
        stage.finish()
        return stage.drops()

    return act


def again(layers, several):
    """One message under ``layers`` outer layers of their own, several times."""

    def make(stage):
        if not hasattr(stage, "inner"):
            stage.inner = stage.sealed(BINS[3], first=layers + 1)
        return stage.wrapped(stage.inner, last=layers)

    return [make] * several


def bundle_again(stage):
    people(stage)
    body = stage.bundle([BINS[3]])
    for _ in range(5):
        assert stage.send(body).status == 201
    stage.finish()
    return f"{stage.collector.manifest_of(stage.row(), 1)[1].bundles} bundles"


def copies_for_the_minimum(stage):
    """One person sends one bundle a hundred times: still too few."""
    body = stage.bundle([BINS[3]])
    assert stage.send(body * 50).status == 201
    assert stage.send(body * 50).status == 201
    stage.finish()
    return stage.states()


def rearranged(stage):
    """The two messages of a bundle come in the other order, and one of them beside another."""
    seal = stage.sealed
    one, two, three = seal(BINS[0]), seal(BINS[1]), seal(BINS[2])
    for pair in ([one, two], [two, one], [one, three]):
        assert stage.send(write_bundle([pair])).status == 201
    stage.finish()
    return stage.drops()


def next_round(stage):
    """What was sealed for the first round is sent in the second."""
    old = of_one(stage.sealed(BINS[3]))
    stage.round(2)
    stage.now = START + EVERY
    people_of_two = [stage.send(of_one(stage.sealed(one)), 2).status for one in BINS[:3]]
    assert [*people_of_two, stage.send(old, 2).status] == [201] * 4
    stage.now = START + EVERY + 600
    stage.tick()
    said = stage.collector.manifest_of(stage.row(2), 1)[1]
    return f"left out {said.left_out}, received {said.parts[0].received}"


def piece_again(stage):
    """A piece that came comes again, whole and altered."""
    manifest, data = stage.batch(1, [stage.sealed(one, first=2) for one in BINS])
    stage.post(2, stage.by(1, write_manifest(manifest)))
    path = f"/pieces/{manifest.parts[0].pieces[0].sha256}"
    statuses = [stage.ask(2, "PUT", path, one).status for one in (data, data, b"?" * len(data))]
    held = (stage.mixes[1].node.round_folder(stage.row()) / f"in-{path[8:]}").read_bytes()
    return f"{statuses} {'as it was' if held == data else 'altered'}"


def repeated(kind):
    """A note of the open round comes once more, and once more."""

    def act(stage):
        note = {
            "sheet": stage.note,
            "contract": stage.collector.notes.of(stage.fingerprint),
        }[kind]
        return " ".join(str(stage.post(2, note).status) for _ in range(3))

    return act


def manifest_again(stage):
    """A manifest of a round that is over, and one of its pieces."""
    people(stage)
    stage.finish()
    row = stage.row(1, 2)
    notes = stage.mixes[1].node.notes
    note = notes.of(notes.hash_in_slot("mix-1", f"manifest {row.sheet} 1"))
    name = stage.mixes[1].node.preceding_manifest(row)[1].parts[0].pieces[0].sha256
    assert stage.post(2, note).status == 204
    assert not stage.mixes[1].node.round_folder(row).exists()
    return stage.ask(2, "PUT", f"/pieces/{name}", b"x")


def receipt_again(stage):
    """The receipt of a batch comes three times."""
    manifest, _ = stage.batch(1, [stage.sealed(one, first=2) for one in BINS])
    note = stage.by(1, write_manifest(manifest))
    receipt = stage.by(2, write_receipt(Receipt(fingerprint_of(note), 2)))
    assert stage.post(3, note).status == 204
    return " ".join(str(stage.post(3, receipt).status) for _ in range(3))


def piece_named_by_another(stage):
    """A dishonest mix of another contract names the piece of this one, as shorter than it is."""
    manifest, data = stage.batch(1, [stage.sealed(one, first=2) for one in BINS])
    node, row = stage.mixes[1].node, stage.row(1, 2)
    name = manifest.parts[0].pieces[0].sha256
    stage.post(2, stage.by(1, write_manifest(manifest)))
    for size in (1, len(data) // 4):
        part = PartManifest(4, pieces=(Piece(name, 4),))
        theirs = Manifest("0" * 64, 1, 4, 0, None, None, (part,))
        node.pieces.expect(f"{'7' * 64}-{size}", theirs, [size])
    stage.ask(2, "PUT", f"/pieces/{name}", data)
    return f"{node.count_missing(row)} missing"


def two_parts():
    """Two bits, a part each: bundles of two envelopes."""
    question = Question(name="q", bins=2, kind=Kind.BITS)
    part = contracts.shaped(2, shift=3)
    plan = contracts.plan_of(
        question, [part, part], hops=3, collections=3, users=1000, minimum_crowd=2
    )
    return {"plan": plan}


def other_part(stage):
    """The envelope of the first part comes in the second, and that of the second in the first."""
    seal = stage.sealed
    for _ in range(3):
        body = write_bundle([[seal(b"\0", 0)], [seal(b"\1", 1)]])
        assert stage.send(body).status == 201
    one, two = seal(b"\0", 0), seal(b"\1", 1)
    assert stage.send(write_bundle([[two], [one]])).status == 201
    stage.finish()
    return stage.drops()


def from_the_wire(stage):
    """What mix 1 sends on is sent to it again by somebody who listens, in other bundles."""
    size = stage.jobs[0].sizes[0][0]
    people(stage)
    heard = stage.sealed(BINS[0], first=2)
    assert stage.send(of_one((heard + bytes(size))[:size])).status == 201
    stage.finish()
    return stage.drops()


def unnamed_copy(stage):
    """The bytes of a piece under the name of another."""
    return stage.ask(2, "PUT", f"/pieces/{sha256(b'other').hexdigest()}", b"x")


SHARED = {
    "a piece under another name": (unnamed_copy, "403 not-named"),
    "a sheet that all have signed, again": (repeated("sheet"), "200 200 200"),
    "a contract that all have signed, again": (repeated("contract"), "200 200 200"),
}
ALONE = {
    "a bundle sent five times": (bundle_again, "4 bundles"),
    "one bundle a hundred times, to make up the minimum": (
        copies_for_the_minimum,
        "shredded/destroyed shredded/destroyed shredded/destroyed destroyed/too-few",
    ),
    "messages of a bundle in other bundles": (
        rearranged,
        "mix-1: copies 3",
        {"part": contracts.uniform(4, whole=1, coin=0)},
    ),
    "a bundle of the round before": (next_round, "left out 1, received 3"),
    "an envelope in another part": (
        other_part,
        "mix-1: left out 1",
        two_parts(),
    ),
    "copies of what mix 2 opens, newly wrapped": (together(*again(1, 2)), "mix-2: copies 1"),
    "copies of what mix 3 opens, newly wrapped": (together(*again(2, 3)), "mix-3: copies 2"),
    "copies of what the collector opens, newly wrapped": (
        together(*again(3, 2)),
        "collector: a copy of another 1",
    ),
    "what mix 2 receives, sent to mix 1": (from_the_wire, "mix-1: left out 1"),
    "a piece that came, whole and altered": (piece_again, "[201, 204, 204] as it was"),
    "a piece that another contract's mix names too": (piece_named_by_another, "0 missing"),
    "a manifest of a round that is over, and its piece": (manifest_again, "403 not-named"),
    "a receipt again and again": (receipt_again, "204 204 204"),
}
