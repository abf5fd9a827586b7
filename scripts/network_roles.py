"""Roles of a network as processes that are started, killed, restarted and ended.

``network.py`` uses them.
"""

import os
import random
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

PROGRAM = "from mixtally.cli.main import run; run()"
COMMAND = [sys.executable, "-c", PROGRAM]
_PAGE = os.sysconf("SC_PAGE_SIZE")
_BLOCKED = 10_080
"""The only port above 6697 to which browsers and Node send no request.

Source: WHATWG Fetch, port blocking.
"""


def mixtally(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command of the package and return its result, whatever its status."""
    return subprocess.run([*COMMAND, *arguments], cwd=cwd, capture_output=True, text=True)


def free_ports(count: int) -> list[int]:
    """Return free ports below those that systems assign automatically.

    No other process, and no later call, gets one of these ports until this process ends.
    """
    found: list[int] = []
    port = 10_000 + os.getpid() % 1_000 * 10
    while len(found) < count:
        if port != _BLOCKED and _reserve(port):
            with suppress(OSError), socket.create_server(("127.0.0.1", port)):
                found.append(port)
        port += 1
    return found


def _reserve(port: int) -> bool:
    """Return whether no process had reserved a port; this process then has.

    The reservation is a name that Linux forgets when the process ends. Other systems have no such
    names, and a port is taken there without a reservation.
    """
    if sys.platform != "linux":
        return True
    with socket.socket(socket.AF_UNIX) as name:
        try:
            name.bind(f"\0mixtally port {port}")
        except OSError:
            return False
        name.detach()  # open until the process ends
    return True


class Role:
    """A process that serves the folder of a role."""

    def __init__(
        self, kind: str, folder: Path, more: tuple[str, ...] = (), program: str = PROGRAM
    ) -> None:
        self.kind, self.folder, self.more = kind, folder, more
        self.command = [sys.executable, "-c", program]
        self._turn, self._begun = threading.Lock(), 0
        self.log = folder.with_suffix(".log")
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start serving; the output is appended to a log file next to the folder."""
        with self._turn, self.log.open("ab") as log:
            self._begun = log.tell()
            self.process = subprocess.Popen(
                [*self.command, self.kind, "serve", str(self.folder), *self.more],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    @property
    def count_lines(self) -> int:
        """The number of lines in the log since the first start."""
        return self.log.read_bytes().count(b"\n") if self.log.exists() else 0

    @property
    def serves(self) -> bool:
        """Whether the role has reported that it serves since its last start."""
        return self.log.exists() and b"serving at" in self.log.read_bytes()[self._begun :]

    def kill(self) -> None:
        """Kill the process, as a power failure would."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def end(self) -> None:
        """End the process as an operator would; kill it if it does not end."""
        with self._turn:
            if self.process is None:
                return
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()


class RoleKiller(threading.Thread):
    """A thread that kills a random role and restarts it, until it is stopped.

    The moments depend on ``done``, a measure of progress. So roles make the same progress between
    two kills on a slow machine.
    """

    def __init__(self, roles: list[Role], done: Callable[[], int], seed: int) -> None:
        super().__init__(daemon=True)
        self.roles, self.done, self.chance = roles, done, random.Random(seed)
        self.stopped = threading.Event()
        self.killed: list[str] = []

    def run(self) -> None:
        """Kill roles; see ``threading.Thread``."""
        due = self.done() + self.chance.randint(1, 4)
        while not self.stopped.wait(0.05):
            if self.done() < due or not all(role.serves for role in self.roles):
                continue
            role = self.chance.choice(self.roles)
            role.kill()
            self.killed.append(role.folder.name)
            role.start()
            due = self.done() + self.chance.randint(1, 4)

    def stop(self) -> None:
        """Stop the thread; all roles are alive afterwards."""
        self.stopped.set()
        self.join()


class MemoryWatch(threading.Thread):
    """A thread that measures the most memory of this process and its descendants together.

    It measures twice per second.
    """

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most, self.stopped = 0, threading.Event()

    def run(self) -> None:
        """Measure the memory; see ``threading.Thread``."""
        while not self.stopped.wait(0.5):
            self.most = max(self.most, sum(_resident(pid) for pid in _below(os.getpid())))

    def stop(self) -> int:
        """Stop the thread and return the largest number of bytes."""
        self.stopped.set()
        self.join()
        return self.most


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def _below(pid: int) -> list[int]:
    found = [pid]
    for one in found:
        try:
            tasks = list(Path(f"/proc/{one}/task").iterdir())
            for task in tasks:
                found += map(int, (task / "children").read_text().split())
        except OSError:
            continue
    return found
