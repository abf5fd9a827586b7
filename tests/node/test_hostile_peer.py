"""One hostile role takes a small share: of memory, of the disk, of the processor, of time."""

import json
import threading
import time
import tracemalloc
from hashlib import sha256

import pytest

from helpers.listed import listed
from helpers.roles_in_folders import Village, ask
from mixtally.device.contract.fields import fingerprint_of, text_of
from mixtally.device.wire import manifest as wire
from mixtally.device.wire.manifest import (
    MOST_PIECE_BYTES,
    Manifest,
    PartManifest,
    Piece,
    Receipt,
    write_manifest,
    write_receipt,
)
from mixtally.device.wire.note import Signer, sign_note
from mixtally.device.wire.problem import Problem
from mixtally.server.node import calls, state
from mixtally.server.node import disk as node_disk
from mixtally.server.node import note_reader as note_reading
from mixtally.server.node.backoff import Backoff
from mixtally.server.node.calls import Answer
from mixtally.server.node.peers import Peers
from mixtally.server.node.refusal import ProblemError
from mixtally.server.node.web.long_responses import ResponseCache


@pytest.fixture
def village(tmp_path):
    return Village(tmp_path, hops=2, users=10**9)


def batch(village, nodes, pieces, full=None, **changes):
    """A manifest of the first hop, signed: so many pieces, all full but the last, which holds 1."""
    row = nodes[0].rounds.all()[0]
    most = MOST_PIECE_BYTES // village.jobs[0].sizes[0][1]
    counts = [most if full is None else full] * (pieces - 1) + [1]
    named = tuple(Piece(sha256(b"%d" % i).hexdigest(), n) for i, n in enumerate(counts))
    part = PartManifest(sum(counts), pieces=named)
    made = Manifest(row.sheet, 1, sum(counts), 0, None, None, (part,))._replace(**changes)
    return sign_note(write_manifest(listed(made)), village.folders[0].signer)


@pytest.fixture
def nodes(village):
    nodes = village.nodes()
    village.agreed(nodes)
    yield nodes
    for node in nodes:
        node.close()


def refusal(node, note, now=0):
    with pytest.raises(ProblemError) as error:
        node.take_note(note, now)
    return error.value.problem, error.value.detail


def test_pieces_are_no_more_than_their_messages_need(village, nodes):
    assert refusal(nodes[1], batch(village, nodes, 3000, full=1)) == (
        Problem.NOT_AGREED,
        "piece-length",
    )
    assert nodes[1].pieces._named == {}


def test_pieces_for_which_there_is_no_room_are_not_expected(village, nodes, monkeypatch):
    note = batch(village, nodes, 20)
    monkeypatch.setattr(node_disk, "free_bytes", lambda _: 18 * MOST_PIECE_BYTES)
    assert refusal(nodes[1], note)[0] is Problem.NO_ROOM
    monkeypatch.setattr(node_disk, "free_bytes", lambda _: 20 * MOST_PIECE_BYTES)
    assert nodes[1].take_note(note, 0) is None
    assert nodes[1].count_missing(nodes[1].rounds.all()[0]) == 20


def test_a_manifest_is_parsed_once_however_often_it_is_looked_at(village, nodes, monkeypatch):
    nodes[1].take_note(batch(village, nodes, 2000), 0)
    row, parsed = nodes[1].rounds.all()[0], []
    real = wire.note_fields
    monkeypatch.setattr(wire, "note_fields", lambda *given: parsed.append(1) or real(*given))
    monkeypatch.setattr(nodes[1].pieces, "path", lambda *_: 1 / 0)
    for _ in range(100):
        assert nodes[1].preceding_manifest(row)[1].bundles > 2000
        assert nodes[1].count_missing(row) == 2000
        nodes[1].expect_pieces(row)
    assert parsed == []  # since it came


def test_few_short_manifests_are_kept_parsed(village, nodes, monkeypatch):
    """Those of a year would take several megabytes."""
    village.agreed(nodes, 2)
    node = nodes[1]
    for row in node.rounds.all():
        node.take_note(batch(village, nodes, 3, sheet=row.sheet), 0)
    monkeypatch.setattr(state, "_MOST_PARSED", 2 * state._PIECES_PER_MANIFEST)
    rows = node.rounds.all()
    assert [node.manifest_of(row, 1)[1].sheet for row in rows] == [row.sheet for row in rows]
    assert len(node._parsed) == 1


def forget(node):
    """Parse all manifests again."""
    node._parsed.clear()
    node._parsed_pieces = 0


