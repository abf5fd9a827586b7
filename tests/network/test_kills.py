"""Every role is killed at every durable step, in processes of their own, and begins again."""

from functools import cache

import pytest

from apart import Fault
from stage import Stage, check

SHARES = 4


@pytest.fixture(scope="module")
def steps(tmp_path_factory):
    """The steps of each role in a collection in which nothing happens, and how often each is."""
    stage = Stage(tmp_path_factory.mktemp("whole") / "all")
    stage.play()
    found = {name: stage.steps(name)[0] for name in stage.specs}
    stage.end()
    check(stage)
    return found


def rounds_of(steps, *, later):
    """Faults of every role at once, as often as the role with most steps has one.

    ``later``: not at the first time of a step but in the middle of all.
    """
    of_each = {
        name: [(step, 1 + count // 2 if later else 1) for step, count in seen.items() if count > later]
        for name, seen in steps.items()
    }
    for number in range(max(map(len, of_each.values()))):
        yield {name: some[number % len(some)] for name, some in of_each.items()}


def test_there_are_at_least_forty(steps):
    names = {(name.split("-")[0], step) for name, seen in steps.items() for step in seen}
    assert len(names) >= 60
    assert sum(map(len, steps.values())) >= 120


def killed(place, faults):
    """A collection in which each role is killed once."""
    stage = Stage(place, faults={name: [Fault(*at)] for name, at in faults.items()})
    try:
        stage.play()
        stage.end()
        check(stage)
        assert sorted(name for name, _ in stage.ended) == sorted(faults)
    except BaseException as error:
        error.add_note(f"killed at {faults}")
        raise
    finally:
        stage.end()


def test_killed_everywhere_at_once(tmp_path, steps):
    chosen = list(rounds_of(steps, later=False))[17]
    killed(tmp_path / "one", chosen)


@pytest.mark.seconds
@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize("share", range(SHARES))
def test_killed_at_every_step(tmp_path, steps, share, later):
    for number, faults in enumerate(list(rounds_of(steps, later=later))[share::SHARES]):
        killed(tmp_path / str(number), faults)


def filled(place, faults):
    """A collection in which the disk of each mix and of the collector is full once."""
    faults = {name: [Fault(*at, full=True)] for name, at in faults.items() if name != "devices"}
    stage = Stage(place, faults=faults)
    try:
        stage.play()
        ended = {name for name, _ in stage.ended}
        for name in faults:
            assert name in ended or stage.steps(name)[1], name
        stage.end()
        check(stage)
    except BaseException as error:
        error.add_note(f"full at {faults}")
        raise
    finally:
        stage.end()
    return stage.ended


def test_full_everywhere_at_once(tmp_path, steps):
    filled(tmp_path / "one", list(rounds_of(steps, later=False))[23])


@pytest.mark.seconds
@pytest.mark.parametrize("share", range(SHARES))
def test_full_at_every_step(tmp_path, steps, share):
    for number, faults in enumerate(list(rounds_of(steps, later=False))[share::SHARES]):
        ended = filled(tmp_path / str(number), faults)
        print(faults, ended)
