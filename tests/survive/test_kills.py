"""Every role is killed at every durable step, in processes of their own, and begins again.

Which steps there are is what a collection shows in which nothing happens. In each run every role is
killed once, at a step of its own, or finds its disk full there.
"""

import pytest

from helpers.role_processes import Fault
from helpers.sampled import among
from helpers.whole_collection import Stage, check

SHARES = 4
QUICK = [
    ("after intake", "after piece in", "after drawn", "after charge", "after share", "begun"),
    ("after drawn", "after sign receipt", "before sign manifest", "after tally", "after intake",
     "entered"),
    ("after sign manifest", "after shred", "after piece out", "after sign receipt",
     "after intake closed", "answered"),
]  # fmt: skip
NAMES = ("mix-1", "mix-2", "mix-3", "collector", "intake-1", "devices")
BEGINNING = ("tables", "sign contract")
"""Steps of a mix before it serves."""


@pytest.fixture(scope="module")
def steps(shelf):
    """The steps of each role in a collection in which nothing happens, and how often each is."""
    stage = Stage(shelf / "whole")
    stage.play()
    found = {name: stage.steps(name)[0] for name in stage.specs}
    check(stage)
    return found


def schedules(steps, *, later=False):
    """A step for every role, as often as the role with most steps has one.

    ``later``: not at the first time of a step but in the middle of all its times.
    """
    of_each = {
        name: [(step, 1 + count // 2 if later else 1) for step, count in seen.items()
               if count > later]
        for name, seen in steps.items()
    }  # fmt: skip
    for number in range(max(map(len, of_each.values()))):
        yield {name: some[number % len(some)] for name, some in of_each.items()}


@pytest.mark.seconds
def test_there_are_more_than_forty(steps):
    assert tuple(steps) == NAMES
    kinds = {(name.split("-")[0], step) for name, seen in steps.items() for step in seen}
    assert len(kinds) > 70
    assert sum(map(len, steps.values())) > 140


def played(place, faults):
    """A collection in which that happens to its first processes; how they ended."""
    stage = Stage(place, faults={name: [fault] for name, fault in faults.items()})
    try:
        stage.play()
        happened = {name for name in faults if stage.steps(name)[1]}
        happened.update(name for name, _ in stage.ended)
        assert happened == set(faults)
        check(stage)
    except BaseException as error:
        error.add_note(f"{faults}")
        raise
    finally:
        stage.end()
    return dict(stage.ended)


def killed(place, schedule):
    """All are killed."""
    ended = played(place, {name: Fault(*at) for name, at in schedule.items()})
    assert ended == dict.fromkeys(schedule)


def filled(place, schedule):
    """The disks of all roles are full once: who serves goes on, commands end."""
    faults = {name: Fault(*at, full=True) for name, at in schedule.items() if name in NAMES[:4]}
    for name in played(place, faults):
        assert name == "collector" or faults[name].step.split(" ", 1)[1] in BEGINNING


@pytest.mark.parametrize("steps_of_all", among(QUICK, QUICK[:2]))
def test_killed_at_some_steps(tmp_path, steps_of_all):
    killed(
        tmp_path / "all", {name: (step, 1) for name, step in zip(NAMES, steps_of_all, strict=True)}
    )


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("later", "share"),
    [
        *((False, share) for share in range(SHARES)),
        (True, 0),
        *(pytest.param(True, share, marks=pytest.mark.exhaustive) for share in range(1, SHARES)),
    ],
)
def test_killed_at_every_step(tmp_path, steps, share, later):
    for number, schedule in enumerate(list(schedules(steps, later=later))[share::SHARES]):
        killed(tmp_path / str(number), schedule)


@pytest.mark.seconds
@pytest.mark.parametrize("share", range(SHARES))
def test_full_at_every_step(tmp_path, steps, share):
    for number, schedule in enumerate(list(schedules(steps))[share::SHARES]):
        filled(tmp_path / str(number), schedule)
