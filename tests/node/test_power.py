"""The power is cut under a role's files: what was acknowledged is there, and nothing by halves."""

import shutil
from bisect import bisect_right
from random import Random

import pytest

from helpers.power_loss import Disk, goes
from helpers.power_loss_watched import Once, full, unsynced, watched
from mixtally.errors import DataError
from mixtally.server.node import disk as files
from mixtally.server.node.database import Database

SIZES = [100, 5000, 300_000, 40, 700_000, 9000] * 4 + [3_000_000] + [100, 300_000, 20] * 6
"""Bytes of transactions: SQLite moves its log into the file several times, once within one."""


def held_by(database):
    """All that the test put there."""
    return (
        database.rows("SELECT * FROM slots ORDER BY slot"),
        database.rows("SELECT hash, note FROM notes ORDER BY hash"),
    )


def more(open_, number, size):
    """A transaction of several tables, which takes away what an earlier one put there."""
    chance = Random(number)
    for slot in range(1 + number % 3):
        open_.execute("INSERT INTO slots VALUES ('me', ?, 'x')", (f"{number}-{slot}",))
    note = chance.randbytes(size)
    open_.execute("INSERT INTO notes VALUES (?, 'k', 'c', 1, 1, ?)", (f"{number}", note))
    open_.execute("DELETE FROM notes WHERE hash = ?", (f"{number - 4}",))
    open_.execute("DELETE FROM slots WHERE slot LIKE ?", (f"{number - 5}-%",))


def filled(place, pragmas=None):
    """A database after many transactions: the disk, what it held after each, and when."""
    place.mkdir()
    disk, held, told = Disk(place), [], []
    with watched(disk, pragmas):
        database = Database(place / "node.db")
        for number, size in enumerate(SIZES):
            held.append(held_by(database))
            told.append(len(disk.ops))
            with database.transaction("more") as open_:
                more(open_, number, size)
        held.append(held_by(database))
        told.append(len(disk.ops))
        database.close()
    return disk, held, told


def check_cuts(disk, held, told, place, count, seed):
    """After each cut it holds what it held after the last acknowledged transaction, or the next."""
    chance = Random(seed)
    for cut, image in disk.images(place, disk.cuts(count, chance), chance):
        database = Database(image / "node.db")
        acknowledged = max(0, bisect_right(told, cut) - 1)
        assert held_by(database) in held[acknowledged : acknowledged + 2], (seed, cut)
        assert database.rows("PRAGMA integrity_check") == [("ok",)]
        database.close()
        shutil.rmtree(image)


def test_what_a_transaction_acknowledged_survives_every_cut(tmp_path):
    disk, held, told = filled(tmp_path / "role")
    moved = [op for op in disk.ops[disk.start :] if op.kind == "sync" and op.path.suffix == ".db"]
    assert len(moved) > 3  # the log was moved into the file while there were transactions
    check_cuts(disk, held, told, tmp_path / "cuts", 10, seed=1)


@pytest.mark.seconds
@pytest.mark.parametrize("seed", [2, 3])
def test_it_survives_many_cuts(tmp_path, seed):
    check_cuts(*filled(tmp_path / "role"), tmp_path / "cuts", 60, seed=seed)


@pytest.mark.parametrize("synchronous", ["OFF", "NORMAL"])
def test_without_a_sync_it_does_not(tmp_path, synchronous):
    planted = {"PRAGMA synchronous=FULL": f"PRAGMA synchronous={synchronous}"}
    with pytest.raises(AssertionError):
        check_cuts(*filled(tmp_path / "role", planted), tmp_path / "cuts", 10, seed=1)


FEW = [100, 5000, 4_500_000, 300, 20, 9000]


def tried(place, fail, *, again=False):
    """Transactions on a disk of which some operations ``fail``; what became of each.

    ``again``: the last one finds all as usual.
    """
    place.mkdir()
    disk, became = Disk(place), []
    disk.fail = fail
    with watched(disk):
        database = Database(place / "node.db")
        for number, size in enumerate(FEW):
            if number == len(FEW) - 1 and again:
                disk.fail = goes
            try:
                with database.transaction("more") as open_:
                    more(open_, number, size)
                became.append(None)
            except DataError as error:
                became.append(error)
        database.close()
    return disk, became


def survived(database):
    """The numbers of transactions that are there, whole: some take away what others put there."""
    slots, notes = held_by(database)
    assert {slot.split("-")[0] for _, slot, _ in slots} <= {
        str(number) for number in range(len(FEW))
    }
    for number in range(2, len(FEW)):
        there = [slot for _, slot, _ in slots if slot.startswith(f"{number}-")]
        assert (len(there) == 1 + number % 3) == (str(number) in dict(notes)), number
    return {int(number) for number, _ in notes}


def test_after_a_sync_that_failed_nothing_is_acknowledged(tmp_path):
    count = Once("sync", -1, unsynced)
    tried(tmp_path / "whole", count)
    ends = 0
    for number in range(count.seen):
        place = tmp_path / str(number)
        try:
            disk, became = tried(place, Once("sync", number, unsynced))
        except DataError:  # it could not even be opened
            continue
        answers = [error is None for error in became]
        assert answers == sorted(answers, reverse=True)
        ends += not all(answers)
        image = disk.image(tmp_path / f"cut-{number}", Random(number))
        database = Database(image / "node.db")
        there = survived(database) | {0, 1}
        good = {number for number, one in enumerate(answers) if one} | {0, 1}
        assert good <= there <= good | {len(good)}
        database.close()
    assert ends >= 5


@pytest.mark.parametrize("step", [700, pytest.param(60, marks=pytest.mark.seconds)])
def test_a_full_disk_is_told_and_works_again(tmp_path, step):
    count = Once("write", -1, full)
    tried(tmp_path / "whole", count)
    refused = 0
    for number in range(40, count.seen, step):
        place = tmp_path / str(number)
        fail = Once("write", number, full, lasting=3)
        disk, became = tried(place, fail, again=True)
        assert all(error is None or files.is_full(error) for error in became)
        assert became[-1] is None
        refused += became.count(None) < len(became)
        for whole in (place, disk.image(tmp_path / f"cut-{number}", Random(number))):
            database = Database(whole / "node.db")
            there = {number for number, error in enumerate(became) if error is None}
            assert survived(database) - {0, 1} == there - {0, 1}
            database.close()
    assert refused


def test_a_disk_that_cannot_keep_a_log_is_refused(tmp_path):
    planted = {"PRAGMA journal_mode=WAL": "PRAGMA journal_mode=DELETE"}
    with watched(Disk(tmp_path), planted), pytest.raises(DataError, match="without a log"):
        Database(tmp_path / "node.db")
