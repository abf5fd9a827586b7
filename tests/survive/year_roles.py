"""Roles of a network as processes on a fast clock, which can be killed, stopped, filled and misled.

A process is told what happens to it through a pipe. When the other end of the pipe is gone, the
process ends, so none outlives the program that has started it.
"""

import errno
import multiprocessing
import os
import signal
import threading
import time
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from helpers.roles_in_folders import ENVIRONMENT
from mixtally.server.collector.serve import serve as serve_collector
from mixtally.server.engine.engine import Engine
from mixtally.server.mix.intake_processes import IntakeOptions, serve_intake
from mixtally.server.mix.serve import serve as serve_mix
from mixtally.server.node import loop
from mixtally.server.node.clock import Clocks
from mixtally.server.node.events import Log, print_line
from mixtally.server.node.folder import open_folder
from mixtally.server.node.service import Service
from survive.year_plants import PLANTS

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["survive.year_roles"])
_TICK, _FULL = 50, 300
"""Seconds between two passes of a role's loop, and after a full disk, by the fast clock."""
_IDLE, _MOST_SLOW = 1.0, 20.0
"""Seconds that the server of processes takes on an idle machine, and the slowest that is allowed
for.
"""
_PAGE = os.sysconf("SC_PAGE_SIZE")
BOOTED = 10_000
"""Seconds that a machine has run when the soak begins."""


class FastClock(NamedTuple):
    """A clock that runs ``speed`` times as fast as the one that it reads.

    where
      start, origin   what it shows, and what the clock that it reads shows, at its beginning
    """

    start: float
    origin: float
    speed: float

    def now(self) -> float:
        return self.start + (time.monotonic() - self.origin) * self.speed

    def sleep(self, seconds: float) -> None:
        time.sleep(max(0.0, seconds / self.speed))

    def until(self, then: float) -> None:
        self.sleep(then - self.now())


class Spec(NamedTuple):
    """What a process is begun with.

    where
      kind      mix, collector, or intake (beside the mix of the folder)
      address   where it listens
      planted   whether it has a fault that the soak must find
    """

    kind: str
    name: str
    path: Path
    address: str
    clock: FastClock
    log: Path
    planted: bool = False


class Machine(NamedTuple):
    """The machine of a role: how often it was started, and when last, by the fast clock."""

    boot: int
    since: float


class _Troubles:
    """What happens to a process.

    where
      skew   seconds by which its wall clock is wrong
      full   whether its disk is full
    """

    def __init__(self, skew: float) -> None:
        self.skew, self.full = skew, False

    def listen(self, pipe) -> None:
        while True:
            try:
                name, value = pipe.recv()
            except (EOFError, OSError):
                os._exit(1)
            setattr(self, name, value)

    def step(self, _: str) -> None:
        if self.full:
            raise OSError(errno.ENOSPC, "full")


def _serve(pipe, spec: Spec, machine: Machine, skew: float) -> None:
    """Serve a role until it is told to end."""
    os.setsid()  # a Ctrl-C ends the program that watches, which ends this process
    with spec.log.open("ab") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    loop.TICK_SECONDS = _TICK / spec.clock.speed
    loop._FULL_SECONDS = _FULL / spec.clock.speed
    if spec.planted and spec.name in PLANTS:
        PLANTS[spec.name]()
    troubles = _Troubles(skew)
    threading.Thread(target=troubles.listen, args=(pipe,), daemon=True).start()
    # Both are read off one look: on a fast clock the time between two looks would be a jump.
    looked = threading.local()

    def steady() -> float:
        looked.at = spec.clock.now()
        return looked.at - machine.since

    def wall() -> float:
        return looked.at + troubles.skew

    clocks = Clocks(wall, steady, f"boot {machine.boot}")
    told = Log(print_line, clock=spec.clock.now)
    port = urlsplit(spec.address).port
    if spec.kind == "intake":
        serve_intake(
            spec.path,
            IntakeOptions(1, "127.0.0.1", port, print, clocks, troubles.step, told),
        )
        return
    folder = open_folder(spec.path, ENVIRONMENT)
    serve = serve_mix if spec.kind == "mix" else serve_collector
    serve(folder, Service(clocks=clocks, step=troubles.step, log=told), Engine())


def slowness() -> float:
    """Start the server of processes, and return how many times slower this machine is than idle."""
    begun, first = time.monotonic(), _FORKS.Process(target=int)
    first.start()
    first.join()
    return min(_MOST_SLOW, max(1.0, (time.monotonic() - begun) / _IDLE))


class Role:
    """A role's process as the soak has it.

    where
      down     whether it is to be down: whoever keeps roles alive leaves it alone
      begun    moments, by the steady clock, at which its processes began
    """

    def __init__(self, spec: Spec) -> None:
        self.spec, self.down, self.begun = spec, False, []
        self.machine = Machine(1, spec.clock.start - BOOTED)
        self.skew, self._pipe, self._process = 0.0, None, None

    def start(self) -> None:
        """Begin a process on the folder, unless there is one."""
        if self.alive:
            return
        self._pipe, far = _FORKS.Pipe()
        self._process = _FORKS.Process(
            target=_serve, args=(far, self.spec, self.machine, self.skew), daemon=True
        )
        self._process.start()
        far.close()
        self.down = False
        self.begun.append(time.monotonic())

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.is_alive()

    @property
    def status(self) -> int | None:
        """The exit status of the last process."""
        return None if self._process is None else self._process.exitcode

    def kill(self) -> None:
        """Kill the process, which stays down."""
        self.down = True
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()

    def reboot(self) -> None:
        """Kill the process, whose machine starts again."""
        self.kill()
        self.machine = Machine(self.machine.boot + 1, self.spec.clock.now())

    def signal(self, number: int) -> None:
        """Send a signal, if it is alive."""
        if self.alive:
            os.kill(self._process.pid, number)

    def tell(self, name: str, value: float) -> None:
        """Let something happen to the process, if it is alive."""
        if name == "skew":
            self.skew = value
        try:
            self._pipe.send((name, value))
        except OSError:
            return

    def end(self) -> int | None:
        """End the process as an operator does; its exit status."""
        if self._process is None:
            return None
        self.down = True
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGTERM)
        self._process.join(120)
        if self._process.is_alive():
            self.kill()
        return self.status

    def resident(self) -> int | None:
        """The bytes of memory of the process; None where it has ended."""
        try:
            text = Path(f"/proc/{self._process.pid}/statm").read_text()
        except OSError:
            return None
        return int(text.split()[1]) * _PAGE