def test_a_manifest_that_is_kept_is_measured_once(village, nodes, monkeypatch):
    """Otherwise each look at one manifest would take as long as all that are kept."""
    village.agreed(nodes, 3)
    node, measured = nodes[1], []
    rows = node.rounds.all()
    for row in rows:
        node.take_note(batch(village, nodes, 3, sheet=row.sheet), 0)
    forget(node)
    usual = state._count_pieces
    monkeypatch.setattr(state, "_count_pieces", lambda one: measured.append(1) or usual(one))
    for row in rows * 10:
        node.manifest_of(row, 1)
    assert len(measured) == len(rows)
    monkeypatch.setattr(state, "_MOST_PARSED", 2 * usual(node.manifest_of(rows[0], 1)[1]))
    for row in rows * 3:
        assert node.manifest_of(row, 1)[1].sheet == row.sheet
        assert len(node._parsed) <= 3
        assert node._parsed_pieces == sum(usual(one) for one, _ in node._parsed.values())


def test_a_receipt_of_a_stranger_makes_no_role_parse_a_manifest(village, nodes, monkeypatch):
    note = batch(village, nodes, 2000)
    nodes[1].take_note(note, 0)
    nodes[2].take_note(note, 0)
    forget(nodes[2])
    monkeypatch.setattr(state, "read_manifest", lambda _: 1 / 0)
    text = write_receipt(Receipt(fingerprint_of(note), 2))
    assert refusal(nodes[2], text)[0] is Problem.NOT_SIGNED
    assert refusal(nodes[2], sign_note(text, Signer("mix-2", bytes(32))))[0] is Problem.NOT_SIGNED
    with pytest.raises(ZeroDivisionError):
        nodes[2].take_note(sign_note(text, nodes[1].signer), 0)


def test_a_manifest_of_a_stranger_is_compared_with_no_free_space(village, nodes, monkeypatch):
    village.agreed(nodes, 1)
    monkeypatch.setattr(note_reading, "disk", None)
    assert refusal(nodes[1], text_of(batch(village, nodes, 3)))[0] is Problem.NOT_SIGNED


def test_threads_share_the_parsed_manifests(village, nodes, monkeypatch):
    """A route parses a manifest while the loop counts what is kept."""
    village.agreed(nodes, 2)
    node, others = nodes[1], []
    first, second = node.rounds.all()
    for row in (first, second):
        node.take_note(batch(village, nodes, 3, sheet=row.sheet), 0)
    forget(node)
    usual = state._count_pieces

    def count(manifest):
        if not others:
            others.append(threading.Thread(target=node.manifest_of, args=(second, 1)))
            others[0].start()
            others[0].join(0.2)
        return usual(manifest)

    monkeypatch.setattr(state, "_count_pieces", count)
    assert node.manifest_of(first, 1)[1].sheet == first.sheet
    others[0].join()
    assert len(node._parsed) == 2


def test_long_notes_that_are_bad_are_followed_by_a_pause(village, nodes, monkeypatch):
    bad, parsed = [batch(village, nodes, n, full=1) for n in (900, 901, 902)], []
    real = note_reading.kind_of
    monkeypatch.setattr(note_reading, "kind_of", lambda data: parsed.append(1) or real(data))
    for now in (0, 0, 1, 2, 3):
        assert refusal(nodes[1], bad[0], now)[0] in (Problem.NOT_AGREED, Problem.BUSY)
    assert len(parsed) == 3  # at 0, 1 and 3
    assert refusal(nodes[1], bad[1], 4)[0] is Problem.BUSY
    assert nodes[1].take_note(batch(village, nodes, 900), 60) is None


def test_a_manifest_longer_than_any_is_not_parsed(village, nodes, monkeypatch):
    monkeypatch.setattr(note_reading, "_MOST_MANIFEST_BYTES", 1 << 17)
    monkeypatch.setattr(note_reading, "kind_of", lambda _: 1 / 0)
    assert refusal(nodes[1], batch(village, nodes, 2000))[0] is Problem.TOO_LARGE


def test_a_bad_answer_is_followed_by_a_longer_and_longer_pause(village):
    node, asked = village.node(1, cleared=False), []

    def call(address, method, path, body=b""):
        asked.append(address)
        return Answer(200, b"no list")

    peers = Peers(node, call)
    for now in range(64):
        assert peers.ask(now) == ["collector", "mix-2"]
    assert len(asked) == 2 * 7  # at 0, 1, 3, 7, 15, 31, 63
    node.close()


def test_a_pause_is_nine_times_what_it_follows_took():
    pauses = Backoff()
    pauses.increase("mix-2", 100, 20.0)
    assert pauses.is_waiting("mix-2", 279)
    assert not pauses.is_waiting("mix-2", 280)
    pauses.reset("mix-2")
    pauses.increase("mix-2", 300)
    assert not pauses.is_waiting("mix-2", 301)


