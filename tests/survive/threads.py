"""Rounds of roles that share a process: each has its loop, web server and threads for its peers.

Threads of one role write the same files and take turns with its database. A driver turns the clock,
so rounds follow each other as fast as the machine allows. Run with ``tests`` in the path:

    PYTHONPATH=tests:. python -m survive.threads --seconds 600
"""

import argparse
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from helpers.devices import ANY
from helpers.roles_in_folders import ENVIRONMENT, START
from mixtally.device.client.net import Pins, open_round, post, verify_contract
from mixtally.device.client.net.seal import seal_answer
from mixtally.model.roles import Rounds
from mixtally.primitives.chance import SecureChance
from mixtally.server.collector import Collector, propose, sign
from mixtally.server.collector.serve import application_of
from mixtally.server.mix.intake import Intake
from mixtally.server.mix.mix import Mix, Options
from mixtally.server.mix.serve import mix_application
from mixtally.server.node import loop
from mixtally.server.node.calls import call
from mixtally.server.node.folder import open_folder
from mixtally.server.node.loop import Loop
from mixtally.server.node.node import Node
from mixtally.server.node.peers import Peers
from mixtally.server.node.web.run import Server, open_listening_socket
from scripts.network_roles import free_ports
from survive.year_world import HOPS, SHIFT, make_folders, make_network, words

OPEN, EVERY, PEOPLE = 600, 1000, 3
_SECOND = 0.1
"""How long a second of the roles is while they are waited for."""
_ROUNDS = 100
"""Rounds of one network, after which another begins."""


class Threads:
    """A network in this process.

    where
      stopped   errors that would have ended a role's process
    """

    def __init__(self, place: Path, rounds: int) -> None:
        self.now, self.stopped, self.ends = START, [], []
        folders = make_folders(place, free_ports(HOPS + 1))
        window = Rounds(open_seconds=OPEN, every_seconds=EVERY)
        self.network = make_network(folders, PEOPLE, rounds, window)
        self.mixes = [self._begin(folder, self._mix) for folder in folders[:-1]]
        self.collector = self._begin(folders[-1], lambda _, *given: Collector(*given))
        self.first = folders[0].role.address
        self.senders = ThreadPoolExecutor(PEOPLE)

    def _mix(self, folder, node, peers):
        intake = Intake(folder.subfolder("rounds"), self.stopped.append)
        return Mix(node, peers, intake, Options(background=True))

    def _begin(self, folder, make):
        folder = open_folder(folder.path, ENVIRONMENT)
        node = Node(folder, SecureChance())
        role = make(folder, node, Peers(node, call, background=True))
        application = application_of if isinstance(role, Collector) else mix_application
        app = application(role, lambda: self.now, self.stopped.append)
        turns = Loop(role.tick, lambda: self.now, self.stopped.append)
        node.wake = turns.wake
        turns.start()
        stop = Server(app).run_in_thread(open_listening_socket("127.0.0.1", folder.role.port))
        self.ends += [stop, turns.end, role.end]
        return role

    def wait(self, done, what: str, seconds: float = 300.0):
        """Wait until something holds, or a role has failed; the clock goes on meanwhile."""
        begun, end, now = time.monotonic(), time.monotonic() + seconds, self.now
        while not (found := done()):
            if self.stopped:
                raise self.stopped[0]
            if time.monotonic() > end:
                raise TimeoutError(f"not within {seconds:.0f} seconds: {what}")
            time.sleep(0.002)
            self.now = max(self.now, now + int((time.monotonic() - begun) / _SECOND))
        return found

    def turn(self, now: int) -> None:
        """Let it be another time."""
        self.now = now
        for role in (*self.mixes, self.collector):
            role.node.wake()

    def by_hand(self, command):
        """A command, which opens what is being served."""
        node = Node(open_folder(self.collector.node.folder.path, ENVIRONMENT), SecureChance())
        try:
            return command(node, self.network.agreed)
        finally:
            node.close()

    def signed(self):
        """Let all sign the contract; it as devices know it."""
        text = self.network.text
        self.wait(lambda: all(mix.node.cleared for mix in self.mixes), "mixes that are ready")
        done = self.wait(
            lambda: self.by_hand(lambda node, agreed: sign(node, agreed, text, call, self.now)),
            "a contract",
        )
        assert not done.missing, done.missing
        self.wait(lambda: self.collector.node.cleared, "a collector that is ready")
        return verify_contract(done.note, Pins(self.network.agreed.fingerprint), ANY)

    def round(self, agreed) -> None:
        """One round: every person answers at once, and is counted once."""
        given = self.by_hand(lambda node, about: propose(node, about, call, self.now))
        number, sheet = given.sheet.round, given.sheet
        self.turn(sheet.opens)
        opened = open_round(agreed, given.note, self.now)
        path = f"/contracts/{self.network.agreed.fingerprint}/rounds/{number}/bundles"

        def answer(person):
            made = seal_answer(opened, person, words, self.now, at_once=True)
            return post(self.first, path, made.bundle, 50.0).status == 201

        self.wait(lambda: all(self.senders.map(answer, range(PEOPLE))), "answers", 50.0)
        self.turn(sheet.closes)
        rows = self.collector.node.rounds

        def over():
            row = rows.of(sheet.contract, number)
            gone = all(
                mix.node.rounds.of(sheet.contract, number).state == "shredded" for mix in self.mixes
            )
            return gone and row.ended

        self.wait(over, f"the end of round {number}")
        row = rows.of(sheet.contract, number)
        tally = self.collector.results.read_tally(row.folder)
        counts = [count - HOPS * SHIFT for count in tally.parts[0].counts]
        if row.ended != "released" or min(counts) < 1:
            raise AssertionError(f"round {number} is {row.ended}: {counts}")

    def end(self) -> None:
        """Stop all threads."""
        self.senders.shutdown()
        for end in self.ends:
            end()


def play(rounds: int, seconds: float) -> int:
    """Play rounds until one fails, which raises, or the time is over; how many there were."""
    end, done, shared = time.monotonic() + seconds, 0, Path("/dev/shm")
    while done < rounds and time.monotonic() < end:
        with tempfile.TemporaryDirectory(dir=shared if shared.is_dir() else None) as place:
            town = Threads(Path(place), _ROUNDS)
            try:
                agreed = town.signed()
                for _ in range(_ROUNDS):
                    if done == rounds or time.monotonic() > end:
                        break
                    town.round(agreed)
                    done += 1
            except BaseException as error:
                error.add_note(f"after {done} rounds")
                raise
            finally:
                town.end()
    return done


def main() -> None:
    """Play rounds, and print how many there were."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=600.0)
    given = parser.parse_args()
    loop.TICK_SECONDS = 0.3  # some deliveries wait for the next pass of a loop
    print(f"{play(given.rounds, given.seconds):,} rounds without a failure")
    sys.exit()


if __name__ == "__main__":
    main()
