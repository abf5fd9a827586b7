"""What leaves a closed round: every message that came once, the fakes as drawn, in keyed order."""

from collections import Counter
from hashlib import sha256

import pytest

from helpers import contracts
from helpers.mixes import Town, manifests, run, sizes, town_of
from mixtally.device.wire.bundle import write_bundle
from mixtally.device.wire.envelope import Sealer
from mixtally.device.wire.manifest import TOO_FEW, Manifest, PartManifest, Piece
from mixtally.device.wire.sheet import read_sheet
from mixtally.device.wire.suite import SUITES
from mixtally.model.question import make_attributes_question
from mixtally.primitives.chance import SecureChance
from mixtally.server.mix.closing.close import ClosingRound, PrecedingManifest, close_round
from mixtally.server.mix.mix import Options

BINS = [bytes([i]) for i in range(4)]


def test_every_message_once_and_the_fakes(tmp_path):
    town = town_of(tmp_path)
    sent = [BINS[i % 3] for i in range(20)]
    for message in sent:
        assert town.send(town.bundle([message])).status == 201
    run(town)
    (found,) = town.opened()
    told = manifests(town)
    added = sum(manifest.parts[0].added for manifest in told)
    assert len(found) == 20 + added == told[-1].parts[0].sent_count
    fakes = Counter(found) - Counter(sent)
    assert fakes.total() == added
    assert not Counter(sent) - Counter(found)
    assert all(fakes[one] <= 3 * 6 for one in BINS)  # three hops of at most twice the shift
    assert [manifest.bundles for manifest in told] == [20, 20, 20]
    assert told[0].before is None
    assert told[1].parts[0].received == told[0].parts[0].sent_count
    town.receive()
    town.tick()
    assert {mix.node.rounds.all()[0].state for mix in town.mixes} == {"shredded"}
    assert {mix.node.rounds.all()[0].ended for mix in town.mixes} == {"delivered"}
    town.end()


def test_drops_are_counted_by_their_reasons(tmp_path):
    town = town_of(tmp_path, hops=2)
    keys, size = read_sheet(town.note).keys, sizes(town)[0]
    good, seal = town.bundle([BINS[0]]), town.sealer().seal
    inner = Sealer(
        SUITES[1], keys[1:], bytes.fromhex(town.mixes[0].node.rounds.all()[0].sheet), first=2
    )
    outer = Sealer(SUITES[1], keys[:1], bytes.fromhex(town.mixes[0].node.rounds.all()[0].sheet))
    short = outer.seal(inner.seal(b"", 0), 0) + b"x"  # opens at no hop
    long = seal(b"", 0)
    assert len(long) == size - 1
    other_part = seal(BINS[1], 1)
    same_inner = inner.seal(BINS[2], 0)
    altered = bytearray(seal(BINS[3], 0))
    altered[-1] ^= 1
    bodies = [
        good,
        good,  # sent again: the same bundle
        write_bundle([[bytes(altered)]]),
        write_bundle([[other_part]]),
        write_bundle([[short]]),
        write_bundle([[bytes(size)]]),
        write_bundle([[outer.seal(same_inner, 0)]]),
        write_bundle([[outer.seal(same_inner, 0)]]),  # copies of an inner envelope
        write_bundle([[outer.seal(b"\1" * sizes(town)[1], 0)]]),  # opens here and not at the next
    ]
    for body in bodies:
        assert town.send(body).status == 201
    run(town)
    first, second = (manifest.parts[0] for manifest in manifests(town))
    assert (first.received, first.copies, first.unopened, first.malformed) == (4, 0, 0, 0)
    assert [(one.bundles, one.left_out) for one in manifests(town)] == [(4, 4)] * 2
    assert (second.received, second.copies) == (first.sent_count, 1)
    assert (second.unopened, second.malformed) == (1, 0)
    (found,) = town.opened()
    assert len(found) == second.sent_count
    town.end()


