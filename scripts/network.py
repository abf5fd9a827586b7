"""`make network`: three mixes, a collector and 2,000 devices in two rounds on this machine.

Every role is a process of its own with its own folder under out/network. The devices share one
process, and each has its own diary. With --kill, roles are killed at random. The moments depend on
the progress of the rounds, not on the clock. The result must be the same as without kills. The
program checks the released counts against the true ones. With --hurry, people send at once, and the
clocks of roles are turned forward to the end of each round.
"""

import argparse
import http.client
import json
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from leaping_clock import LeapingClock, command
from network_crowd import Crowd
from network_roles import COMMAND, PROGRAM, MemoryWatch, Role, RoleKiller, free_ports, mixtally

from mixtally.device.client.net import BundleState
from mixtally.lab.data.flights import flights
from mixtally.lab.data.population import Population

ROOT = Path(__file__).parents[1]
LEVEL = 1 - 1e-9
"""The confidence level of the check of all counts."""
LEAST_BINS = 100
"""The number of bins from which the mean error is checked, too."""
ROUNDS, HOPS = 2, 3
"""The number of rounds and of hops."""
USUAL = 0.6
"""Seconds that a command takes on an idle machine."""
START = time.monotonic()
"""The start of the program, by the monotonic clock."""


def say(text: str) -> None:
    """Print a line with the seconds since the start."""
    print(f"{time.monotonic() - START:6.1f} s  {text}", flush=True)


