"""A mix is killed at each durable step and starts again: every message once, the same bytes out."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from mixes import Town
from mixtally.mixnode.intake import taken_bodies
from mixtally.node import SilentError
from mixtally.wire.reading import fingerprint_of
from mixtally.wire.sheet import kind_of

BINS = [bytes([i]) for i in range(4)]
SENT = [BINS[i % 3] for i in range(6)]


class Killed(BaseException):
    """The process ends here."""


class Steps:
    """Kills the process at the step of a number, and remembers what came before."""

    def __init__(self):
        self.names, self.at, self.armed = [], None, False

    def __call__(self, name):
        if not self.armed or "intake" in name:  # those are another thread's
            return
        self.names.append(name)
        if len(self.names) - 1 == self.at:
            raise Killed(name)


class Watched(Town):
    """A town that remembers what left a mix."""

    def watch(self, place):
        self.watched, self.left = self.folders[place - 1].role.address, []
        self.killed = False

    def call_as(self, place):
        """What the mix at ``place`` calls the others with."""
        own = self.folders[place - 1].role.address

        def call(address, method, path, body=b""):
            if own == self.watched and method in ("POST", "PUT"):
                self.left.append((path, body))
            try:
                return self.call(address, method, path, body)
            except Killed:  # the one that was asked, not the one that asks
                self.killed = True
                raise SilentError(address) from None

        return call

    def peers(self, node, overruled=()):
        from mixtally.node import Peers

        place = [folder.role.name for folder in self.folders].index(node.signer.name) + 1
        return Peers(node, self.call_as(place), frozenset(overruled))


def prepared(tmp_path, place, steps):
    """A town whose round is open and has its bundles; the mix at ``place`` has the steps."""
    town = Watched(tmp_path, hops=2)
    town.watch(place)
    town.collector = town.node(3, cleared=False)
    town.awake(town.collector)
    town.mixes = [town.awaken(i, **({"step": steps} if i == place else {})) for i in (1, 2)]
    town.tick()
    town.peers(town.collector).ask(town.now)
    town.tick()
    town.round()
    for message in SENT:
        assert town.send(town.bundle([message])).status == 201
    town.close()
    steps.armed = True
    return town


def played(town, place, steps):
    """Let everything happen; a mix that is killed begins again. Whether it was killed."""
    received = restarted = False
    for _ in range(12):
        for at in (1, 2):
            try:
                town.mixes[at - 1].tick(town.now)
            except Killed:
                assert at == place
                town.killed = True
            if town.killed and not restarted:
                restarted = True
                begin_again(town, place, steps)
        town.now += 1  # pauses for silent roles end
        row = town.collector.rounds.all()[0]
        if not received and town.collector.before(row) and not town.collector.missing(row):
            town.receive()
            received = True
        town.peers(town.collector).send_all(town.now)
        if town.killed and not restarted:
            restarted = True
            begin_again(town, place, steps)
    return town.killed


def begin_again(town, place, steps):
    """The mix at ``place`` as a new process."""
    old = town.mixes[place - 1]
    del town.apps[old.node.folder.role.address]
    steps.armed = False
    old.end()
    town.mixes[place - 1] = town.awaken(place)


def counted_once(town):
    """Every acknowledged message is there once, and what left is one batch."""
    (found,) = town.opened()
    row = town.collector.rounds.all()[0]
    added = [town.collector.manifest_of(row, hop)[1].parts[0].added for hop in (1, 2)]
    assert len(found) == len(SENT) + sum(added)
    assert not Counter(SENT) - Counter(found)
    slots = {}
    for path, body in town.left:
        if path == "/notes" and (kind := kind_of(body)) in ("manifest", "receipt"):
            assert slots.setdefault(kind, fingerprint_of(body)) == fingerprint_of(body)
    pieces = {path for path, _ in town.left if path.startswith("/pieces/")}
    assert len(pieces) == 1
    for mix in town.mixes:
        (last,) = mix.node.rounds.all()
        assert (last.state, last.ended) == ("shredded", "delivered")
        assert mix.node.keys.all() == []
        assert not list(mix.node.folder.inner("rounds").iterdir())
        assert mix.node.notes.errands() == []


@pytest.fixture(scope="module")
def steps_of(tmp_path_factory):
    """The steps of the mix at each place, as they come when nobody is killed."""
    found = {}
    for place in (1, 2):
        steps = Steps()
        town = prepared(tmp_path_factory.mktemp("all"), place, steps)
        assert not played(town, place, steps)
        counted_once(town)
        town.end()
        found[place] = steps.names
    return found


def test_the_steps_are_those_that_are_killed_at(steps_of):
    assert len(steps_of[1]) + len(steps_of[2]) >= 40
    for names in steps_of.values():
        for name in (
            "after drawn",
            "after opened",
            "after piece out",
            "before sign manifest",
            "after sign manifest",
            "after state closed",
            "after state mixed",
            "before state delivered",
            "after key destroyed",
            "after shred",
            "after state shredded",
        ):
            assert name in names
    assert {"after piece in", "after sign receipt"} <= set(steps_of[2])


def killed_at(tmp_path, place, at):
    steps = Steps()
    steps.at = at
    town = prepared(tmp_path, place, steps)
    assert played(town, place, steps)
    counted_once(town)
    town.end()


QUICK = [
    (1, "after window gone"),
    (1, "after count"),
    (1, "after drawn"),
    (1, "after piece out"),
    (1, "before sign manifest"),
    (1, "after sign manifest"),
    (1, "before state mixed"),
    (1, "after key destroyed"),
    (2, "before sign receipt"),
    (2, "after sign receipt"),
    (2, "after opened"),
    (2, "before state delivered"),
    (2, "after shred"),
]


@pytest.mark.parametrize(("place", "name"), QUICK)
def test_killed_at_a_step(tmp_path, steps_of, place, name):
    killed_at(tmp_path, place, steps_of[place].index(name))


@pytest.mark.seconds
@pytest.mark.parametrize("place", [1, 2])
def test_killed_at_every_step(tmp_path, steps_of, place):
    for at in range(len(steps_of[place])):
        killed_at(tmp_path / str(at), place, at)


PROGRAM = """
import os, sys
from pathlib import Path
from mixes import Town

