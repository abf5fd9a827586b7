"""What leaves a closed round: every message that came once, the fakes as drawn, in keyed order."""

import hmac
from collections import Counter
from hashlib import sha256

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import contracts
from mixes import Town
from mixtally.ground.chance import SecureChance
from mixtally.mixnode.closing.close import Before, Closing, closed
from mixtally.mixnode.closing.sorting import Sorter
from mixtally.mixnode.closing.source import digests, not_copies
from mixtally.mixnode.mix import Options
from mixtally.node.keys import RoundKey
from mixtally.simulate.seeded import SeededChance
from mixtally.wire.bundle import write_bundle
from mixtally.wire.envelope import Label, Opener, Sealer
from mixtally.wire.manifest import Manifest, PartManifest, Piece
from mixtally.wire.sheet import read_sheet
from mixtally.wire.suite import SUITES

BINS = [bytes([i]) for i in range(4)]


def town_of(tmp_path, **changes):
    town = Town(tmp_path, **changes)
    town.all_awake()
    town.round()
    return town


def run(town, ticks=4):
    town.close()
    for _ in range(ticks):
        town.tick()


def sizes(town, part=0):
    return town.jobs[0].streams[part].sizes


def manifests(town):
    row = town.collector.rounds.all()[0]
    hops = range(1, len(town.folders))
    return [town.collector.manifest_of(row, hop)[1] for hop in hops]


def test_every_message_once_and_the_fakes(tmp_path):
    town = town_of(tmp_path)
    sent = [BINS[i % 3] for i in range(20)]
    for message in sent:
        assert town.send(town.bundle([message])).status == 201
    run(town)
    (found,) = town.opened()
    told = manifests(town)
    added = sum(manifest.parts[0].added for manifest in told)
    assert len(found) == 20 + added == told[-1].parts[0].sent
    fakes = Counter(found) - Counter(sent)
    assert fakes.total() == added
    assert not Counter(sent) - Counter(found)
    assert all(fakes[one] <= 3 * 6 for one in BINS)  # three hops of at most twice the shift
    assert [manifest.bundles for manifest in told] == [20, 20, 20]
    assert told[0].before is None
    assert told[1].parts[0].received == told[0].parts[0].sent
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
        write_bundle([[outer.seal(bytes(sizes(town)[1]), 0)]]),  # opens here and not at the next
    ]
    for body in bodies:
        assert town.send(body).status == 201
    run(town)
    first, second = (manifest.parts[0] for manifest in manifests(town))
    assert (first.received, first.copies, first.unopened, first.malformed) == (8, 0, 4, 0)
    assert manifests(town)[0].bundles == 8
    assert (second.received, second.copies) == (first.sent, 1)
    assert (second.unopened, second.malformed) == (1, 0)
    (found,) = town.opened()
    assert len(found) == second.sent
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
    before = Manifest(row.sheet, 1, 2, None, None, (PartManifest(1, pieces=(Piece(name, 1),)),))
    stream = job.streams[0]
    odd = type(stream)(
        layout=stream.layout,
        recipe=contracts.NoRecipe(),
        least=1,
        most=1,
        sizes=(len(data), stream.sizes[1]),
    )
    fields = {one: getattr(job, one) for one in job.__struct_fields__} | {"streams": (odd,)}
    return closed(
        Closing(
            type(job)(**fields),
            folder,
            read_sheet(town.note),
            row.sheet,
            node.keys.read(row.folder),
            Before("0" * 64, before),
            (),
            SecureChance(),
        )
    )


def test_too_few_are_destroyed_unopened(tmp_path, monkeypatch):
    from mixtally.mixnode.closing import hands

    town = town_of(tmp_path, crowd=3)
    body = town.bundle([BINS[0]])
    for one in (body, body, body, town.bundle([BINS[1]])):  # two people, one of them thrice
        town.send(one)
    monkeypatch.setattr(hands.Hands, "open", None)  # nothing is opened
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
            | {"streams": (stream, stream)}
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
    assert [len(first), len(second)] == [part.sent for part in told]
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


