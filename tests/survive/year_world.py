"""A network for a soak: its contract, the people who answer, and slow neighbors of a mix.

Fakes are as many in every bin as the mean (their ratio is one in 2^64) and person i answers bin i,
so the tally of a round says how often each person was counted.
"""

import socket
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from helpers import contracts
from helpers.devices import ANY
from helpers.roles_in_folders import ENVIRONMENT
from mixtally.device.client.net import (
    Diary,
    Pins,
    deliver_until_answered,
    open_round,
    post,
    prepare,
    verify_contract,
)
from mixtally.device.wire.bundle import bundle_bytes
from mixtally.errors import RefusedError
from mixtally.model.contract import fingerprint_of, write_contract
from mixtally.model.contract.job import job_of
from mixtally.model.question import Question
from mixtally.model.roles import Rounds
from mixtally.primitives.chance import SecureChance
from mixtally.server.collector import SignedContract
from mixtally.server.mix.closing.close import bundle_shapes
from mixtally.server.mix.jobs import take_job
from mixtally.server.node.folder import Folder, RoleFile, create_folder, open_folder, to_role
from mixtally.server.node.node import Node

SHIFT, HOPS = 1, 3
DRIP_SECONDS = 3.0
"""Seconds between two bytes of a slow peer's answer."""


class Network(NamedTuple):
    """Roles in folders, the last of them a collector, and what they agree on."""

    folders: list[Folder]
    agreed: SignedContract
    text: bytes

    @property
    def name(self) -> str:
        return self.agreed.contract.name

    @property
    def shapes(self):
        """The format of a bundle."""
        return bundle_shapes(job_of(self.agreed.contract, self.agreed.fingerprint, 1))


def make_folders(place: Path, ports: list[int]) -> list[Folder]:
    """Create the folders of some mixes and a collector, a port for each."""
    names = [f"mix-{number}" for number in range(1, len(ports))] + ["collector"]
    return [
        create_folder(
            place / name,
            RoleFile(
                name=name,
                address=f"http://127.0.0.1:{port}",
                operator=f"Team {name}",
                host="127.0.0.1",
                port=port,
                master="env:MASTER",
            ),
            ENVIRONMENT,
            SecureChance(),
        )
        for name, port in zip(names, ports, strict=True)
    ]


def plan(bins: int, rounds: int, hops: int, crowd: int = 2):
    """A plan for so many people, who have a bin each."""
    part = contracts.shaped(bins, ratio=1, shift=SHIFT)
    question = Question(name="q", bins=bins)
    return contracts.plan_of(
        question, [part], hops=hops, collections=rounds, users=bins, minimum_crowd=crowd
    )


def make_network(
    folders: list[Folder], people: int, rounds: int, window: Rounds, serial: int = 1
) -> Network:
    """Make a contract between all roles, which every mix has signed."""
    roles = [to_role(folder.role, folder.signer) for folder in folders]
    made = contracts.contract_of(
        plan(people, rounds, len(folders) - 1),
        hops=tuple(roles[:-1]),
        collector=roles[-1],
        rounds=window,
        serial=serial,
    )
    text = write_contract(made)
    network = Network(folders, SignedContract(made, fingerprint_of(text)), text)
    for number, folder in enumerate(folders[:-1], 1):
        _sign(folder, made, number)
    return network


def make_neighbors(folders: list[Folder], addresses: list[str], number: int) -> None:
    """Let mixes sign another contract, whose other roles have these addresses."""
    strangers = [
        replace(contracts.role(f"stranger-{number}-{place}"), address=address)
        for place, address in enumerate(addresses)
    ]
    mixes = [to_role(folder.role, folder.signer) for folder in folders]
    made = contracts.contract_of(
        plan(2, 1, len(mixes) + len(strangers) - 1),
        name=f"neighbors-{number}",
        hops=(*mixes, *strangers[:-1]),
        collector=strangers[-1],
    )
    for place, folder in enumerate(folders, 1):
        _sign(folder, made, place)


