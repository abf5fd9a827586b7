"""Taking bundles needs nobody: a mix that begins again takes them, and does nothing else alone."""

import json

import pytest

from helpers.mixes import Town, manifests, run, town_of
from helpers.roles_in_folders import KEPT, OPEN, START, ask
from mixtally.device.wire.problem import Problem
from mixtally.server.node.events import Log

BINS = [bytes([i]) for i in range(4)]


@pytest.fixture
def town(tmp_path):
    """A town whose first mix began again while nobody else is there."""
    town = town_of(tmp_path, hops=2)
    assert town.send(town.bundle([BINS[0]])).status == 201
    town.mixes[0].end()
    town.others = {}
    for folder in town.folders[1:]:
        town.others[folder.role.address] = town.apps.pop(folder.role.address)
    town.lines = []
    town.mixes[0] = begun(town)
    yield town
    town.end()


def begun(town):
    mix = town.awaken(1)
    mix.node.log = Log(town.lines.append)
    mix.tick(town.now)
    return mix


def state(town):
    return town.mixes[0].node.rounds.all()[0].state


def files(town):
    return {path.name.split("-")[0] for path in town.folders[0].subfolder("rounds").glob("*/*")}


def test_bundles_are_taken_while_all_others_are_down(town):
    assert town.mixes[0].node.cleared == set()
    assert town.send(town.bundle([BINS[1]])).status == 201
    town.apps |= town.others
    town.mixes[0].tick(town.now + 100)
    assert town.mixes[0].node.cleared
    assert town.send(town.bundle([BINS[2]])).status == 201
    town.close()
    run(town)
    assert manifests(town)[0].bundles == 3


def test_nothing_else_is_done_alone(town):
    """No new key, no signature, no draw, no opening: at no time of the round. When it is over, its
    key is destroyed, whatever silent roles know of it.
    """
    app = town.apps[town.folders[0].role.address]
    keys = town.mixes[0].node.keys.all()
    assert len(keys) == 1
    for now in (START + 100, START + OPEN, START + OPEN + KEPT):
        town.now = now
        town.mixes[0].tick(now)
        assert state(town) == "open"
        assert ask(app, "POST", f"/contracts/{town.fingerprint}/rounds/2/key").status == 503
        assert ask(app, "POST", "/notes", town.note).status == 503
        assert town.mixes[0].node.keys.all() == (keys if now < START + OPEN + KEPT else [])
        assert not {"out", "drawn"} & files(town)
    assert json.loads(town.send(town.bundle([BINS[1]])).body)["type"] == Problem.ROUND_CLOSED.path
    assert town.mixes[0].node.manifest_of(town.mixes[0].node.rounds.all()[0], 1) is None


def test_the_key_of_an_ended_round_is_destroyed_while_all_others_are_down(town):
    node = town.mixes[0].node
    (row,) = node.rounds.all()
    node.rounds.move(row, row.state, "ended: an accident")
    town.mixes[0].tick(town.now)
    assert (node.cleared, node.keys.all()) == (set(), [])
    town.apps |= town.others
    town.mixes[0].tick(town.now + 100)
    assert node.rounds.all()[0].ended == "ended: an accident"


def test_a_round_that_all_have_signed_opens_alone(tmp_path):
    town = Town(tmp_path, hops=2)
    town.all_awake()
    town.note = town.agreed([mix.node for mix in town.mixes] + [town.collector])
    town.mixes[0].end()  # before it has seen that all have
    for folder in town.folders[1:]:
        del town.apps[folder.role.address]
    town.mixes[0] = town.awaken(1)
    town.mixes[0].tick(town.now)
    assert town.send(town.bundle([BINS[0]])).status == 201
    town.end()


def test_one_that_not_all_have_signed_does_not(tmp_path):
    town = Town(tmp_path, hops=2)
    town.all_awake()
    nodes = [mix.node for mix in town.mixes] + [town.collector]
    note = town.collector.propose(town.sheet(nodes), town.now)
    town.mixes[0].node.take_note(note, town.now)
    town.mixes[0].end()
    for folder in town.folders[1:]:
        del town.apps[folder.role.address]
    town.mixes[0] = town.awaken(1)
    town.mixes[0].tick(town.now)
    assert town.send(b"").status == 503
    town.end()


def test_processes_of_intake_take_while_the_mix_waits(town):
    one = town.beside()
    one.tick(town.now)
    assert town.send(town.bundle([BINS[1]]), to=1).status == 201
    town.close()
    town.mixes[0].tick(town.now)  # the window goes, alone as well
    one.tick(town.now)
    assert json.loads(town.send(b"x", to=1).body)["type"] == Problem.ROUND_CLOSED.path
    town.apps |= town.others
    town.now += 100
    for _ in range(4):
        town.tick()
    assert manifests(town)[0].bundles == 2
    one.end()


def test_it_says_for_whom_it_waits(town):
    for _ in range(3):
        town.now += 1
        town.mixes[0].tick(town.now)
    said = [line.split(" ", 1)[1] for line in town.lines]
    for role in ("mix-2", "collector"):
        begins = f"waiting contract={town.contract.name} serial=1 role={role} what="
        assert sum(line.startswith(begins) for line in said) == 1
        assert sum(line.startswith(f"peer unreachable role={role} address=") for line in said) == 1
    town.apps |= town.others
    town.mixes[0].tick(town.now + 100)
    said = [line.split(" ", 1)[1] for line in town.lines]
    assert sum(line.startswith("waiting no more") for line in said) == 2
    assert sum(line.startswith("peer back") for line in said) == 2
