"""Accidents of a soak, which follow from a seed, and the thread in which they happen."""

import heapq
import itertools
import shutil
import signal
import sqlite3
import threading
import time
from collections import Counter
from contextlib import closing
from random import Random

from helpers.roles_in_folders import ENVIRONMENT
from mixtally.server.node.backup import restore_backup, write_backup

DAY, INTAKE = 86_400, "intake"
LONG_DOWN = 3.0
"""Seconds for which a role is down in an outage, beyond the time in which its rounds expire."""


class Fate(threading.Thread):
    """Lets accidents happen to roles, and starts a process again that has ended by itself.

    where
      ended      role, exit status and last line of every process that has ended by itself
      happened   how often each accident has happened
      signs      whether roles sign a contract now, and ``signed`` how many they have signed
    """

    def __init__(self, roles, crowd, expiry: float) -> None:
        super().__init__(daemon=True)
        self.roles, self.crowd, self.expiry = roles, crowd, expiry
        self.happened, self.ended = Counter(), []
        self.signs, self.signed = False, 1
        self._due, self._count = [], itertools.count()
        self._turn, self._over = threading.Lock(), threading.Event()

    def later(self, seconds: float, act) -> None:
        """Do something after some seconds."""
        with self._turn:
            heapq.heappush(self._due, (time.monotonic() + seconds, next(self._count), act))

    def run(self) -> None:
        while not self._over.wait(0.02):
            for act in self._pop_due():
                act()
            for role in self.roles.values():
                if not role.down and not role.alive:
                    self.ended.append((role.spec.name, role.status, last_line(role.spec.log)))
                    role.start()

    def _pop_due(self, *, every=False):
        due = []
        with self._turn:
            while self._due and (every or self._due[0][0] <= time.monotonic()):
                due.append(heapq.heappop(self._due)[2])
        return due

    def happen(self, kind: str, number: int, seed: int) -> None:
        """Let an accident happen in a round; the seed says to whom, and how badly."""
        self.happened[kind] += 1
        ACCIDENTS[kind](self, number, Random(seed))

    def calm(self) -> None:
        """End the thread; whatever was to be repaired later is repaired now."""
        self._over.set()
        self.join()
        while due := self._pop_due(every=True):  # an accident may have its repair to come
            for act in due:
                act()

    def pick(self, chance: Random):
        """A role that is alive."""
        alive = [role for role in self.roles.values() if not role.down]
        return chance.choice(alive) if alive else None


def last_line(path) -> str:
    lines = path.read_text(errors="replace").splitlines()
    return lines[-1][:200] if lines else ""


def kill(fate, _, chance):
    """A process is killed, and started again soon."""
    if role := fate.pick(chance):
        role.kill()
        fate.later(chance.random(), role.start)


def reboot(fate, _, chance):
    """The machine of a role starts again."""
    if role := fate.pick(chance):
        role.reboot()
        fate.later(chance.random(), role.start)


def blackout(fate, _, chance):
    """All are killed."""
    for role in fate.roles.values():
        if not role.down:
            role.kill()
            fate.later(chance.random(), role.start)


def outage(fate, _, chance):
    """A role is down for so long that rounds expire."""
    if role := fate.pick(chance):
        role.kill()
        fate.later(fate.expiry + LONG_DOWN, role.start)


def lose_disk(fate, _, chance):
    """A disk is lost a while after a backup, and its role is restored.

    A role has a backup of every contract that it has signed: it cannot restore another one.
    """
    roles = [role for name, role in fate.roles.items() if name != INTAKE and not role.down]
    if not roles:
        return
    role, beside = chance.choice(roles), fate.roles[INTAKE]
    file, signed = role.spec.log.with_suffix(".backup"), fate.signed
    write_backup(role.spec.path, file)

    def lose():
        if fate.signs:
            fate.later(0.5, lose)
            return
        if fate.signed != signed:
            write_backup(role.spec.path, file)
        lost = [role, beside] if beside.spec.path == role.spec.path else [role]
        for one in lost:
            one.kill()
        shutil.rmtree(role.spec.path)
        restore_backup(file, role.spec.path, ENVIRONMENT)
        for one in lost:
            one.start()

    fate.later(2 * chance.random(), lose)


def upgrade(fate, _, chance):
    """A mix whose database is of the version before starts with this one."""
    mixes = [role for name, role in fate.roles.items() if name.startswith("mix-") and not role.down]
    if not mixes:
        return
    role = chance.choice(mixes)
    role.kill()
    with closing(sqlite3.connect(role.spec.path / "node.db")) as database:
        if not database.execute("SELECT 1 FROM restores").fetchall():
            database.executescript(
                "DROP TABLE restores; DROP TABLE settled; PRAGMA user_version=1;"
            )
    role.start()


def hang(fate, _, chance):
    """A process stands still."""
    if role := fate.pick(chance):
        role.signal(signal.SIGSTOP)
        fate.later(1.5 * chance.random(), lambda: role.signal(signal.SIGCONT))


def full(fate, _, chance):
    """A disk is full."""
    if role := fate.pick(chance):
        role.tell("full", True)
        fate.later(chance.random(), lambda: role.tell("full", False))


def leap(fate, _, chance):
    """A clock is a day wrong, for less than the time after which it is believed."""
    if role := fate.pick(chance):
        role.tell("skew", chance.choice([-DAY, DAY]))
        fate.later(0.5 * chance.random(), lambda: role.tell("skew", 0))


def skew(fate, _, chance):
    """A clock is some seconds wrong from now on."""
    if role := fate.pick(chance):
        role.tell("skew", chance.uniform(-20, 20))


def flood(fate, number, chance):
    """Somebody sends bundles of nothing."""
    bundles = chance.choice([10, 100, 1000])
    threading.Thread(target=fate.crowd.flood, args=(number, bundles), daemon=True).start()


ENDING = {"kill": kill, "reboot": reboot, "blackout": blackout, "outage": outage}
ENDING |= {"lost disk": lose_disk, "upgrade": upgrade}
"""Accidents after which a process begins again."""
LASTING = {"hang": hang, "full": full, "leap": leap, "skew": skew, "flood": flood}
ACCIDENTS = ENDING | LASTING
OFTEN = ("kill", "kill", "kill", "reboot", "blackout", *LASTING)
"""What happens again and again; all others happen once."""


def plan_accidents(rounds: int, seed: int) -> dict[int, list[str]]:
    """Return the accidents of each round, each kind at least once.

    Nothing happens in the first and the last tenth. No process ends after seven tenths: memory is
    compared between processes that have run for a while.
    """
    chance, found = Random(seed), {}
    kinds = [kind for kind in ACCIDENTS if kind != "outage" or rounds >= 100]
    kinds += [chance.choice(OFTEN) for _ in range(rounds // 2)]
    for kind in kinds:
        last = (7 if kind in ENDING else 9) * rounds // 10
        found.setdefault(chance.randint(rounds // 10 + 1, last), []).append(kind)
    return found
