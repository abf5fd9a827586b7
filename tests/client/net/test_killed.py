"""A process that is killed at any step: one bundle a round, and none that was not charged.

What a killed process leaves is what its files hold at that moment: they are copied there, with and
without the index that SQLite keeps in memory, and another process goes on with the copy.
"""

import shutil
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

from helpers.devices import NOW, Words, World
from mixtally.device.client.net import BundleState, Diary, PostResult, deliver, prepare
from mixtally.device.client.net.diary import no_step
from mixtally.errors import RefusedError

ROOT = Path(__file__).parents[3]
WORLD = World()
STEPS = ["made", "checked", "sealed", "written", "entered", "begun", "answered", "ended", "dropped"]
UNCHARGED = STEPS[:4]
LEFT = STEPS[6:]
FIRST = {"one answer": 201, "one refusal": 410, "no answer": None}


class Killed(BaseException):
    """Nothing runs after it."""


def taken_part(folder, sent, *, seed, step=no_step, first=201):
    """From nothing to an answer, as often as it takes; the bodies that left go to ``sent``."""
    statuses = [first, 201]

    def ask(address, path, body):
        sent.append(body)
        return PostResult(statuses.pop(0))

    with Diary(folder / "diary.db", step) as diary:
        value = "yes" if seed == 1 else "no"
        try:
            entry = prepare(diary, WORLD.round(), value, Words(seed), NOW, at_once=True)
        except RefusedError:  # it was answered
            (entry,) = diary.entries()
        while entry.is_pending:
            entry = deliver(diary, entry, entry.due, ask=ask)
        return entry, diary.charges()


def killed(folder, image, at, sent, first):
    """The files at the moment ``at``."""

    def step(name):
        if name == at:
            shutil.copytree(folder, image)
            raise Killed

    with pytest.raises(Killed):
        taken_part(folder, sent, seed=1, step=step, first=first)


@pytest.mark.parametrize(
    ("at", "index", "first"), list(product(STEPS, [True, False], FIRST)), ids=str
)
def test_it_goes_on_with_the_same_bytes_or_had_sent_none(tmp_path, at, index, first):
    folder, image, sent = tmp_path / "before", tmp_path / "after", []
    folder.mkdir()
    killed(folder, image, at, sent, FIRST[first])
    if not index:
        (image / "diary.db-shm").unlink(missing_ok=True)
    assert bool(sent) == (at in LEFT)
    with Diary(image / "diary.db") as diary:
        assert (diary.entries() == []) == (at in UNCHARGED)
        assert (diary.charges() == []) == (at in UNCHARGED)
    entry, charges = taken_part(image, sent, seed=2)
    assert len(set(sent)) == 1
    assert len(charges) == 1
    assert not entry.is_pending
    message = b"\x01" if at in UNCHARGED else b"\x00"
    assert WORLD.opened(sent[0]) == [[message]]


def test_killed_twice(tmp_path):
    one, two, three, sent = (*(tmp_path / name for name in "abc"), [])
    one.mkdir()
    killed(one, two, "entered", sent, 201)
    killed(two, three, "answered", sent, 201)
    entry, charges = taken_part(three, sent, seed=2)
    assert (len(sent), len(set(sent)), len(charges)) == (2, 1, 1)
    assert entry.state is BundleState.TAKEN


def test_what_left_was_charged_when_it_left(tmp_path):
    seen = []

    def ask(address, path, body):
        shutil.copytree(tmp_path / "a", tmp_path / "b")
        with Diary(tmp_path / "b" / "diary.db") as copy:
            (entry,) = copy.entries()
            seen.append((len(copy.charges()), entry.tries, copy.bundle(entry) == body))
        return PostResult(201)

    (tmp_path / "a").mkdir()
    with Diary(tmp_path / "a" / "diary.db") as diary:
        entry = prepare(diary, WORLD.round(), "yes", Words(1), NOW, at_once=True)
        deliver(diary, entry, NOW, ask=ask)
    assert seen == [(1, 1, True)]


REALLY = """
import os, signal, sys
from pathlib import Path
sys.path[:0] = ["tests", "tests/client/net"]
from test_killed import taken_part
def step(name):
    if name == sys.argv[2]:
        os.kill(os.getpid(), signal.SIGKILL)
taken_part(Path(sys.argv[1]), [], seed=1, step=step)
"""


@pytest.mark.seconds
@pytest.mark.parametrize("at", STEPS)
def test_really_killed(tmp_path, at):
    done = subprocess.run([sys.executable, "-c", REALLY, tmp_path, at], cwd=ROOT, check=False)
    assert done.returncode == -9
    sent = []
    entry, charges = taken_part(tmp_path, sent, seed=2)
    assert (len(charges), entry.is_pending, len(set(sent)) <= 1) == (1, False, True)
    assert bool(sent) == (at not in ("ended", "dropped"))