def test_copies_of_an_envelope_inside_other_bundles(tmp_path):
    part = contracts.uniform(4, whole=1, coin=0)  # two messages a bundle
    town = town_of(tmp_path, hops=1, part=part)
    seal = town.sealer().seal
    one, two, three = (seal(message, 0) for message in BINS[:3])
    for pair in ([one, two], [one, three], [two, one]):
        assert town.send(write_bundle([pair])).status == 201
    run(town)
    (manifest,) = manifests(town)
    assert manifest.bundles == 3
    assert manifest.parts[0][:3] == (6, 3, 0)
    assert sorted(town.opened()[0]) == BINS[:3]
    town.end()


def test_a_bundle_counts_whole_or_not_at_all(tmp_path):
    """Good envelopes of a bundle that does not open stay behind, and take nobody's place."""
    parts = [contracts.uniform(4, whole=1, coin=0), contracts.uniform(3, whole=0, coin=1 << 63)]
    plan = contracts.plan_of(
        make_attributes_question("q", (4, 3)),
        parts,
        hops=2,
        minimum_crowd=2,
        users=1000,
        collections=3,
    )
    town = town_of(tmp_path, plan=plan)
    seal, size = town.sealer().seal, sizes(town)[0]
    assert sizes(town, 1)[0] == size  # an envelope passes for one of the other part
    padding = [town.sealer().padding(1, 1) for _ in range(7)]
    good = [
        [[seal(BINS[i], 0), seal(BINS[3], 0)], [seal(BINS[2], 1), padding[i]]] for i in range(3)
    ]
    (one, two), (three, _) = good[0]
    bodies = [
        # the first of all: with an honest envelope
        [[one, bytes(size)], [seal(BINS[1], 1), padding[3]]],
        # which opens in the other part alone
        [[one, three], [seal(BINS[1], 1), padding[4]]],
        [[one, two], [bytes(size), padding[5]]],
        [[seal(BINS[0], 0), seal(BINS[0], 0)], [seal(BINS[1], 0), padding[6]]],
        *good,
    ]
    for body in bodies:
        assert town.send(write_bundle(body)).status == 201
    run(town)
    first = manifests(town)[0]
    assert (first.bundles, first.left_out) == (3, 4)
    assert [part[:4] for part in first.parts] == [(6, 0, 0, 0), (3, 0, 0, 0)]
    found = town.opened()
    assert sorted(found[0]) == sorted([*BINS[:3], *[BINS[3]] * 3])
    assert found[1] == [BINS[2]] * 3
    assert manifests(town)[1].parts[0].received == 6
    town.end()


@pytest.mark.parametrize(("honest", "end"), [(2, None), (1, TOO_FEW)])
def test_the_minimum_crowd_is_of_bundles_that_open(tmp_path, honest, end):
    town = town_of(tmp_path, hops=2)
    size = sizes(town)[0]
    for i in range(honest):
        town.send(town.bundle([BINS[i]]))
    for i in range(9):
        assert town.send(write_bundle([[bytes([i]) * size]])).status == 201
    run(town)
    assert [(one.bundles, one.left_out, one.destroyed) for one in manifests(town)] == [
        (honest, 9, end)
    ] * 2
    assert not list(town.folders[0].path.glob("rounds/*/out-*")) or end is None
    town.end()


def test_messages_of_another_length_are_dropped(tmp_path):
    """One byte more inside, one layer's overhead less outside: the same length at the first hop."""
    town = town_of(tmp_path, hops=1)
    row, node = town.mixes[0].node.rounds.all()[0], town.mixes[0].node
    keys = read_sheet(town.note).keys
    outer = Sealer(SUITES[1], keys[:1], bytes.fromhex(row.sheet))
    assert len(outer.seal(bytes(sizes(town)[1]), 0)) == sizes(town)[0]
    closing = _closing(town, node, row, [[outer.seal(bytes(sizes(town)[1] + 1), 0)]] * 1)
    assert closing.parts[0].malformed == 1
    town.end()


