"""Stores that lose, cut or refuse bytes: said, and nothing of it is used."""

import pytest

from mixtally.errors import DataError
from mixtally.server.engine import store_folder
from mixtally.server.engine.store_folder import StoreFolder


@pytest.fixture
def place(tmp_path):
    return StoreFolder(tmp_path.as_uri(), "round")


def test_what_was_written_is_read(place, tmp_path):
    some = place.put("one", b"abcdef")
    assert place.read_slice(some) == b"abcdef"
    part = some._replace(start=2, length=3, sha256=_hash(b"cde"))
    assert place.read_slice(part) == b"cde"
    place.clear()
    assert list(tmp_path.iterdir()) == []
    place.clear()  # nothing is there


def _hash(data):
    from hashlib import sha256

    return sha256(data).hexdigest()


def test_altered_bytes(place, tmp_path):
    some = place.put("one", b"abcdef")
    (tmp_path / "round" / "one").write_bytes(b"abcdeg")
    with pytest.raises(DataError, match="6 bytes that were written from 0 on, got others"):
        place.read_slice(some)


def test_a_file_that_was_cut_short(place, tmp_path):
    some = place.put("one", b"abcdef")
    (tmp_path / "round" / "one").write_bytes(b"abc")
    with pytest.raises(DataError, match="got 3"):
        place.read_slice(some)


def test_a_file_that_is_gone(place, tmp_path):
    some = place.put("one", b"abcdef")
    (tmp_path / "round" / "one").unlink()
    with pytest.raises(DataError, match="a place that can be read and written"):
        place.read_slice(some)


def test_no_such_kind_of_store():
    with pytest.raises(DataError, match="nosuch"):
        StoreFolder("nosuch://bucket/name", "round")


def test_a_store_that_is_a_file(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(DataError, match="place that can be read"):
        StoreFolder((tmp_path / "file").as_uri(), "round").put("one", b"a")


def test_a_path_becomes_a_url(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert store_folder.to_url("a b") == (tmp_path / "a b").as_uri()
    assert store_folder.to_url("s3://bucket/name") == "s3://bucket/name"
