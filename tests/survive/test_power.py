"""The power of every role is cut at any moment of a collection; it goes on with what is left."""

from random import Random

import pytest

from helpers.role_processes import Fault
from helpers.sampled import exhaustive
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


def cut(chance, seed, count):
    """Once, at any moment."""
    return [Fault(cut=moment(chance, count), seed=seed)]


def killed_and_cut(chance, seed, count):
    """Killed at some moment, and its power cut soon after it has begun again."""
    return [
        Fault(cut=moment(chance, count), watched=True), Fault(cut=chance.randrange(30), seed=seed)
    ]  # fmt: skip


def unsynced(chance, seed, count):
    """A sync fails, which ends it; and its power is cut."""
    return [Fault(unsynced=chance.randrange(count["sync"]), seed=seed)]


def moment(chance, count):
    return chance.randrange(int(EARLY * count.total()))


def test_the_power_of_all_is_cut(tmp_path):
    moments = {"mix-1": 180, "mix-2": 150, "mix-3": 170, "collector": 140, "devices": 200}
    played(tmp_path / "one", {name: [Fault(cut=at)] for name, at in moments.items()})


@pytest.mark.seconds
@pytest.mark.parametrize("share", [0, *exhaustive(range(1, SHARES))])
@pytest.mark.parametrize(
    ("fault", "least", "first"), [(cut, 5, 100), (killed_and_cut, 7, 0), (unsynced, 2, 0)]
)
def test_it_happens_to_every_role_at_any_moment(tmp_path, ops, share, fault, least, first):
    for seed in range(first + share, first + RUNS, SHARES):
        chance = Random(seed)
        faults = {name: fault(chance, seed, count) for name, count in ops.items()}
        played(tmp_path / str(seed), faults, least)
