"""The power of every role is cut at any moment of a collection; it goes on with what is left."""

from random import Random

import pytest

from helpers.role_processes import Fault
from helpers.whole_collection import Stage, check

RUNS, SHARES = 8, 2
EARLY = 0.9
"""Of the operations of a story without faults: the last few are not always needed."""


@pytest.fixture(scope="module")
def ops(shelf):
    """The operations of each role on its disk when nothing happens, by their kinds."""
    place = shelf / "whole"
    names = ["mix-1", "mix-2", "mix-3", "collector", "devices"]
    faults = {name: [Fault(watched=True)] for name in names}
    stage = Stage(place, faults=faults, beside=False)
    stage.play()
    found = {name: stage.steps(name) for name in stage.specs}
    check(stage)
    return {name: count for name, (_, _, count) in found.items()}


def played(place, faults, least=5):
    """A collection in which that happens."""
    stage = Stage(place, faults=faults, beside=False)
    try:
        stage.play()
        assert len(stage.ended) >= least, stage.ended
        check(stage)
    except BaseException as error:
        error.add_note(str(faults))
        raise
    finally:
        stage.end()


def cut_once(ops, seed):
    """Every role once, at a moment of its own."""
    chance = Random(seed)
    return {
        name: [Fault(cut=chance.randrange(int(EARLY * count.total())), seed=seed)]
        for name, count in ops.items()
    }


def test_the_power_of_all_is_cut(tmp_path):
    moments = {"mix-1": 180, "mix-2": 150, "mix-3": 170, "collector": 140, "devices": 200}
    played(tmp_path / "one", {name: [Fault(cut=at)] for name, at in moments.items()})


@pytest.mark.seconds
@pytest.mark.parametrize("share", range(SHARES))
def test_the_power_of_all_is_cut_at_any_moment(tmp_path, ops, share):
    for seed in range(100 + share, 100 + RUNS, SHARES):
        played(tmp_path / str(seed), cut_once(ops, seed))


def killed_and_cut(ops, seed):
    """Every role is killed at some moment, and its power cut soon after it has begun again."""
    chance = Random(seed)
    return {
        name: [
            Fault(cut=chance.randrange(int(EARLY * count.total())), watched=True),
            Fault(cut=chance.randrange(30), seed=seed),
        ]
        for name, count in ops.items()
    }


@pytest.mark.seconds
@pytest.mark.parametrize("share", range(SHARES))
def test_killed_and_then_the_power_is_cut(tmp_path, ops, share):
    for seed in range(share, RUNS, SHARES):
        played(tmp_path / str(seed), killed_and_cut(ops, seed), least=7)


def unsynced_once(ops, seed):
    """A sync of every role fails, which ends it; and its power is cut."""
    chance = Random(seed)
    return {
        name: [Fault(unsynced=chance.randrange(count["sync"]), seed=seed)]
        for name, count in ops.items()
    }


@pytest.mark.seconds
@pytest.mark.parametrize("share", range(SHARES))
def test_a_sync_fails(tmp_path, ops, share):
    for seed in range(share, RUNS, SHARES):
        played(tmp_path / str(seed), unsynced_once(ops, seed), least=2)
