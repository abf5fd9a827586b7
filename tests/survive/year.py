"""`make soak`: a year of rounds in five minutes, with accidents, on processes, threads and sockets.

Three mixes, a process of intake and a collector run on a fast clock, beside slow roles of another
contract. Accidents follow from a seed. At the end every acknowledged answer is looked for, and what
the roles use is compared with what they used at the beginning. Run with ``tests`` in the path:

    PYTHONPATH=tests:. python -m survive.year --rounds 365 --seed 1
"""

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import NamedTuple

from helpers.roles_in_folders import ENVIRONMENT, START
from mixtally.errors import DataError, PlanError
from mixtally.model.roles import Rounds
from mixtally.primitives.chance import SecureChance
from mixtally.server.collector import Proposal, propose, sign
from mixtally.server.node.calls import SilentError, call
from mixtally.server.node.folder import open_folder
from mixtally.server.node.key_rotation import rotate_signer
from mixtally.server.node.node import Node
from scripts.network_roles import free_ports
from survive.year_accidents import LONG_DOWN, Fate, plan_accidents
from survive.year_report import DONE, report, table, unsent
from survive.year_roles import FastClock, Role, Spec, slowness
from survive.year_world import (
    HOPS,
    Crowd,
    make_folders,
    make_neighbors,
    make_network,
    slow_peers,
    wait_for,
)

OPEN, EVERY, KEPT = 400, 800, 8000
"""Seconds for which a round is open, from one to the next, and from its close to its expiry."""
WINDOW = Rounds(open_seconds=OPEN, every_seconds=EVERY)
PEOPLE, STRANGERS = 6, 3


class Wish(NamedTuple):
    """What is to be played; ``pace`` is how many seconds a round has on an idle machine."""

    rounds: int = 365
    seed: int = 1
    pace: float = 0.8
    plant: bool = False


