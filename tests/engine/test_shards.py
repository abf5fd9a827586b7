"""Shards become one tally: each counted once, in any order, by whoever is there."""

import shutil

import numpy as np
import pyarrow as pa
import pytest

from engine.shards import LAYOUT, PLAN, foreign, put, rows_of
from mixtally.errors import DataError, MessageError
from mixtally.protocol.tally.fold import tally_messages
from mixtally.server.engine.shards import fold as folding
from mixtally.server.engine.shards.fold import fold
from mixtally.server.engine.store_folder import list_files_at, to_url


def some(place, number=4):
    return [
        put(place / f"{i}.parquet", rows_of(100 + i, i), batch="b", number=i) for i in range(number)
    ]


def whole(number=4):
    rows = np.concatenate([rows_of(100 + i, i) for i in range(number)])
    return tally_messages(LAYOUT, rows)


def same(found, wanted):
    return (found.tally.messages, found.tally.counts.tolist()) == (
        wanted.messages,
        wanted.counts.tolist(),
    )


def test_the_tally_is_that_of_all_messages_in_any_order(tmp_path):
    urls = some(tmp_path)
    told = []
    made = fold(urls, LAYOUT, PLAN, progress=lambda *step: told.append(step))
    assert same(made, whole())
    assert same(fold(urls[::-1], LAYOUT, PLAN), whole())
    assert told[-1] == ("tally", 406, 406)
    assert (made.repeated, made.lost, made.dropped) == ((), (), {})


@pytest.mark.seconds
def test_other_processes_count_the_same(tmp_path):
    assert same(fold(some(tmp_path), LAYOUT, PLAN, processes=2), whole())


def test_files_of_others_are_read_too(tmp_path):
    rows = rows_of(30)
    listed = [row.tobytes() for row in rows]
    fixed = foreign(tmp_path / "fixed.parquet", pa.array(listed, pa.binary(3)))
    loose = foreign(tmp_path / "loose.parquet", pa.array(listed, pa.large_binary()))
    table = pa.table({"message": pa.array(listed, pa.binary(3)), "other": pa.array([1] * 30)})
    with pa.ipc.new_file(str(tmp_path / "ipc.arrow"), table.schema) as out:
        out.write_table(table.slice(0, 10))
        out.write_table(table.slice(10))
    made = fold([fixed, loose, (tmp_path / "ipc.arrow").as_uri()], LAYOUT, PLAN)
    assert made.tally.counts.tolist() == (3 * tally_messages(LAYOUT, rows).counts).tolist()


def test_a_folder_holds_its_shards_alone(tmp_path):
    (tmp_path / "simulation").mkdir()
    (tmp_path / "simulation" / "batch.json").write_text("{}")
    urls = some(tmp_path)
    assert list_files_at(to_url(str(tmp_path)), (".parquet",)) == urls
    assert list_files_at(urls[0], (".parquet",)) == urls[:1]
    with pytest.raises(DataError, match="nothing there"):
        list_files_at(to_url(str(tmp_path / "none")), (".parquet",))
    with pytest.raises(DataError, match="place that can be read"):
        list_files_at("nosuch://place", (".parquet",))


def test_a_space_in_a_name(tmp_path):
    (tmp_path / "a b").mkdir()
    put(tmp_path / "a b" / "c d.parquet", rows_of(10))
    (url,) = list_files_at(to_url(str(tmp_path / "a b")), (".parquet",))
    assert fold([url], LAYOUT, PLAN).tally.messages == 10


def test_what_is_kept_is_not_counted_again(tmp_path, monkeypatch):
    urls = some(tmp_path)
    keep = tmp_path / "kept"
    first = fold(urls[:2], LAYOUT, PLAN, keep=keep)
    counted, count = [], folding.count_shard

    def counting(shard, layout):
        counted.append(shard)
        return count(shard, layout)

    monkeypatch.setattr(folding, "count_shard", counting)
    assert same(fold(urls, LAYOUT, PLAN, keep=keep), whole())
    assert counted == urls[2:]
    assert first.tally.messages == 201
    put(tmp_path / "0.parquet", rows_of(50, 9), batch="b", number=0)  # the input has changed
    again = fold(urls, LAYOUT, PLAN, keep=keep)
    assert counted == [*urls[2:], urls[0]]
    assert again.tally.messages == 406 - 100 + 50


def test_a_kept_tally_that_is_torn(tmp_path):
    urls, keep = some(tmp_path), tmp_path / "kept"
    fold(urls, LAYOUT, PLAN, keep=keep)
    next(keep.iterdir()).write_bytes(b"{")
    with pytest.raises(DataError, match="a tally stored by mixtally"):
        fold(urls, LAYOUT, PLAN, keep=keep)


