"""The power is cut under a mix's intake: every acknowledged body is there, whole and once."""

import asyncio
import shutil
from collections import Counter
from random import Random

import pytest

from disks import Disk, Once
from disks_watched import unsynced, watched
from mixtally.errors import DataError
from mixtally.mixnode.intake import Intake, taken_bodies
from mixtally.node import ProblemError

GROUPS = [[300] * 5, [40_000] * 7, [900_000] * 3, [20], [1_500_000] * 3, [5000] * 20, [400] * 3]
"""Bytes of bodies that come together: SQLite moves its log into the file meanwhile."""


def taken(place, pragmas=None, groups=GROUPS, fail=None):
    """An intake that took groups of bodies: the disk, when each was acknowledged, what stopped."""
    place.mkdir()
    disk, told, stopped, chance = Disk(place), {}, [], Random(1)
    disk.fail = fail or disk.fail

    async def answer(intake, body):
        try:
            await intake.put("round", body, asyncio.get_running_loop())
        except ProblemError:
            told[body] = None
        else:
            told[body] = len(disk.ops)

    async def send(intake, sizes):
        await asyncio.gather(*(answer(intake, chance.randbytes(size)) for size in sizes))

    with watched(disk, pragmas):
        intake = Intake(place, stopped.append)
        try:
            intake.open("round")
            for sizes in groups:
                asyncio.run(send(intake, sizes))
        finally:
            intake.end()
    return disk, told, stopped


def check_cuts(disk, told, place, count, seed):
    chance = Random(seed)
    for cut, image in disk.images(place, disk.cuts(count, chance), chance):
        held = Counter(taken_bodies(image / "round"))
        assert not held or set(held.values()) == {1}, (seed, cut)
        assert set(held) <= set(told), (seed, cut)
        acknowledged = {body for body, at in told.items() if at is not None and at <= cut}
        assert acknowledged <= set(held), (seed, cut)
        shutil.rmtree(image)


def test_what_was_acknowledged_survives_every_cut(tmp_path):
    disk, told, _ = taken(tmp_path / "mix")
    check_cuts(disk, told, tmp_path / "cuts", 30, seed=1)


@pytest.mark.parametrize("synchronous", ["OFF", "NORMAL"])
def test_without_a_sync_it_does_not(tmp_path, synchronous):
    planted = {"PRAGMA synchronous=FULL": f"PRAGMA synchronous={synchronous}"}
    disk, told, _ = taken(tmp_path / "mix", planted)
    with pytest.raises(AssertionError):
        check_cuts(disk, told, tmp_path / "cuts", 30, seed=1)


def test_nothing_is_acknowledged_after_a_sync_that_failed(tmp_path):
    few = [[300] * 3, [40] * 2, [20]]
    whole, told, stopped = taken(tmp_path / "whole", groups=few)
    assert not stopped
    assert all(told.values())
    syncs = sum(op.kind == "sync" for op in whole.ops[whole.start :])
    ended = 0
    for number in range(syncs):
        place = tmp_path / str(number)
        try:
            disk, told, stopped = taken(place, groups=few, fail=Once("sync", number, unsynced))
        except DataError:  # before it took anything
            continue
        ended += bool(stopped)
        answers = [at is not None for at in told.values()]
        assert answers == sorted(answers, reverse=True)
        assert all(answers) or len(stopped) == 1
        check_cuts(disk, told, tmp_path / f"cuts-{number}", 5, seed=number)
    assert ended >= len(few)
