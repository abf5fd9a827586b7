"""From pieces to tallies: spans, copies across pieces, pairs, several parts."""

import shutil
from hashlib import sha256

import numpy as np
import pytest

from engine.sealed import cluster_of
from helpers import contracts
from mixtally.device.wire.envelope import Sealer
from mixtally.device.wire.manifest import Manifest, PartManifest, Piece
from mixtally.device.wire.suite import SUITES
from mixtally.errors import DataError
from mixtally.model.question import Kind, Question
from mixtally.primitives.chance import SecureChance
from mixtally.server.collector.counting import CountingTask, can_count_pairs, count_batch
from mixtally.server.engine import folding, mixing
from mixtally.server.engine.engine import Engine
from mixtally.server.node.wrapping import secret_bytes

SHEET = "ab" * 32
BITS = Question(name="q", bins=12, kind=Kind.BITS)


def batch_of(place, plan, parts, *, split=10):
    """A batch of messages, a sequence for each part, in pieces of ``split`` envelopes."""
    contract = contracts.contract_of(plan)
    private, suite = secret_bytes(SecureChance(), 32), SUITES[1]
    hop = len(contract.hops) + 1
    sealer = Sealer(suite, [suite.configuration(private)], bytes.fromhex(SHEET), first=hop)
    said = []
    for number, messages in enumerate(parts):
        sealed = [sealer.seal(one, number) if len(one) < 40 else one for one in messages]
        pieces = []
        for start in range(0, len(sealed), split):
            data = b"".join(sealed[start : start + split])
            name = sha256(data).hexdigest()
            (place / f"in-{name}").write_bytes(data)
            pieces.append(Piece(name, len(sealed[start : start + split])))
        said.append(PartManifest(len(sealed), pieces=tuple(pieces)))
    manifest = Manifest(SHEET, hop - 1, 100, 0, None, None, tuple(said))
    return CountingTask(contract, "f" * 64, 1, place, private, SHEET, "d" * 64, manifest)


def test_spans_and_copies_across_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(mixing, "CHUNK", 7)
    plan = contracts.plan_of(Question(name="q", bins=4), [contracts.shaped(4)])
    batch = batch_of(tmp_path, plan, [[bytes([i % 4]) for i in range(25)]])
    whole = count_batch(batch).parts[0]
    assert (whole.came, whole.messages, whole.counts) == (25, 25, [7, 6, 6, 6])
    piece = batch.manifest.parts[0].pieces[0]
    data = (tmp_path / f"in-{piece.sha256}").read_bytes()
    again = data[49:98] + data[:49]
    name = sha256(again).hexdigest()
    (tmp_path / f"in-{name}").write_bytes(again)
    part = batch.manifest.parts[0]
    more = part._replace(received=27, pieces=(*part.pieces, Piece(name, 2)))
    found = count_batch(batch._replace(manifest=batch.manifest._replace(parts=(more,)))).parts[0]
    assert (found.came, found.messages) == (27, 25)
    assert found.counts == whole.counts
    assert found.dropped == {folding.COPY: 2}


@pytest.mark.seconds
def test_other_processes_open_the_same(tmp_path):
    plan = contracts.plan_of(Question(name="q", bins=4), [contracts.shaped(4)])
    batch = batch_of(tmp_path, plan, [[bytes([i % 7]) for i in range(3000)]])
    alone = count_batch(batch)
    assert alone.parts[0].messages < 3000  # three of seven numbers are no bins
    assert count_batch(batch._replace(engine=Engine(2))) == alone


@pytest.mark.seconds
@pytest.mark.skipif(shutil.which("java") is None, reason="no Java: Spark cannot be begun")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_cluster_counts_the_same(tmp_path):
    plan = contracts.plan_of(BITS, [contracts.flipped(12, most_set=None)])
    rows = np.array([[i * 7 % 256, i % 32] for i in range(80)], dtype=np.uint8)
    batch = batch_of(tmp_path, plan, [[row.tobytes() for row in rows]])
    alone = count_batch(batch)
    assert alone.parts[0].messages < 80  # half of them name a bin past the last
    assert count_batch(batch._replace(engine=Engine(0, cluster_of(tmp_path)))) == alone


def test_pairs_are_counted_where_messages_tell(tmp_path):
    plan = contracts.plan_of(BITS, [contracts.flipped(12, most_set=None)])
    rows = np.array([[i * 7 % 256, i % 16] for i in range(30)], dtype=np.uint8)
    (part,) = count_batch(batch_of(tmp_path, plan, [[row.tobytes() for row in rows]])).parts
    table = np.unpackbits(rows, axis=1, count=12, bitorder="little").astype(int)
    assert part.pairs == (table.T @ table).tolist()
    assert part.tally.pairs.tolist() == part.pairs


def test_which_messages_tell_pairs():
    one = Question(name="q", bins=12)
    assert can_count_pairs(BITS, [contracts.flipped(12, most_set=None)])
    assert not can_count_pairs(one, [contracts.flipped(12)])
    assert not can_count_pairs(BITS, [contracts.flipped(1, most_set=None)] * 12)
    wide = Question(name="q", bins=3000, kind=Kind.SET, max_set=2)
    assert not can_count_pairs(wide, [contracts.flipped(3000, most_set=2)])


def test_parts_are_streams_of_their_own(tmp_path):
    """An envelope of one part does not open in another."""
    question = Question(name="q", bins=2, kind=Kind.BITS)
    plan = contracts.plan_of(question, [contracts.shaped(2)] * 2)
    batch = batch_of(tmp_path, plan, [[b"\0", b"\1", b"\1"], [b"\1"]])
    first, second = count_batch(batch).parts
    assert (first.counts, second.counts) == ([1, 2], [0, 1])
    assert (first.pairs, second.pairs) == (None, None)
    swapped = batch.manifest._replace(parts=batch.manifest.parts[::-1])
    first, second = count_batch(batch._replace(manifest=swapped)).parts
    assert (first.dropped, second.dropped) == (
        {folding.UNOPENED: 1},
        {folding.UNOPENED: 3},
    )
    assert (first.counts, second.counts) == ([0, 0], [0, 0])


def test_a_piece_that_the_disk_has_altered(tmp_path):
    plan = contracts.plan_of(Question(name="q", bins=4), [contracts.shaped(4)])
    batch = batch_of(tmp_path, plan, [[b"\0"] * 3])
    (path,) = tmp_path.iterdir()
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(DataError, match="has changed or lost them"):
        count_batch(batch)


def test_nothing_of_the_key_is_printed(tmp_path):
    plan = contracts.plan_of(Question(name="q", bins=4), [contracts.shaped(4)])
    batch = batch_of(tmp_path, plan, [[b"\0"]])
    assert repr(batch) == f"CountingTask({tmp_path.name})"