def test_a_shard_twice_is_counted_once(tmp_path):
    urls = some(tmp_path)
    shutil.copy(tmp_path / "0.parquet", tmp_path / "copy.parquet")
    made = fold([*urls, (tmp_path / "copy.parquet").as_uri()], LAYOUT, PLAN)
    assert same(made, whole())
    assert made.repeated == ((tmp_path / "copy.parquet").as_uri(),)


def test_two_shards_that_claim_to_be_one(tmp_path):
    urls = some(tmp_path)
    other = put(tmp_path / "other.parquet", rows_of(100, 77), batch="b", number=0)
    with pytest.raises(MessageError, match="the messages of shard 0 of batch 'b'"):
        fold([*urls, other], LAYOUT, PLAN)


def test_shards_of_two_plans(tmp_path):
    other = put(tmp_path / "other.parquet", rows_of(10), plan="b2" * 32)
    with pytest.raises(MessageError, match="some made under b2b2b2b2b2b2b2b2"):
        fold([*some(tmp_path), other], LAYOUT, PLAN)


def test_no_messages_and_no_shards(tmp_path):
    empty = put(tmp_path / "none.parquet", rows_of(0), batch="b", number=0)
    assert fold([empty], LAYOUT, PLAN).tally.messages == 0
    assert fold([], LAYOUT, PLAN).tally.messages == 0


def _flipped(path, at):
    data = bytearray(path.read_bytes())
    data[at] ^= 0x04
    path.write_bytes(data)


def _null(path):
    foreign(path, pa.array([b"abc", None], pa.binary(3)))


CORRUPT = {
    "cut off": lambda path: path.write_bytes(path.read_bytes()[:-9]),
    "empty": lambda path: path.write_bytes(b""),
    "another kind of file": lambda path: path.write_bytes(b"a,b\n1,2\n"),
    "a flipped bit": lambda path: _flipped(path, 60),
    "a row without a message": _null,
    "gone": lambda path: path.unlink(),
}


@pytest.mark.parametrize("name", CORRUPT)
def test_a_corrupt_shard_is_named_and_the_rest_is_counted(tmp_path, name):
    urls = some(tmp_path)
    lost = tmp_path / "lost.parquet"
    put(lost, rows_of(64, 5), batch="b", number=9)
    CORRUPT[name](lost)
    made = fold([*urls, lost.as_uri()], LAYOUT, PLAN)
    assert same(made, whole())
    assert [one.shard for one in made.lost] == [lost.as_uri()]
    assert made.lost[0].reason.startswith(lost.as_uri())


WRONG = {
    "no such column": (lambda rows: pa.array(rows, pa.binary(3)), "text", "one column 'message'"),
    "numbers": (lambda rows: pa.array([1] * len(rows)), "message", "a column 'message' of bytes"),
    "another length": (
        lambda rows: pa.array([row + b"\0" for row in rows], pa.binary(4)),
        "message",
        "messages of 3 bytes, got 4 bytes",
    ),
    "several lengths": (
        lambda rows: pa.array([*rows[1:], b"abcd"], pa.binary()),
        "message",
        "messages of 3 bytes, got lengths of 3, 4",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_shard_of_this_plan(tmp_path, name):
    column, named, said = WRONG[name]
    listed = [row.tobytes() for row in rows_of(20)]
    url = foreign(tmp_path / "foreign.parquet", column(listed), named)
    with pytest.raises(MessageError, match=said):
        fold([*some(tmp_path), url], LAYOUT, PLAN)


def test_impossible_messages_are_dropped_and_said_to_be(tmp_path):
    rows = rows_of(20)
    rows[3, 2] |= 0x80  # a bin past the last
    made = fold([foreign(tmp_path / "f.parquet", _binary(rows))], LAYOUT, PLAN)
    assert made.dropped == {"a bin past the last": 1}
    assert made.tally.messages == 19


def _binary(rows):
    return pa.array([row.tobytes() for row in rows], pa.binary(3))


def test_a_footer_that_counts_other_rows(tmp_path, monkeypatch):
    """A reader that gives fewer rows than the footer says: a store that cut the file short."""
    from mixtally.server.engine.shards import shard

    urls, parquet = some(tmp_path), shard._parquet

    from contextlib import contextmanager

    @contextmanager
    def short(file):
        with parquet(file) as (schema, metadata, messages, batches):
            yield schema, metadata, messages + 1, batches

    monkeypatch.setattr(shard, "_parquet", short)
    made = fold(urls, LAYOUT, PLAN)
    assert len(made.lost) == 4
    assert "the 101 messages of its footer, got 100" in made.lost[0].reason


def test_a_full_disk_while_tallies_are_kept(tmp_path, monkeypatch):
    import os

    urls, keep = some(tmp_path), tmp_path / "kept"

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DataError, match="no space left"):
        fold(urls, LAYOUT, PLAN, keep=keep)
    monkeypatch.undo()
    assert same(fold(urls, LAYOUT, PLAN, keep=keep), whole())