def _closing(town, node, row, parts):
    """The manifest of a later hop to which pieces of any length came."""
    job = town.jobs[0]
    data = b"".join(parts[0])
    name = sha256(data).hexdigest()
    folder = node.round_folder(row)
    (folder / f"in-{name}").write_bytes(data)
    before = Manifest(row.sheet, 1, 2, 0, None, None, (PartManifest(1, pieces=(Piece(name, 1),)),))
    stream = job.streams[0]
    odd = type(stream)(
        layout=stream.layout,
        recipe=contracts.NoRecipe(),
        slots=1,
        most_padding=0,
    )
    odd_sizes = ((len(data), job.sizes[0][1]),)
    fields = {one: getattr(job, one) for one in job.__struct_fields__}
    fields |= {"streams": (odd,), "sizes": odd_sizes}
    return close_round(
        ClosingRound(
            type(job)(**fields),
            folder,
            read_sheet(town.note),
            row.sheet,
            node.keys.read_key(row.folder),
            PrecedingManifest("0" * 64, before),
            (),
            SecureChance(),
            node.lists.writer(row.expires),
        )
    )


def test_too_few_are_destroyed_unopened(tmp_path, monkeypatch):
    from mixtally.server.engine import envelope_worker

    town = town_of(tmp_path, crowd=3)
    body = town.bundle([BINS[0]])
    for one in (body, body, body, town.bundle([BINS[1]])):  # two people, one of them thrice
        town.send(one)
    monkeypatch.setattr(envelope_worker.EnvelopeWorker, "open", None)  # nothing is opened
    run(town)
    told = manifests(town)
    assert [one.destroyed for one in told] == ["too-few"] * 3
    assert [one.bundles for one in told] == [2] * 3
    assert town.opened() is None
    for mix in town.mixes:
        (row,) = mix.node.rounds.all()
        assert (row.state, row.ended) == ("shredded", "destroyed")
        assert not list((mix.node.folder.path / "rounds").iterdir())
        assert mix.node.keys.all() == []
    town.end()


def test_several_parts_are_streams_of_their_own(tmp_path):
    """Two bits, each a part in clear among shaped fakes of its own."""
    town = Town(tmp_path, hops=2)
    stream = town.jobs[0].streams[0]
    town.jobs = [
        type(job)(
            **{one: getattr(job, one) for one in job.__struct_fields__}
            | {
                "streams": (stream, stream),
                "sizes": job.sizes * 2,
                "most_messages": job.most_messages * 2,
            }
        )
        for job in town.jobs
    ]
    town.all_awake()
    town.round()
    for i in range(6):
        assert town.send(town.bundle([BINS[0]], [BINS[1 + i % 2]])).status == 201
    run(town)
    first, second = town.opened()
    told = manifests(town)[-1].parts
    assert [len(first), len(second)] == [part.sent_count for part in told]
    added = [sum(one.parts[place].added for one in manifests(town)) for place in (0, 1)]
    assert [len(first), len(second)] == [6 + one for one in added]
    assert not Counter([BINS[0]] * 6) - Counter(first)
    assert not Counter([BINS[1], BINS[2]] * 3) - Counter(second)
    town.end()


def test_blanks_are_added_whole_at_every_hop(tmp_path):
    part = contracts.flipped(4, q=0.1, blanks=7)
    town = town_of(tmp_path, hops=2, part=part)
    for _ in range(3):
        town.send(town.bundle([b"\x01"]))
    run(town)
    assert [one.parts[0].added for one in manifests(town)] == [7, 7]
    assert len(town.opened()[0]) == 3 + 14
    town.end()


def test_closing_beside_the_loop_comes_to_the_same(tmp_path):
    town = Town(tmp_path, hops=1)
    town.all_awake(options=Options(background=True))
    town.round()
    for i in range(5):
        town.send(town.bundle([BINS[i % 4]]))
    town.close()
    for _ in range(3):
        town.tick()
        for running in town.mixes[0]._closing.values():
            running.result(60)
    assert manifests(town)[0].bundles == 5
    town.end()