class Network:
    """The folder of a network, its roles and their addresses."""

    def __init__(
        self, folder: Path, people: int, window: int, seed: int, *, hurry: bool = False
    ) -> None:
        self.folder, self.people, self.window = folder, people, window
        self.hurry, ahead = hurry, folder / "ahead"
        self.clock = LeapingClock(ahead)
        self.program = command(ahead) if hurry else PROGRAM
        self.chance = random.Random(seed)
        self.roles: list[Role] = []
        self.answered: Callable[[], int] = lambda: 0
        self.names = [f"mix-{place + 1}" for place in range(HOPS)] + ["collector"]
        self.addresses = [f"http://127.0.0.1:{port}" for port in free_ports(HOPS + 1)]

    def run(
        self, *arguments: str, tries: int = 1, ended: Callable[[], bool] = lambda: False
    ) -> str:
        """Run a command and return its output.

        While roles are killed, a command may need several ``tries``. A command that fails counts as
        done if ``ended`` is true.
        """
        for left in reversed(range(tries)):
            done = mixtally(*arguments, cwd=self.folder)
            if not done.returncode or ended():
                return done.stdout
            if left:
                time.sleep(2)
        raise RuntimeError(f"mixtally {' '.join(arguments)}: {done.stderr.strip()}")

    def propose(self, path: str, wish: Sequence[str], tries: int) -> None:
        """Propose a round that all roles sign.

        A call that failed may still have been completed by the roles.
        """
        self.run(
            "collector", "propose", "collector", *wish, tries=tries,
            ended=lambda: self.fetch_status(self.addresses[0], path) is not None,
        )  # fmt: skip

    def contract(
        self, name: str, labels: Sequence[str], *, rounds: int, more: Sequence[str] = ()
    ) -> str:
        """Initialize all roles, make a contract, have every mix sign it; return its fingerprint.

        ``more`` are further arguments of ``contract new``.
        """
        lines, begun = [f'name = "{name}"'], time.monotonic()
        for role, address in zip(self.names, self.addresses, strict=True):
            kind = role.split("-")[0]
            lines.append(
                self.run(kind, "init", role, "--name", role, "--address", address,
                         "--operator", f"the people of {role}")
            )  # fmt: skip
        slow = (time.monotonic() - begun) / (USUAL * len(self.names))
        if not self.hurry:
            self.window = round(self.window * max(1.0, slow))  # Devices slow down as commands do.
        lines.append(f"[rounds]\nopen_seconds = {self.window}\nevery_seconds = {self.window}")
        (self.folder / "network.toml").write_text("\n".join(lines))
        (self.folder / "labels.txt").write_text("\n".join(labels) + "\n")
        self.run("plan", "--hops", str(HOPS), "--epsilon", "1", "--delta", "1e-6",
                 "--users", str(self.people), "--minimum-crowd", str(self.people // 2),
                 "--collections", str(rounds), "--labels", "labels.txt", "--name", name,
                 "--out", "plan.json")  # fmt: skip
        said = self.run("contract", "new", "plan.json", "--network", "network.toml",
                        "--out", "contract.json", *more)  # fmt: skip
        for role in self.names[:-1]:
            self.run("mix", "sign", role, "contract.json")
        return said.split()[-1]

    def start(self, *collector_options: str) -> None:
        """Start all roles and wait until they answer."""
        self.roles = [
            Role("mix", self.folder / name, ("--processes", "0"), self.program)
            for name in self.names[:-1]
        ]
        place = self.folder / self.names[-1]
        self.roles.append(Role("collector", place, collector_options, self.program))
        for role in self.roles:
            role.start()
        for address in self.addresses:
            self.get(address, "/status")

    def wait_until(self, moment: int) -> None:
        """Wait until a time of the roles, or turn their clocks forward to it."""
        if self.hurry:
            self.clock.turn_to(moment)
        while self.clock.now() < moment:
            time.sleep(0.2)

    def count_progress(self) -> int:
        """Return a measure of progress: lines printed by roles, and twentieths of the crowd."""
        answered = 20 * self.answered() // self.people
        return answered + sum(role.count_lines for role in self.roles)

    def get(self, address: str, path: str, seconds: float = 240.0) -> bytes:
        """Return a served page; wait for it as long as the network makes progress."""
        done, end = self.count_progress(), time.monotonic() + seconds
        while time.monotonic() < end:
            if self.count_progress() > done:
                done, end = self.count_progress(), time.monotonic() + seconds
            body = self.fetch_status(address, path)
            if body is not None:
                return body
            time.sleep(0.5)
        raise RuntimeError(f"{address}{path}: nothing done for {seconds:.0f} seconds")

    def fetch_status(self, address: str, path: str) -> bytes | None:
        """Return a served page, or None if it is not served now."""
        try:
            link = http.client.HTTPConnection(address.removeprefix("http://"), timeout=10)
            try:
                link.request("GET", path)
                answer = link.getresponse()
                body = answer.read()
            finally:
                link.close()
        except (OSError, http.client.HTTPException):
            return None
        return body if answer.status == 200 else None

    def end(self) -> None:
        """End all processes of the network."""
        for role in self.roles:
            role.end()


def play(network: Network, diaries: Path, *, kill: bool, seed: int) -> int:
    """Run all rounds and return the number of failed checks."""
    population = flights()
    fingerprint = network.contract("flights", population.question.labels, rounds=ROUNDS)
    say(f"four roles are initialized; contract {fingerprint[:16]}... is signed by its mixes")
    network.start()
    killer = RoleKiller(network.roles, network.count_progress, seed)
    if kill:
        killer.start()
    tries = 40 if kill else 20
    try:
        network.run("collector", "sign", "collector", "contract.json", tries=tries)
        opens = datetime.fromtimestamp(time.time() + (network.window if kill else 1), UTC)
        for number in range(1, ROUNDS + 1):
            wish = ("--opens", opens.isoformat()) if number == 1 else ()
            network.propose(f"/contracts/{fingerprint}/rounds/{number}", wish, tries)
        say(f"all serve; {ROUNDS} rounds are signed by all")
        note = network.get(network.addresses[0], f"/contracts/{fingerprint}")
        truths = [
            one_round(network, _crowd(network, diaries, note, fingerprint), population, number)
            for number in range(1, ROUNDS + 1)
        ]
        for number in range(1, ROUNDS + 1):
            path = f"/contracts/{fingerprint}/rounds/{number}/result"
            network.get(network.addresses[-1], path)
            say(f"round {number}: the collector has a result")
    finally:
        if kill:
            killer.stop()
            times = sorted(Counter(killer.killed).items())
            named = ", ".join(f"{name} {many} times" for name, many in times)
            say(f"killed {len(killer.killed)} times, with SIGKILL: {named}")
    failed = report(network, truths)
    if kill and not failed:
        sent = " and ".join(f"{taken.total():,}" for taken, _ in truths)
        say(f"nothing was lost: all {sent} acknowledged bundles were counted, each once")
    return failed


def _crowd(network: Network, diaries: Path, note: bytes, fingerprint: str) -> Crowd:
    """Return the crowd of a round, whose answers count as progress."""
    crowd = Crowd(diaries, note, fingerprint, clock=network.clock.now, at_once=network.hurry)
    before = network.answered()
    network.answered = lambda: before + crowd.ended
    return crowd


def one_round(
    network: Network, crowd: Crowd, population: Population, number: int
) -> tuple[Counter[str], Counter[str]]:
    """Run one round.

    Returns the values of people whose bundle was acknowledged, and the values of all others.
    """
    fingerprint = crowd.agreed.contract.fingerprint
    path = f"/contracts/{fingerprint}/rounds/{number}"
    sheet = network.get(network.addresses[0], path)
    times = json.loads(sheet.partition(b"\n\n")[0])
    network.wait_until(times["opens"])
    codes = network.chance.sample(range(population.users), network.people)
    values = [population.question.labels[population.codes[place]] for place in codes]
    found = crowd.answer(sheet, values)
    taken = found[BundleState.TAKEN]
    others = sum(
        (found[state] for state in found if state is not BundleState.TAKEN), Counter[str]()
    )
    if network.hurry:
        network.wait_until(times["closes"])
    say(f"round {number}: {taken.total():,} bundles acknowledged, {others.total():,} not")
    return taken, others


def report(network: Network, truths: list[tuple[Counter[str], Counter[str]]]) -> int:
    """Print the summary, compare every released estimate with the truth, and count failures."""
    page = network.get(network.addresses[-1], "/")
    (network.folder / "page.html").write_bytes(page)
    print(network.run("collector", "publish", "collector"))
    failed = 0
    for number, (taken, others) in enumerate(truths, 1):
        print(network.run("collector", "publish", "collector", "--round", str(number),
                          "--top", "8"))  # fmt: skip
        text = network.run("collector", "publish", "collector", "--round", str(number),
                           "--level", str(LEVEL), "--json")  # fmt: skip
        failed += count_contradictions(number, json.loads(text), taken, others)
    print(f"the page: {network.folder / 'page.html'}")
    return failed


def count_contradictions(
    number: int, said: dict[str, Any], taken: Counter[str], others: Counter[str]
) -> int:
    """Return how many numbers of a round contradict what people truly sent."""
    if not said["released"]:
        print(f"round {number}: WRONG: not released: {said['refusal']}")
        return 1
    people, most = said["received"]["contributors"], taken.total() + others.total()
    wrong = [] if taken.total() <= people <= most else [f"{people:,} people"]
    for row in said["estimates"]:
        true = taken[row["label"]]
        low, high = row["lower_simultaneous"], row["upper_simultaneous"]
        if not low - others[row["label"]] <= true <= high:
            wrong.append(f"{row['label']}: {low} .. {high}, truly {true}")
    errors = [row["estimate"] - taken[row["label"]] for row in said["estimates"]]
    ratio = (sum(one * one for one in errors) / len(errors)) ** 0.5 / said["standard_error"]
    # With 100 bins, this happens by chance less than once in 10^9 rounds; with few bins, often.
    if len(errors) >= LEAST_BINS and not 0.5 < ratio < 1.7:
        wrong.append(f"errors of {ratio:.2f} times the standard error")
    print(
        f"round {number}: {people:,} people, each acknowledged one counted once; standard error "
        f"{said['standard_error']:.1f}, measured {ratio:.2f} times that; "
        + (f"WRONG: {'; '.join(wrong)}" if wrong else
           f"all {len(said['estimates'])} true counts lie in their simultaneous intervals at "
           f"{100 * LEVEL:.10g} % (false alarm: {1 - LEVEL:.0e} a round)")
    )  # fmt: skip
    return len(wrong)


def diary_folder() -> str:
    """Return a folder for diaries, in memory if possible.

    Real devices have a disk each. This machine would write all diaries to one disk.
    """
    shared = Path("/dev/shm")
    return tempfile.mkdtemp(prefix="mixtally-", dir=shared if shared.is_dir() else None)


def main() -> None:
    """Run the network and exit with status 1 if a check failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kill", action="store_true", help="kill roles at random moments")
    parser.add_argument("--people", type=int, default=2000)
    parser.add_argument("--window", type=int, default=40, help="seconds that a round is open")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**6)
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "network")
    parser.add_argument("--hurry", action="store_true", help="wait for no time of a round")
    given = parser.parse_args()
    # SystemExit runs the finally block below, which ends all processes.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    shutil.rmtree(given.out, ignore_errors=True)
    given.out.mkdir(parents=True)
    say(f"seed {given.seed}, in {given.out}; roles run as {' '.join(COMMAND[:1])}")
    network = Network(given.out, given.people, given.window, given.seed, hurry=given.hurry)
    memory, place = MemoryWatch(), Path(diary_folder())
    memory.start()
    try:
        failed = play(network, place, kill=given.kill, seed=given.seed)
    finally:
        network.end()
        shutil.rmtree(place, ignore_errors=True)
    say(f"done: at most {memory.stop() / 1e6:,.0f} MB resident in all processes together")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