@pytest.mark.parametrize("most_held", [0, 100, 1 << 26])
def test_the_order_is_that_of_the_keyed_hash_however_it_is_sorted(tmp_path, most_held):
    town = town_of(tmp_path, hops=1)
    for i in range(40):
        town.send(town.bundle([BINS[i % 4]]))
    mix = town.mixes[0]
    row = mix.node.rounds.all()[0]
    mix.intake.close(row.folder)
    what = mix._what(row)._replace(most_held=most_held)
    manifest = closed(what)
    assert closed(what) == manifest == closed(what._replace(most_held=1 << 26))
    (piece,) = manifest.parts[0].pieces
    data = (what.folder / f"out-{piece.sha256}").read_bytes()
    size = sizes(town)[1]
    some = [data[i : i + size] for i in range(0, len(data), size)]
    key = hmac.digest(what.key.order, Label.ORDER.value + bytes(2), "sha256")
    assert some == sorted(some, key=lambda one: hmac.digest(key, one, "sha256"))
    assert not list(what.folder.glob("spill*"))
    other = closed(
        what._replace(key=RoundKey(what.key.private, bytes(32)), folder=_moved(what, tmp_path))
    )
    assert other.parts[0].pieces != manifest.parts[0].pieces
    town.end()


def _moved(what, tmp_path):
    """The same folder without the stored fakes, which another order secret does not open."""
    import shutil

    shutil.copytree(what.folder, tmp_path / "moved")
    for path in (tmp_path / "moved").glob("drawn-*"):
        path.unlink()
    return tmp_path / "moved"


def test_fakes_are_drawn_once_and_lie_there_sealed(tmp_path):
    town = town_of(tmp_path, hops=1)
    for i in range(3):
        town.send(town.bundle([BINS[i]]))
    mix = town.mixes[0]
    row = mix.node.rounds.all()[0]
    mix.intake.close(row.folder)
    what = mix._what(row)._replace(chance=SeededChance(1))
    manifest = closed(what)
    stored = (what.folder / "drawn-0").read_bytes()
    assert closed(what._replace(chance=SeededChance(2))) == manifest
    assert (what.folder / "drawn-0").read_bytes() == stored
    (piece,) = manifest.parts[0].pieces
    data = (what.folder / f"out-{piece.sha256}").read_bytes()
    size = sizes(town)[1]
    for start in range(0, len(data), size):
        assert data[start : start + size] not in stored
    opener = Opener(
        SUITES[1],
        town.collector.keys.read(row.folder).private,
        bytes.fromhex(row.sheet),
        2,
    )
    assert all(opener.open(data[i : i + size], 0) in BINS for i in range(0, len(data), size))
    town.end()


def test_pieces_are_cut_at_their_most_bytes(tmp_path, monkeypatch):
    from mixtally.mixnode.closing import close

    monkeypatch.setattr(close, "MOST_PIECE_BYTES", 1000)
    town = town_of(tmp_path, hops=2)
    for i in range(30):
        town.send(town.bundle([BINS[i % 4]]))
    run(town)
    for manifest in manifests(town):
        pieces = manifest.parts[0].pieces
        size = sizes(town)[manifest.hop]
        assert len(pieces) > 1
        assert {piece.messages for piece in pieces[:-1]} == {1000 // size}
    assert len(town.opened()[0]) == manifests(town)[-1].parts[0].sent
    town.end()


@pytest.mark.seconds
def test_worker_processes_give_the_same_bytes(tmp_path):
    town = town_of(tmp_path, hops=1)
    for _ in range(3):
        town.send(b"".join(town.bundle([BINS[i % 4]]) for i in range(1500)))
    mix = town.mixes[0]
    row = mix.node.rounds.all()[0]
    mix.intake.close(row.folder)
    alone = closed(mix._what(row))
    assert closed(mix._what(row)._replace(processes=2)) == alone
    assert alone.parts[0].received == 4500
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
            running.result(20)
    assert manifests(town)[0].bundles == 5
    town.end()


@given(st.lists(st.sampled_from([b"a", b"b", b"c", b"d", b"e"])))
def test_copies_are_found(some):
    kept = not_copies(digests(iter(some)))
    seen, wanted = set(), []
    for one in some:
        wanted.append(one not in seen)
        seen.add(one)
    assert kept.tolist() == wanted


@given(st.integers(0, 400), st.sampled_from([1, 7]), st.sampled_from([0, 500, 1 << 20]))
def test_sorting(tmp_path_factory, count, size, most):
    chance = SeededChance(count)
    rows = np.concatenate([chance.words(5 * count + 5)]).view(np.uint8)
    keys = [rows[32 * i : 32 * i + 32].tobytes() for i in range(count)]
    messages = [bytes([i % 251]) * size for i in range(count)]
    sorter = Sorter(tmp_path_factory.mktemp("sort"), size, SecureChance(), most)
    for start in range(0, count, 50):
        sorter.add(b"".join(keys[start : start + 50]), b"".join(messages[start : start + 50]))
    wanted = [message for _, message in sorted(zip(keys, messages, strict=True))]
    assert b"".join(sorter.ordered()) == b"".join(wanted)