def _sign(folder: Folder, contract, place: int) -> None:
    text = write_contract(contract)
    node = Node(open_folder(folder.path, ENVIRONMENT), SecureChance())
    take_job(node, job_of(contract, fingerprint_of(text), place), text)
    node.close()


@contextmanager
def slow_peers(count: int):
    """So many listeners that answer a byte every three seconds; their addresses."""
    ended, places = (
        threading.Event(),
        [socket.create_server(("127.0.0.1", 0)) for _ in range(count)],
    )

    def drip(link):
        with link, suppress(OSError):
            link.recv(1 << 16)
            link.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n")
            while not ended.wait(DRIP_SECONDS):
                link.sendall(b"x")

    def accept(place):
        with suppress(OSError):
            while True:
                threading.Thread(target=drip, args=(place.accept()[0],), daemon=True).start()

    for place in places:
        threading.Thread(target=accept, args=(place,), daemon=True).start()
    try:
        yield [f"http://127.0.0.1:{place.getsockname()[1]}" for place in places]
    finally:
        ended.set()
        for place in places:
            with suppress(OSError):
                place.shutdown(socket.SHUT_RDWR)
            place.close()


class Crowd:
    """People who answer every round, each with a diary; person i answers bin i.

    where
      doors   addresses that take bundles, of which each person uses one
      first   round -> moment of the first acknowledgement, by the clock
    """

    def __init__(self, place: Path, note: bytes, network: Network, people: int, clock, doors):
        self.place, self.people, self.clock, self.doors = place, people, clock, doors
        self.first = {}
        self.follow(note, network)
        self._turn = threading.Lock()
        self._garbage = bundle_bytes(network.shapes)
        place.mkdir()

    def follow(self, note: bytes, network: Network) -> None:
        """Answer under a contract from now on."""
        self.agreed = verify_contract(note, Pins(network.agreed.fingerprint), ANY)

    def answer(self, agreed, person: int, sheet: bytes, number: int, moment: float) -> None:
        """Take part in a round at a moment, and go on until the bundle is answered."""
        self.clock.until(moment)
        # A round can be over before a busy machine has prepared the answer.
        with self._diary(person) as diary, suppress(RefusedError):
            given = open_round(agreed, sheet, int(self.clock.now()))
            entry = prepare(diary, given, person, words, int(self.clock.now()), at_once=True)
            door = self.doors[person % len(self.doors)]
            entry = deliver_until_answered(
                diary,
                entry,
                self.clock.now,
                self.clock.sleep,
                ask=lambda _, path, body: post(door, path, body, 3.0),
            )
            if entry.state.value == "taken":
                with self._turn:
                    self.first.setdefault(number, self.clock.now())

    def flood(self, number: int, bundles: int) -> None:
        """Send so many bundles of nothing, as anybody may."""
        path = f"/contracts/{self.agreed.contract.fingerprint}/rounds/{number}/bundles"
        post(
            self.doors[0],
            path,
            words(self._garbage * bundles // 8 + 1)[: self._garbage * bundles],
            3.0,
        )

    def ends(self) -> dict[tuple[int, int], str]:
        """(person, round) -> how it ended, as the person's diary has it."""
        found = {}
        for person in range(self.people):
            with self._diary(person) as diary:
                found |= {(person, one.round): one.state.value for one in diary.entries()}
        return found

    def _diary(self, person: int) -> Diary:
        return Diary(self.place / f"{person}.db")


def words(count: int) -> bytes:
    return SecureChance().words(count).astype("<u8").tobytes()


def wait_for(done, what: str, seconds: float = 300.0) -> None:
    """Wait until something holds, which other processes do; it is no clock of a round."""
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() > end:
            raise TimeoutError(f"not within {seconds:.0f} seconds: {what}")
        time.sleep(0.1)
