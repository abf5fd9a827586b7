"""Killed at any durable step and started again, a collector ends with the same release, once."""

import json

import pytest

from collecting import Office
from mixtally.collector import State

VALUES = [0, 0, 0, 1, 1, 3]


class KilledError(BaseException):
    """The process is gone."""


class Fuse:
    """Kills once at the durable step of a name, or at the one of a number; at none for None."""

    def __init__(self, at):
        self.at, self.seen = at, []

    def __call__(self, name):
        self.seen.append(name)
        if self.at in (name, len(self.seen)):
            self.at = None
            raise KilledError(name)


def played(place, at):
    """A round of which the collector is killed once; its result, and the steps that were seen."""
    office = Office(place, hops=2)
    office.begin()
    office.proposed()
    manifests, pieces = office.usual(VALUES)
    notes = [office.note_of(manifest) for manifest in manifests]
    office.collector.end()
    fuse = Fuse(at)
    for _ in range(3):
        try:
            office.reopen(step=fuse)
            for note in notes:
                # Whoever sends gets no answer from a process that is killed, and sends it again.
                assert office.post(note).status == 204
            for name, data in pieces.items():
                assert office.ask("PUT", f"/pieces/{name}", data).status in (201, 204, 403)
            office.collector.tick(office.now)
            break
        except KilledError:
            office.collector.end()
    return office, fuse.seen


def check_end(office, where):
    """The one release, the one charge, and nothing else left."""
    assert office.row().state == State.RELEASED, where
    said = json.loads(office.result().body)
    assert [one["estimate"] for one in said["estimates"]] == [3, 2, 0, 1]
    assert said["received"]["contributors"] == 6
    assert len(office.collector.results.charges()) == 1
    place = office.folders[-1].path
    assert not list((place / "keys").iterdir())
    assert not list((place / "rounds").iterdir())
    office.collector.end()


STEPS = (
    *("before remember manifest", "after charge", "after piece in", "before sign receipt"),
    *("after sign receipt", "after tally", "after key destroyed", "after shred", "after result"),
)
"""Those that leave different things behind."""


@pytest.mark.parametrize("name", [None, "after charge", "after sign receipt", "after tally"])
def test_a_sample_of_steps(tmp_path, name):
    office, steps = played(tmp_path, name)
    assert set(STEPS) <= set(steps)
    check_end(office, name)


@pytest.mark.seconds
def test_every_step_is_one_at_which_it_may_be_killed(tmp_path):
    _, steps = played(tmp_path / "whole", None)
    for at in range(1, len(steps) + 1):
        office, _ = played(tmp_path / str(at), at)
        check_end(office, (at, steps[at - 1]))
