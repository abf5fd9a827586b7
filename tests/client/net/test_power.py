"""The power is cut under a diary: what left is in it with its charge, and what it said is so."""

import shutil
from random import Random

import pytest

from helpers.devices import NOW, OPEN, Words, World
from helpers.power_loss import Disk
from helpers.power_loss_watched import Once, full, unsynced, watched
from mixtally.device.client.net import BundleState, Diary, PostResult, deliver, prepare
from mixtally.errors import DataError

WORLD = World()
ROUNDS = (1, 2, 3)


def round_of(number):
    """A round of its own window, and the time at which it begins."""
    opens = NOW + (number - 1) * OPEN
    return WORLD.round(number, now=opens, opens=opens), opens


def kept(place, pragmas=None, fail=None):
    """A device that takes part in three rounds; (when, round, what was so from then on, bytes)."""
    place.mkdir()
    disk, said, statuses = Disk(place), [], [None, 503, 201, 201, None, 410]
    disk.fail = fail or disk.fail

    def tell(number, what, body=None):
        said.append((len(disk.ops), number, what, body))

    with watched(disk, pragmas), Diary(place / "diary.db") as diary:
        for number in ROUNDS:
            given, now = round_of(number)
            entry = prepare(diary, given, "yes", Words(number), now, at_once=True)
            tell(number, "entered", diary.bundle(entry))

            def ask(address, path, body, number=number):
                tell(number, "left", body)
                return PostResult(statuses.pop(0))

            while entry.is_pending:
                entry = deliver(diary, entry, entry.due, ask=ask)
            tell(number, entry.state)
    return disk, said


def check_cuts(disk, said, place, count, seed):
    chance = Random(seed)
    for cut, image in disk.images(place, disk.cuts(count, chance), chance):
        with Diary(image / "diary.db") as diary:
            entries = {entry.round: entry for entry in diary.entries()}
            assert bool(diary.charges()) == bool(entries), (seed, cut)
            for at, number, what, body in said:
                if at > cut:
                    continue
                entry = entries[number]
                if what == "left":
                    assert entry.tries, (seed, cut)
                if body is None:
                    assert (entry.state, diary.bundle(entry)) == (what, None), (seed, cut)
                elif entry.is_pending:
                    assert diary.bundle(entry) == body, (seed, cut)
        shutil.rmtree(image)


@pytest.mark.parametrize("count", [40, pytest.param(None, marks=pytest.mark.seconds)])
def test_what_left_is_charged_after_every_cut(tmp_path, count):
    disk, said = kept(tmp_path / "device")
    assert [what for _, _, what, _ in said].count("left") == 6
    assert {what for _, _, what, _ in said} == {
        "entered",
        "left",
        BundleState.TAKEN,
        BundleState.REFUSED,
    }
    check_cuts(disk, said, tmp_path / "cuts", count, seed=1)


@pytest.mark.parametrize("synchronous", ["OFF", "NORMAL"])
def test_without_a_sync_it_is_not(tmp_path, synchronous):
    planted = {"PRAGMA synchronous = FULL": f"PRAGMA synchronous = {synchronous}"}
    disk, said = kept(tmp_path / "device", planted)
    with pytest.raises((AssertionError, KeyError)):
        check_cuts(disk, said, tmp_path / "cuts", 60, seed=1)


@pytest.mark.parametrize(("kind", "error"), [("sync", unsynced), ("write", full)])
def test_a_disk_that_refuses_is_told_and_nothing_leaves_uncharged(tmp_path, kind, error):
    """Wherever it fails, what had left until then is in the diary."""
    count, refused = Once(kind, -1, error), 0
    kept(tmp_path / "whole", fail=count)
    for number in range(count.seen):
        place, sent = tmp_path / f"{number}", []
        place.mkdir()
        disk = Disk(place)
        disk.fail = Once(kind, number, error)
        given, now = round_of(1)

        def ask(address, path, body, sent=sent):
            sent.append(body)
            return PostResult(201)

        with watched(disk):
            try:
                with Diary(place / "diary.db") as diary:
                    entry = prepare(diary, given, "yes", Words(1), now, at_once=True)
                    deliver(diary, entry, now, ask=ask)
            except DataError:
                refused += 1
        with Diary(disk.image(tmp_path / f"cut-{number}", Random(number)) / "diary.db") as diary:
            assert bool(diary.charges()) == bool(diary.entries())
            assert diary.charges() or not sent
            entry = prepare_again(diary, given, now)
            bundle = diary.bundle(entry)
            assert bundle in (None, *sent) or not sent
    assert refused > 3


def prepare_again(diary, given, now):
    """The entry of the round: the one there is, or a new one."""
    entry = diary.find(given.contract.name, given.sheet.round)
    return entry or prepare(diary, given, "no", Words(2), now, at_once=True)
