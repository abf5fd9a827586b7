"""The power is cut while files are written, named and destroyed: they are whole, or not there."""

import shutil
from bisect import bisect_right
from pathlib import Path
from random import Random

import pytest

from helpers.power_loss import Disk
from helpers.power_loss_watched import Once, watched
from helpers.roles_in_folders import Village
from mixtally.errors import DataError
from mixtally.server.node import disk as files

A, B = b"a" * 3000, b"b" * 2000


def put_down(disk):
    """Files of every way there is; (path, what may be there) -> when that became so."""
    place, told = disk.root, {}

    def now(path, *wanted):
        told[path] = [*told.get(path, [(0, [None])]), (len(disk.ops), [*wanted])]

    with watched(disk):
        for data in (A, B, A):
            files.put(place / "file", data, "a file")
            now("file", data)
        files.make_folder(place / "folder")
        now("folder", "a folder")
        files.make_file(place / "folder" / "empty")
        now("folder/empty", b"")
        files.put(place / "folder" / "key", B, "a key")
        now("folder/key", B)
        files.destroy(place / "folder" / "key")
        now("folder/key", None)
        files.remove_folder(place / "folder")
        now("folder", None)
        now("folder/empty", None)
    return told


def check_files(disk, told, place, seed):
    """Each is as it was when the last call returned, or as the next one makes it."""
    chance = Random(seed)
    for cut, image in disk.images(place, disk.cuts(None, chance), chance):
        for name, states in told.items():
            path = image / name
            found = "a folder" if path.is_dir() else path.read_bytes() if path.exists() else None
            last = bisect_right([at for at, _ in states], cut) - 1
            allowed = [one for _, some in states[last : last + 2] for one in some]
            torn = name == "folder/key" and last == 1 and found is not None
            away = name.startswith("folder/") and None in [
                one for _, some in states[last:] for one in some
            ]
            assert found in allowed or torn or (away and found is None), (seed, cut, name)
        shutil.rmtree(image)


@pytest.mark.parametrize("seed", range(3, 8))
def test_a_file_is_whole_after_every_cut(tmp_path, seed):
    (tmp_path / "role").mkdir()
    disk = Disk(tmp_path / "role")
    check_files(disk, put_down(disk), tmp_path / "cuts", seed)


@pytest.mark.parametrize("kind", ["sync", "settle"])
def test_without_the_sync_of_a_file_or_a_folder_it_is_not(tmp_path, monkeypatch, kind):
    (tmp_path / "role").mkdir()
    disk = Disk(tmp_path / "role")
    do = disk.do
    monkeypatch.setattr(disk, "do", lambda op: op.kind == kind or do(op))
    told = put_down(disk)
    with pytest.raises(AssertionError):
        check_files(disk, told, tmp_path / "cuts", 3)


@pytest.mark.parametrize("kind", ["sync", "settle", "move"])
def test_a_file_that_does_not_fit_leaves_the_one_before(tmp_path, kind):
    (tmp_path / "role").mkdir()
    disk = Disk(tmp_path / "role")
    with watched(disk):
        files.put(tmp_path / "role" / "file", A, "a file")
        disk.fail = Once(kind, 0, None)
        with pytest.raises((DataError, OSError)) as caught:
            files.put(tmp_path / "role" / "file", B, "a file")
        assert files.is_full(caught.value) == (kind != "settle")  # names are seen already
        assert (tmp_path / "role" / "file").read_bytes() == (B if kind == "settle" else A)
        assert [path.name for path in (tmp_path / "role").iterdir()] == ["file"]
        files.put(tmp_path / "role" / "file", B, "a file")
    assert (tmp_path / "role" / "file").read_bytes() == B


def test_a_role_that_begins_makes_safe_what_the_one_before_named(tmp_path):
    village = Village(tmp_path / "village", hops=1)
    key = Path("keys", "round-1.key")
    disk = Disk(village.folders[0].path)
    with watched(disk):
        village.node(1).close()
        disk.fail = Once("settle", 0, None)
        with pytest.raises(DataError):  # which ends it
            files.put(disk.root / key, B, "a key")
        village.node(1).close()
    for seed in range(8):
        image = disk.image(tmp_path / str(seed), Random(seed))
        assert (image / key).read_bytes() == B