place, kill = Path(sys.argv[1]), sys.argv[2]
seen = []
def step(name):
    seen.append(name)
    if name == kill and seen.count(name) == 3:
        os._exit(77)
town = Town(place, hops=1)
town.collector = town.node(2, cleared=False)
town.awake(town.collector)
town.mixes = [town.awaken(1, step=step)]
town.tick()
town.peers(town.collector).ask(town.now)
town.tick()
town.round()
(place / "sheet").write_bytes(town.note)
for i in range(5):
    body = town.bundle([bytes([i % 4])])
    with (place / "tried").open("ab") as file:
        file.write(body)
    assert town.send(body).status == 201
    with (place / "told").open("ab") as file:
        file.write(body)
"""


@pytest.mark.seconds
@pytest.mark.parametrize(("where", "stored"), [("before intake", 2), ("after intake", 3)])
def test_killed_beside_the_commit_of_a_bundle(tmp_path, where, stored):
    tests = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path), where],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tests), *sys.path])},
        check=False,
    )
    assert done.returncode == 77
    told, tried = ((tmp_path / name).read_bytes() for name in ("told", "tried"))
    (folder,) = (tmp_path / "mix-1" / "rounds").iterdir()
    held = list(taken_bodies(folder))
    assert len(held) == stored
    assert b"".join(held).startswith(told)  # all that was acknowledged
    assert tried.startswith(b"".join(held))


def test_a_next_role_that_is_killed_while_pieces_come(tmp_path, monkeypatch):
    """The sender sees silence, and sends again what is not there."""
    town = prepared(tmp_path, 1, Steps())
    address = town.folders[1].role.address
    inner, silent = town.call, []

    def call(to, method, path, body=b""):
        if to == address and method == "PUT" and not silent:
            inner(to, method, path, body)
            silent.append(path)
            raise SilentError(to)  # stored, and the answer is lost
        return inner(to, method, path, body)

    monkeypatch.setattr(town, "call", call)
    assert not played(town, 1, Steps())
    counted_once(town)
    assert len(silent) == 1
    town.end()
