"""Every role of a village in a process of its own, which can be killed at any of its steps.

The processes talk through the one that watches them: whatever leaves a role is seen, and may be
lost, come late or come twice. Only one of them works at a time, so a run repeats.
"""

import errno
import multiprocessing
import os
import pickle
import signal
import sys
from collections import Counter
from multiprocessing import forkserver
from random import Random
from typing import NamedTuple

import pytest

from helpers.power_loss import Disk
from helpers.power_loss_watched import Once, unsynced, watched
from helpers.served_roles import awaken
from mixtally.server.node.calls import Answer, SilentError

_MADE = multiprocessing.get_context("forkserver")
_MADE.set_forkserver_preload(["helpers.role_processes"])
_SECONDS = 300
"""Limit of a wait, which only a failure uses up; the first process imports everything."""


class Fault(NamedTuple):
    """What happens to a process.

    where
      step, nth   it is killed at the ``nth`` step of a name
      full        its disk is full there instead
      cut         the power is cut after so many operations on its disk
      watched     it is killed there or then, and whoever follows loses its power with what had not
                  reached the disk by now
      unsynced    the sync of that number fails; when it has ended, the power is cut
      seed        of what a cut leaves
    """

    step: str = ""
    nth: int = 1
    full: bool = False
    cut: int | None = None
    watched: bool = False
    unsynced: int | None = None
    seed: int = 0

    @property
    def needs_disk(self) -> bool:
        """Whether operations are put down."""
        return self.watched or (self.cut, self.unsynced) != (None, None)


NOTHING = Fault()


class Ended(NamedTuple):
    """A process that ended by itself, and why."""

    why: str


class Process:
    """A role's process as others see it; ``route`` takes what it asks of others.

    where
      why   it ended by itself; None for one that was killed
    """

    def __init__(self, spec, route, fault=NOTHING) -> None:
        self.spec, self._route = spec, route
        _server_runs()
        self._pipe, far = _MADE.Pipe()
        self._process = _MADE.Process(target=_run, args=(far, spec, fault), daemon=True)
        self._process.start()
        far.close()
        self.alive, self.why = True, None
        self._answer()

    def tell(self, *message):
        """What it answers; None where it is, or has gone."""
        if not self.alive:
            return None
        try:
            self._pipe.send(message)
        except OSError:
            return self._gone()
        return self._answer()

    def end(self):
        """As an operator would."""
        self.tell("end")
        self._gone()

    def _answer(self):
        while True:
            try:
                assert self._pipe.poll(_SECONDS), f"{self.spec.name} answers nothing"
                said = self._pipe.recv()
            except (EOFError, ConnectionError):
                return self._gone()
            if isinstance(said, Ended):
                self.why = said.why
                return self._gone()
            if said[0] != "call":
                return said[1]
            self._pipe.send(self._route(self.spec.name, *said[1:]))

    def _gone(self):
        self.alive = False
        self._process.join(_SECONDS)
        self._pipe.close()


def _server_runs():
    """Processes are forked from one that has imported all this, where modules are found as here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
        forkserver.ensure_running()


class _Steps:
    """Counts the steps of a process, and does what is to happen at one."""

    def __init__(self, fault, killed):
        self.seen, self.fault, self.done, self.killed = Counter(), fault, False, killed

    def __call__(self, name):
        self.seen[name] += 1
        if (name, self.seen[name]) == (self.fault.step, self.fault.nth):
            self.done = True
            if self.fault.full:
                raise OSError(errno.ENOSPC, "full")
            self.killed()


def cut_place(path):
    """Where what a cut has left of a folder lies."""
    return path.with_name(f"{path.name}-cut")


def seen_place(path):
    """Where what was seen of a folder is handed on."""
    return path.with_name(f"{path.name}.seen")


def _die():
    os.kill(os.getpid(), signal.SIGKILL)


def _run(pipe, spec, fault):
    """A process."""
    try:
        if fault.needs_disk:
            _on_disk(pipe, spec, fault)
        else:
            _serve(pipe, spec, _Steps(fault, _die))
    except EOFError:
        return
    except Exception as error:
        pipe.send(Ended(f"{type(error).__name__}: {error}"))


def _on_disk(pipe, spec, fault):
    """The same, every operation on its disk being put down."""
    handed, earlier = seen_place(spec.path), None
    if handed.exists():
        earlier = pickle.loads(handed.read_bytes())
        handed.unlink()
    disk = Disk(spec.path, fault.cut, earlier)

    def cut():
        disk.image(cut_place(spec.path), Random(fault.seed))
        _die()

    def killed():
        with disk.turn:
            handed.write_bytes(pickle.dumps(disk.seen))
            _die()

    disk.cut = killed if fault.watched else cut
    disk.fail = Once(
        "sync", -2 if fault.unsynced is None else fault.unsynced, unsynced, code=errno.EIO
    )
    try:
        with watched(disk):
            _serve(pipe, spec, _Steps(fault, killed), disk)
    except Exception:
        disk.image(cut_place(spec.path), Random(fault.seed))
        raise


def _serve(pipe, spec, steps, disk=None):
    """Do what is told, until the end."""

    def call(address, method, path, body=b""):
        pipe.send(("call", address, method, path, body))
        answer = pipe.recv()
        if answer is None:
            raise SilentError(address)
        return Answer(*answer)

    role = awaken(spec, call, steps)
    pipe.send(("done", None))
    while True:
        what, *rest = pipe.recv()
        if what == "steps":
            ops = Counter(op.kind for op in disk.ops[disk.start :]) if disk else None
            said = dict(steps.seen), steps.done, ops
        else:
            said = getattr(role, what)(*rest)
        if role.stopped:
            raise role.stopped[0]
        pipe.send(("done", said))
        if what == "end":
            return
