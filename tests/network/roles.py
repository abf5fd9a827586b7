"""Hostile roles: what a dishonest mix or collector hands over is refused, dropped or shows."""

import json
from collections import Counter

from mixtally.device.contract.fields import fingerprint_of
from mixtally.device.wire.manifest import PartManifest, Receipt, write_manifest, write_receipt
from mixtally.device.wire.note import Signer, sign_note
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.protocol.mixing import draw_recipe_messages
from network.stage import BINS, people

COMMON = Signer("mix-1", b"s" * 32)
NOTHING = (PartManifest(0),)


def inner(stage, first=2):
    """What the role at ``first`` might receive of four people."""
    return [stage.sealed(one, first=first) for one in BINS]


def claimed(signer, **changes):
    """The batch of mix 1, signed by somebody, comes to mix 2, and then its piece."""

    def act(stage):
        manifest, data = stage.batch(1, inner(stage), **changes)
        known = COMMON if signer is None else stage.folders[signer - 1].signer
        said = stage.post(2, sign_note(write_manifest(manifest), known))
        path = f"/pieces/{manifest.parts[0].pieces[0].sha256}"
        assert stage.ask(2, "PUT", path, data).status == 403
        return said

    return act


def second_batch(stage):
    """Mix 1 signs two batches, and sends the pieces of the second."""
    manifest, _ = stage.batch(1, inner(stage))
    assert stage.post(2, stage.by(1, write_manifest(manifest))).status == 204
    return claimed(1)(stage)


def second_batch_elsewhere(stage):
    """It shows the collector another batch than mix 2: the numbers contradict each other."""
    people(stage)
    second, _ = stage.batch(1, [*inner(stage), *inner(stage)])
    assert stage.post(4, stage.by(1, write_manifest(second))).status == 204
    stage.finish()
    return f"{stage.states().split()[-1]}: {refusal(stage)}"


def refusal(stage):
    """Whom the published result names."""
    said = json.loads(stage.ask(4, "GET", stage.path("/result")).body)
    assert "estimates" not in said
    return said["refusal"].partition(":")[0]


def own_place(stage):
    """Mix 2 is shown a batch with its own signature that it never signed."""
    manifest, _ = stage.batch(2, inner(stage, 3))
    assert stage.post(2, stage.by(2, write_manifest(manifest))).status == 503
    stage.mixes[1].tick(stage.now)
    return "it goes on"


def receipt(hop, signer, of=None):
    """Somebody says that the batch of mix 1 has come."""

    def act(stage):
        manifest, _ = stage.batch(1, inner(stage))
        note = stage.by(1, write_manifest(manifest))
        assert stage.post(3, note).status == 204
        text = write_receipt(Receipt(of or fingerprint_of(note), hop))
        return stage.post(3, stage.by(signer, text) if signer else sign_note(text, COMMON))

    return act


def replaced(stage):
    """Mix 1 leaves people out and sends as many of its own: nobody can tell, and it is said so."""
    stage.delivered(1, inner(stage), before=None)
    return stage.states().split()[-1]


def left_out(stage):
    """Mix 1 says that eight took part and passes on four."""
    stage.delivered(1, inner(stage), bundles=8)
    return f"{stage.states().split()[-1]}: {refusal(stage)}"


def too_many_fakes(stage):
    """Mix 1 says that it drew more fakes than its recipe can."""
    envelopes = [stage.sealed(one, first=2) for one in BINS * 15]
    made, _ = stage.batch(1, envelopes)
    said = made.parts[0]._replace(received=4, added=56)
    stage.delivered(1, envelopes, bundles=4, parts=(said,))
    return f"{stage.states().split()[-1]}: {refusal(stage)}"


def destroyed_by_the_first(stage):
    """Mix 1 says that too few came, though enough did: the round is lost, and no more."""
    people(stage)
    stage.hostile = {1}
    manifest, _ = stage.batch(1, BINS, destroyed="too-few", parts=NOTHING)
    note = stage.by(1, write_manifest(manifest))
    for place in (2, 3, 4):
        assert stage.post(place, note).status == 204
    stage.finish()
    assert not stage.office.results.charges()
    return " ".join(stage.states().split()[1:])


def fakes_told(stage):
    """Mixes 1 and 3 tell the collector which fakes they drew: those of mix 2 are left."""
    drawn = {}
    for place in (1, 2, 3):
        stream = stage.jobs[0].streams[0]
        rows = draw_recipe_messages(stream.recipe, stream.layout, SeededChance(place))
        drawn[place] = Counter(row.tobytes()[0] for row in rows)
        stage.mixes[place - 1].node.chance = SeededChance(place)
    people(stage)
    stage.finish()
    left = stage.counts() - drawn[1] - drawn[3] - Counter([0, 1, 2])
    return "those of mix 2 are left" if left == drawn[2] else f"{left} and not {drawn[2]}"


def no_fakes(stage):
    """Mixes 1 and 2 draw nothing and say so: mix 3 still draws its whole recipe."""
    stage.delivered(2, inner(stage, 3))
    manifest = stage.collector.manifest_of(stage.row(), 3)[1]
    stream = stage.jobs[0].streams[0]
    most = stream.recipe.most * stream.layout.bins
    own = stage.counts() - Counter(range(4))
    right = manifest.parts[0].added == own.total() and 0 < own.total() <= most
    return "mix 3 draws its own" if right else f"{own}"


SHARED = {
    "a batch that a stranger signed": (claimed(None), "403 not-signed"),
    "a batch that the third mix signed for the first": (claimed(3), "403 not-signed"),
    "a batch that the collector signed for a mix": (claimed(4), "403 not-signed"),
    "a batch of fewer people than the minimum": (claimed(1, bundles=1), "403 not-agreed"),
    "a batch of a hop past the last": (claimed(4, hop=4, before="0" * 64), "403 not-agreed"),
}


ALONE = {
    "a second batch, and its piece": (second_batch, "409 another-note"),
    "a second batch shown to the collector alone": (
        second_batch_elsewhere,
        "refused/refused: manifest of mix-2",
    ),
    "a batch with this mix's own signature": (own_place, "stops"),
    "a receipt by the hop after the next": (receipt(3, 3), "400 no-note"),
    "a receipt for mix 2 that mix 3 signed": (receipt(2, 3), "403 not-signed"),
    "a receipt for mix 2 that a stranger signed": (receipt(2, None), "403 not-signed"),
    "a receipt of another batch": (receipt(2, 2, of="5" * 64), "404 unknown"),
    "a first mix that leaves people out": (
        left_out,
        "refused/refused: messages of people in part 1",
    ),
    "a first mix that draws more fakes than its recipe": (
        too_many_fakes,
        "refused/refused: messages of hop 1 for part 1",
    ),
    "a first mix that replaces people by as many of its own": (replaced, "released/released"),
    "a first mix that declares a round of enough people destroyed": (
        destroyed_by_the_first,
        "shredded/destroyed shredded/destroyed destroyed/too-few",
    ),
    "two mixes tell the collector which fakes they drew": (fakes_told, "those of mix 2 are left"),
    "two mixes draw no fakes": (no_fakes, "mix 3 draws its own"),
}