def test_an_answer_is_made_once_until_something_is_written(village, nodes):
    made, lists = [], ResponseCache(nodes[0].database.version)

    def make():
        made.append(threading.get_ident())
        time.sleep(0.02)
        return b"x"

    several = [threading.Thread(target=lists.get_or_make, args=(("a",), make)) for _ in range(8)]
    for one in several:
        one.start()
    for one in several:
        one.join()
    assert len(made) == 1
    nodes[0].rounds.overrule(village.fingerprint, "mix-2")
    assert lists.get_or_make(("a",), make) == b"x"
    assert len(made) == 2


def test_lists_are_made_outside_the_event_loop(village, nodes, monkeypatch):
    app, here, found = village.awake(nodes[0]), threading.get_ident(), []
    real = nodes[0].notes.list_signed_by
    monkeypatch.setattr(
        nodes[0].notes,
        "list_signed_by",
        lambda name: found.append(threading.get_ident()) or real(name),
    )
    for _ in range(3):
        assert ask(app, "GET", "/notes/mix-1").status == 200
    assert len(found) == 1
    assert found[0] != here


def test_a_long_list_of_a_peer_takes_little_memory(village):
    """Sixty megabytes of JSON that would parse to gigabytes: refused by its length, unread."""
    node = village.node(1, cleared=False)
    long = json.dumps([""]).encode().replace(b'""', b'"",' * 4_000_000 + b'""')
    peers = Peers(node, lambda *_: Answer(200, long[: calls.MOST_ANSWER_BYTES]))
    tracemalloc.start()
    try:
        assert peers.ask(0) == ["collector", "mix-2"]
        assert tracemalloc.get_traced_memory()[1] < 3 * calls.MOST_ANSWER_BYTES
    finally:
        tracemalloc.stop()
    node.close()


def test_a_manifest_of_more_than_the_contract_can_produce_is_refused(tmp_path):
    """All slots of the most bundles and the most fakes of all hops so far are the largest batch."""
    village = Village(
        tmp_path, hops=2, users=2, most_bundles=8
    )  # eight bundles, of one message each
    nodes = village.nodes()
    village.agreed(nodes)
    (most,) = village.jobs[0].most_messages
    fakes = most[0] - 8
    assert (fakes > 0, most[1]) == (True, 8 + 2 * fakes)
    row, size = nodes[0].rounds.all()[0], village.jobs[0].sizes[0]

    def manifest(hop, sent, bundles=8, left_out=0):
        pieces = (Piece(sha256(b"%d" % hop).hexdigest(), sent),)
        part = PartManifest(bundles, added=sent - bundles, pieces=pieces)
        before = None if hop == 1 else nodes[2].manifest_hash(row, 1)
        made = Manifest(row.sheet, hop, bundles, left_out, None, before, (part,))
        return sign_note(write_manifest(listed(made)), village.folders[hop - 1].signer)

    words = (
        "too-many-messages: part 0, expected at most the {} messages that the contract can produce"
    )
    assert refusal(nodes[1], manifest(1, most[0] + 1)) == (
        Problem.NOT_AGREED,
        words.format(most[0]),
    )
    for bundles in ((9,), (8, 1)):
        why = refusal(nodes[1], manifest(1, most[0], *bundles))
        assert (why[0], why[1].split(":")[0]) == (Problem.NOT_AGREED, "too-many-bundles")
    assert nodes[1].pieces._named == {}
    for node in nodes[1:]:
        assert node.take_note(manifest(1, most[0]), 0) is None
    assert set(nodes[1].pieces._named.popitem()[1].values()) == {most[0] * size[1]}
    assert refusal(nodes[2], manifest(2, most[1] + 1)) == (
        Problem.NOT_AGREED,
        words.format(most[1]),
    )
    assert nodes[2].take_note(manifest(2, most[1]), 0) is None
    for node in nodes:
        node.close()


def test_two_rounds_are_not_promised_the_same_disk(village, nodes, monkeypatch):
    village.agreed(nodes, 2)
    first, second = nodes[0].rounds.all()
    notes = [batch(village, nodes, 20, sheet=one.sheet) for one in (first, second)]
    monkeypatch.setattr(node_disk, "free_bytes", lambda _: 30 * MOST_PIECE_BYTES)
    assert nodes[1].take_note(notes[0], 0) is None
    assert nodes[1].take_note(notes[0], 0) is None  # its own space is not taken twice
    found = refusal(nodes[1], notes[1])
    assert found[0] is Problem.NO_ROOM
    assert "this and other rounds" in found[1]
    nodes[1].pieces.forget(first.folder)
    assert nodes[1].take_note(notes[1], 0) is None
