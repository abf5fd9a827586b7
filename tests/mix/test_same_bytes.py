"""The bytes that leave: in keyed order, the same however and whenever they are made."""

import hmac
import shutil

import pytest

from helpers.mixes import manifests, run, sizes, town_of
from mixtally.device.wire.envelope import KeyDomain, Opener
from mixtally.device.wire.suite import SUITES
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.server.engine.engine import Engine
from mixtally.server.mix.closing.close import close_round
from mixtally.server.node.keys import RoundKey

BINS = [bytes([i]) for i in range(4)]


@pytest.mark.parametrize("most_held", [0, 100, 1 << 26])
def test_the_order_is_that_of_the_keyed_hash_however_it_is_sorted(tmp_path, most_held):
    town = town_of(tmp_path, hops=1)
    for i in range(40):
        town.send(town.bundle([BINS[i % 4]]))
    mix = town.mixes[0]
    row = mix.node.rounds.all()[0]
    mix.intake.close(row.folder)
    what = mix._make_closing(row)._replace(engine=Engine(most_held=most_held))
    manifest = close_round(what)
    assert close_round(what) == manifest == close_round(what._replace(engine=Engine()))
    (piece,) = manifest.parts[0].pieces
    data = (what.folder / f"out-{piece.sha256}").read_bytes()
    size = sizes(town)[1]
    some = [data[i : i + size] for i in range(0, len(data), size)]
    key = hmac.digest(what.key.sort_key, KeyDomain.ORDER.value + bytes(2), "sha256")
    assert some == sorted(some, key=lambda one: hmac.digest(key, one, "sha256"))
    assert not list(what.folder.glob("spill*"))
    other = close_round(
        what._replace(key=RoundKey(what.key.private, bytes(32)), folder=_moved(what, tmp_path))
    )
    assert other.parts[0].pieces != manifest.parts[0].pieces
    town.end()


def _moved(what, tmp_path):
    """The same folder without the stored fakes, which another order secret does not open."""
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
    what = mix._make_closing(row)._replace(chance=SeededChance(1))
    manifest = close_round(what)
    stored = (what.folder / "drawn-0").read_bytes()
    assert close_round(what._replace(chance=SeededChance(2))) == manifest
    assert (what.folder / "drawn-0").read_bytes() == stored
    (piece,) = manifest.parts[0].pieces
    data = (what.folder / f"out-{piece.sha256}").read_bytes()
    size = sizes(town)[1]
    for start in range(0, len(data), size):
        assert data[start : start + size] not in stored
    opener = Opener(
        SUITES[1],
        town.collector.keys.read_key(row.folder).private,
        bytes.fromhex(row.sheet),
        2,
    )
    assert all(opener.open(data[i : i + size], 0) in BINS for i in range(0, len(data), size))
    town.end()


def test_pieces_are_cut_at_their_most_bytes(tmp_path, monkeypatch):
    from mixtally.server.mix.closing import close
    from mixtally.server.node import rules

    for room in (close, rules):
        monkeypatch.setattr(room, "MOST_PIECE_BYTES", 1000)
    town = town_of(tmp_path, hops=2)
    for i in range(30):
        town.send(town.bundle([BINS[i % 4]]))
    run(town)
    for manifest in manifests(town):
        pieces = manifest.parts[0].pieces
        size = sizes(town)[manifest.hop]
        assert len(pieces) > 1
        assert {piece.messages for piece in pieces[:-1]} == {1000 // size}
    assert len(town.opened()[0]) == manifests(town)[-1].parts[0].sent_count
    town.end()


@pytest.mark.seconds
def test_worker_processes_give_the_same_bytes(tmp_path):
    town = town_of(tmp_path, hops=1)
    for _ in range(3):
        town.send(b"".join(town.bundle([BINS[i % 4]]) for i in range(1500)))
    mix = town.mixes[0]
    row = mix.node.rounds.all()[0]
    mix.intake.close(row.folder)
    alone = close_round(mix._make_closing(row))
    assert close_round(mix._make_closing(row)._replace(engine=Engine(2))) == alone
    assert alone.parts[0].received == 4500
    town.end()