class Year:
    """Rounds one after the other; ``slow`` is how much slower than an idle machine this one is."""

    def __init__(self, place: Path, given: Wish, slow: float, hostile: list[str]):
        self.place, self.rounds, self.seed = place, given.rounds, given.seed
        self.pace = slow * given.pace
        self.clock = FastClock(START, time.monotonic(), EVERY / self.pace)
        *ports, beside = free_ports(HOPS + 2)
        folders = make_folders(place, ports)
        self.network = make_network(folders, PEOPLE, self.rounds, WINDOW)
        make_neighbors(folders[:-1], hostile, 1)
        specs = [(one.role.name.split("-")[0], one.role.name, one) for one in folders]
        specs.append(("intake", "intake", folders[0]))
        addresses = [one.role.address for one in folders] + [f"http://127.0.0.1:{beside}"]
        self.roles = {
            name: Role(
                Spec(kind, name, one.path, address, self.clock, place / f"{name}.log", given.plant)
            )
            for (kind, name, one), address in zip(specs, addresses, strict=True)
        }
        self.sheets, self.memory = {}, defaultdict(list)
        self.expiry = KEPT / self.clock.speed

    @property
    def now(self) -> int:
        return int(self.clock.now())

    # -- what an operator does --------------------------------------------------------------------

    def begin(self) -> bytes:
        """Start all roles and let all sign the contract; its note."""
        for role in self.roles.values():
            role.start()
        for name, role in self.roles.items():
            if name != "intake":
                wait_for(lambda at=role.spec.address: _get(at, "/status"), f"{name} serves")
        return self.sign()

    def sign(self) -> bytes:
        """Let all sign the contract, which its mixes have signed; its note."""
        signed = []

        def has_all() -> bool:
            text, agreed = self.network.text, self.network.agreed
            with suppress(PlanError):  # it waits for the note of a role with another key
                signed[:] = [self._by_hand(lambda node: sign(node, agreed, text, call, self.now))]
            return bool(signed) and not signed[0].missing

        wait_for(has_all, "a contract that all have signed")
        return signed[0].note

    def rotate(self, crowd: Crowd, fate: Fate, chance: Random) -> None:
        """Replace the signing key of a role, and go on under the next serial of the contract."""
        role = self.roles[chance.choice([name for name in self.roles if name != "intake"])]
        replaced = threading.Event()

        def replace_key() -> None:
            role.kill()
            rotate_signer(open_folder(role.spec.path, ENVIRONMENT), SecureChance())
            role.start()
            replaced.set()

        fate.later(0.0, replace_key)  # in the thread that starts and kills roles
        replaced.wait()
        serial = self.network.agreed.contract.serial + 1

        def made() -> bool:
            """Every mix signs once it has the note of the other key."""
            paths = [folder.path for folder in self.network.folders]
            folders = [open_folder(path, ENVIRONMENT) for path in paths]
            with suppress(PlanError):
                self.network = make_network(folders, PEOPLE, self.rounds, WINDOW, serial)
            return self.network.agreed.contract.serial == serial

        wait_for(made, "mixes that know the other key")
        crowd.follow(self.sign(), self.network)

    def propose(self):
        """Propose the next round, again until all have signed it; None after the last."""
        wish = Proposal(expiry_delay=KEPT)
        while True:
            try:
                return self._by_hand(
                    lambda node: propose(node, self.network.agreed, call, self.now, wish)
                )
            except PlanError as error:
                if "at most" in str(error):
                    return None
            except DataError:  # a mix is down, or starts
                pass
            time.sleep(0.1)

    def _by_hand(self, command):
        """A command has a process of its own, which opens what is being served."""
        node = Node(open_folder(self.roles["collector"].spec.path, ENVIRONMENT), SecureChance())
        try:
            return command(node)
        finally:
            node.close()

    # -- the story --------------------------------------------------------------------------------

    def play(self, crowd: Crowd, fate: Fate, deadline: float) -> None:
        """All rounds, until the last has an end at every role."""
        accidents, last = plan_accidents(self.rounds, self.seed), 0
        with ThreadPoolExecutor(4 * PEOPLE) as threads:
            rotation = Random(self.seed).randint(self.rounds // 3, self.rounds // 2)
            while (given := self.propose()) is not None:
                if time.monotonic() > deadline:
                    raise TimeoutError(f"round {given.sheet.round} at the end of the time")
                sheet, chance = given.sheet, Random(f"{self.seed} {given.sheet.round}")
                self.sheets[sheet.round] = sheet
                for person in range(PEOPLE):  # the first as soon as it can
                    moment = sheet.opens + (0.8 * OPEN * chance.random() if person else 0)
                    threads.submit(
                        crowd.answer, crowd.agreed, person, given.note, sheet.round, moment
                    )
                # A number whose sheet was not signed in time is left out, but not its accidents.
                passed, last = range(last + 1, sheet.round + 1), sheet.round
                for kind in (kind for number in passed for kind in accidents.get(number, ())):
                    seed, moment = chance.randrange(1 << 32), sheet.opens + EVERY * chance.random()
                    delay = max(0.0, (moment - self.clock.now()) / self.clock.speed)
                    fate.later(delay, partial(fate.happen, kind, sheet.round, seed))
                self.clock.until(sheet.opens)
                for name, role in self.roles.items():
                    self.memory[name].append((sheet.round, role.resident()))
                if rotation in passed:
                    fate.happened["rotation"] += 1
                    fate.signs = True
                    self.rotate(crowd, fate, chance)
                    fate.signs, fate.signed = False, fate.signed + 1
            self.clock.until(max(sheet.closes for sheet in self.sheets.values()))
        fate.calm()
        for role in self.roles.values():
            if not role.alive:
                role.start()
        wait_for(self.over, "the end of every round", 2 * self.expiry + LONG_DOWN + 60)

    def over(self) -> bool:
        """Whether no role has anything left to do."""
        for name, role in self.roles.items():
            if name == "intake":
                continue
            said = _get(role.spec.address, "/status")
            rows = [] if said is None else json.loads(said)["rounds"]
            states = DONE if name == "collector" else ("shredded",)
            if not rows or any(row["state"] not in states for row in rows):
                return False
            if unsent(self, name):
                return False
        return True

    def end(self) -> dict[str, int | None]:
        """End all processes; the exit status of each."""
        return {name: role.end() for name, role in self.roles.items()}


def _get(address: str, path: str) -> bytes | None:
    try:
        answer = call(address, "GET", path)
    except SilentError:
        return None
    return answer.body if answer.is_success else None


def run(place: Path, given: Wish) -> dict:
    """Play a year in a folder, and report on it."""
    begun, slow = time.monotonic(), slowness()
    deadline = begun + slow * (60 + 3 * given.pace * given.rounds)
    with slow_peers(STRANGERS) as hostile:
        year = Year(place, given, slow, hostile)
        fate = None
        try:
            note = year.begin()
            doors = [year.roles[name].spec.address for name in ("mix-1", "intake")]
            crowd = Crowd(place / "people", note, year.network, PEOPLE, year.clock, doors)
            fate = Fate(year.roles, crowd, year.expiry)
            fate.start()
            trouble = []
            try:
                year.play(crowd, fate, deadline)
            except TimeoutError as error:
                trouble = [str(error)]
        finally:
            if fate is not None:
                fate.calm()
            ended = year.end()
    found = report(year, crowd, fate, ended, trouble)
    return {
        "seed": given.seed,
        "seconds": round(time.monotonic() - begun),
        "seconds of a round": round(year.pace, 2),
    } | found


def main() -> None:
    """Play a year, print and write the report, and exit with status 1 on a violation."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=365)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**6)
    parser.add_argument("--pace", type=float, default=0.8, help="seconds of a round")
    parser.add_argument("--plant", action="store_true", help="faults that must be found")
    parser.add_argument("--json", type=Path, help="file of the report")
    parser.add_argument("--keep", type=Path, help="folder in which everything is kept")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    # The server of processes finds modules where this program does. The heaps are those of deploy/.
    os.environ |= ENVIRONMENT | {
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "MALLOC_ARENA_MAX": "2",
    }
    shared = Path("/dev/shm")
    place = given.keep or Path(
        tempfile.mkdtemp(prefix="mixtally-", dir=shared if shared.is_dir() else None)
    )
    place.mkdir(exist_ok=True)
    try:
        found = run(place, Wish(given.rounds, given.seed, given.pace, given.plant))
    finally:
        if given.keep is None:
            shutil.rmtree(place, ignore_errors=True)
    if given.json is not None:
        given.json.parent.mkdir(parents=True, exist_ok=True)
        given.json.write_text(json.dumps(found, indent=1) + "\n")
    print(table(found))
    sys.exit(1 if found["violations"] else 0)


if __name__ == "__main__":
    main()
