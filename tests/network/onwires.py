"""A whole network over loopback sockets, all of them tapped; its chance repeats."""

import random
import shutil
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

from mixtally.device.client import Limits
from mixtally.device.client.net import (
    BundleState,
    Diary,
    Pins,
    deliver,
    open_round,
    prepare,
    verify_contract,
)
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.server.node import calls
from mixtally.server.node.peers import Peers
from mixtally.server.node.web.run import Server, open_listening_socket
from network.conftest import folder
from network.stage import Stage

NAMES = ("mix-1", "mix-2", "mix-3", "collector")
ANY = Limits(epsilon=20.0, delta=0.1, hops=1)


def call(address, method, path, body=b"", **more):
    """A request that a busy machine may delay: asked again, it would be heard twice."""
    with mock.patch.object(calls, "SECONDS", 300.0):
        return calls.call(address, method, path, body, **more)


class Words:
    """Repeatable words of one device."""

    def __init__(self, seed):
        self._chance = random.Random(seed)

    def __call__(self, count):
        return self._chance.randbytes(8 * count)


class OnWires(Stage):
    """A stage whose roles listen behind taps."""

    def __init__(self, place, taps, **changes):
        super().__init__(place, ports=taps.ports, **changes)
        self.taps, self.stops = taps, []

    def call(self, address, method, path, body=b""):
        return call(address, method, path, body)

    def peers(self, node, overruled=()):
        return Peers(node, call, frozenset(overruled))

    def all_awake(self, **options):
        """All roles, each with a chance that repeats; they listen and have asked each other."""
        hops = len(self.jobs)
        self.mixes = [
            self.awaken(place, chance=SeededChance(place), **options)
            for place in range(1, hops + 1)
        ]
        self.office = self.awaken_collector(chance=SeededChance(hops + 1))
        for name, one in zip(NAMES, self.folders, strict=True):
            where = open_listening_socket("127.0.0.1", 0)
            self.taps.of[name].upstream = where.getsockname()[1]
            self.stops.append(Server(self.apps[one.role.address]).run_in_thread(where))
        for _ in range(2):
            self.tick()
        return self.mixes

    def answer(self, value, seed, ask=None):
        """A person fetches contract and sheet, and answers; whether mix 1 has it."""
        first = self.folders[0].role.address
        note = call(first, "GET", f"/contracts/{self.fingerprint}").body
        sheet = call(first, "GET", self.path("")).body
        given = open_round(verify_contract(note, Pins(self.fingerprint), ANY), sheet, self.now)
        more = {} if ask is None else {"ask": ask}
        with Diary(self.place / f"diary-{seed}.db") as diary:
            entry = prepare(diary, given, value, Words(seed), self.now, at_once=True)
            return deliver(diary, entry, self.now, **more).state is BundleState.TAKEN

    def end(self):
        with ThreadPoolExecutor() as hands:
            list(hands.map(lambda stop: stop(), self.stops))
        super().end()


def heard(taps, plan, values, *, ask=None, **sheet):
    """All that passes the taps in a round in which these people answer."""
    where = folder()
    try:
        stage = OnWires(where, taps, plan=plan)
        stage.all_awake()
        try:
            stage.round(**sheet)
            for seed, value in enumerate(values):
                assert stage.answer(value, seed, ask)
            stage.finish()
            assert stage.states().split()[:3] == ["shredded/delivered"] * 3
            opened = plan is not None and plan.question.hashed is not None
            state = stage.row().state  # words of an open question are counted when they are listed
            assert opened or state == "released", state
        finally:
            stage.end()
        return taps.take()
    finally:
        shutil.rmtree(where)
