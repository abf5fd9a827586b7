"""The power is cut under a mix's intake: every acknowledged body is there, whole and once."""

import asyncio
import shutil
from collections import Counter
from contextlib import suppress
from random import Random

import pytest

from helpers.mixes import Town
from helpers.power_loss import Disk, of_database
from helpers.power_loss_watched import Once, unsynced, watched
from mixtally.errors import DataError
from mixtally.server.mix.intake import Intake, read_bodies
from mixtally.server.node.database import Database
from mixtally.server.node.refusal import ProblemError

GROUPS = [[300] * 5, [40_000] * 7, [900_000] * 3, [20], [1_500_000] * 3, [5000] * 20, [400] * 3]
"""Bytes of bodies that come together: SQLite moves its log into the file meanwhile."""


def taken(place, pragmas=None, groups=GROUPS, fail=None):
    """An intake that took groups of bodies: the disk, when each was acknowledged, what stopped."""
    place.mkdir()
    disk, told, stopped, chance = Disk(place), {}, [], Random(1)
    disk.fail = fail or disk.fail

    async def send(intake, sizes):
        bodies, loop = (
            [body_of(chance.randbytes(size)) for size in sizes],
            asyncio.get_running_loop(),
        )
        told.update(dict.fromkeys(bodies))
        with suppress(ProblemError):
            # The writer must find a whole group: each run then syncs the same files in turn.
            with intake._turn:
                futures = [intake.put("round", body, loop) for body in bodies]
            await asyncio.gather(*map(answer, bodies, futures))

    async def answer(body, future):
        with suppress(ProblemError):
            await future
            told[body] = len(disk.ops)

    with watched(disk, pragmas):
        intake = Intake(place, stopped.append)
        try:
            intake.open("round", 10**6, 1)
            for sizes in groups:
                asyncio.run(send(intake, sizes))
        finally:
            intake.end()
    return disk, told, stopped


def body_of(data):
    """A body that says how long it is: rows hold several, joined."""
    return len(data).to_bytes(4) + data


def bodies_in(folder):
    """Those that were taken; the last one is shorter than it says where a row is not whole."""
    for row in read_bodies(folder):
        at = 0
        while at < len(row):
            end = at + 4 + int.from_bytes(row[at : at + 4])
            yield row[at:end]
            at = end


def check_cuts(disk, told, place, count, seed):
    chance = Random(seed)
    for cut, image in disk.images(place, disk.cuts(count, chance), chance):
        held = Counter(bodies_in(image / "round"))
        assert not held or set(held.values()) == {1}, (seed, cut)
        assert set(held) <= set(told), (seed, cut)
        acknowledged = {body for body, at in told.items() if at is not None and at <= cut}
        assert acknowledged <= set(held), (seed, cut)
        shutil.rmtree(image)


@pytest.mark.parametrize("count", [12, pytest.param(120, marks=pytest.mark.seconds)])
def test_what_was_acknowledged_survives_every_cut(tmp_path, count):
    disk, told, _ = taken(tmp_path / "mix")
    check_cuts(disk, told, tmp_path / "cuts", count, seed=1)


@pytest.mark.parametrize("synchronous", ["OFF", "NORMAL"])
def test_without_a_sync_it_does_not(tmp_path, synchronous):
    planted = {"PRAGMA synchronous=FULL": f"PRAGMA synchronous={synchronous}"}
    disk, told, _ = taken(tmp_path / "mix", planted)
    with pytest.raises(AssertionError):
        check_cuts(disk, told, tmp_path / "cuts", 12, seed=1)


def test_nothing_is_acknowledged_after_a_sync_that_failed(tmp_path):
    few = [[300] * 3, [40] * 2, [20]]
    whole, told, stopped = taken(tmp_path / "whole", groups=few)
    assert not stopped
    assert all(told.values())
    syncs = [op for op in whole.ops[whole.start :] if op.kind == "sync"]
    ended = 0
    for number, sync in enumerate(syncs):
        place = tmp_path / str(number)
        try:
            disk, told, stopped = taken(place, groups=few, fail=Once("sync", number, unsynced))
        except DataError:  # before it took anything
            continue
        ended += bool(stopped)
        assert sync.path in [op.path for op in disk.ops if op.kind == "failed"]
        answers = [at is not None for at in told.values()]
        if of_database(sync.path):
            assert answers == sorted(answers, reverse=True)
            assert all(answers) or len(stopped) == 1
        else:  # the disk was full when the quota was written: later bundles are taken
            assert (answers[-1], stopped) == (True, [])
        check_cuts(disk, told, tmp_path / f"cuts-{number}", 5, seed=number)
    assert ended >= len(few)


def test_a_receipt_waits_until_the_names_of_pieces_are_safe(tmp_path):
    """A round moves on while a piece has its name already and the folder is not synced yet."""
    town = Town(tmp_path, hops=2)
    place, left = town.folders[1].path, []

    def meanwhile(op):
        named = list(place.glob("rounds/*/in-*"))
        if op.kind == "settle" and op.path.parts[:1] == ("rounds",) and named and not left:
            left.append("begun")
            node = town.mixes[1].node
            (row,) = node.rounds.all()
            assert node.count_missing(row) == 1  # it is none that came before it is safe
            node.sign_receipt(row, node.preceding_manifest(row)[0])
            left[:] = [disk.image(tmp_path / str(seed), Random(seed)) for seed in range(8)]

    disk = Disk(place)
    with watched(disk):
        town.all_awake()
        town.round()
        for number in range(2):
            assert town.send(town.bundle([bytes([number])])).status == 201
        town.close()
        disk.fail = meanwhile
        town.tick()
        town.end()
    assert len(left) == 8
    for image in left:
        database = Database(image / "node.db")
        assert database.rows("SELECT * FROM notes WHERE kind = 'receipt'")
        assert list(image.glob("rounds/*/in-*"))
        database.close()
