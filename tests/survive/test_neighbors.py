"""Ten slow roles of other contracts: a mix opens, closes and begins again as if it had none.

Mixes and a collector are processes, by their commands; each of the ten answers a byte every three
seconds. The measured seconds are printed (``pytest -s``). The clocks of the roles are turned
forward to the end of the round.
"""

import json
import os
import subprocess
import sys
import time
from contextlib import suppress

import pytest

from helpers.devices import ANY
from helpers.roles_in_folders import ENVIRONMENT
from mixtally.device.client.net import Diary, Pins, open_round, post, prepare, verify_contract
from mixtally.errors import DataError
from mixtally.model.roles import Rounds
from mixtally.primitives.chance import SecureChance
from mixtally.server.collector import Proposal, propose, sign
from mixtally.server.node.calls import SilentError, call
from mixtally.server.node.folder import open_folder
from mixtally.server.node.node import Node
from scripts.leaping_clock import command, leap
from scripts.network_roles import free_ports
from survive.year_world import make_folders, make_neighbors, make_network, slow_peers, words

OPEN, STRANGERS, PEOPLE = 600, 10, 4
PATIENCE = 100.0
"""Seconds that each step may take on a busy machine; on an idle one it is 1, 2 and 5."""
LONG_CALLS = f"""
from mixtally.server.node import calls
calls.SECONDS = {PATIENCE}
"""
"""A call of one neighbor lasts three times as long, so that whoever waits for it is noticed."""


class Neighborhood:
    """The roles of a contract, whose mixes have ten neighbors each."""

    def __init__(self, place, strangers):
        self.folders = make_folders(place, free_ports(4))
        window = Rounds(open_seconds=OPEN, every_seconds=OPEN)
        self.network, self.place = make_network(self.folders, PEOPLE, 2, window), place
        for number, folder in enumerate(self.folders[:-1]):
            for half in (0, 1):
                some = strangers[half * STRANGERS // 2 :][: STRANGERS // 2]
                make_neighbors([folder], some, 2 * number + half)
        self.first, self.served = self.folders[0].role.address, {}
        self.ahead = place / "ahead"

    def start(self, folders):
        for folder in folders:
            kind = folder.role.name.partition("-")[0]
            more = ["--processes", "0"] if kind == "mix" else []
            with (self.place / f"{folder.role.name}.log").open("ab") as log:
                self.served[folder.role.name] = subprocess.Popen(
                    [sys.executable, "-c", LONG_CALLS + command(self.ahead), kind, "serve",
                     str(folder.path), *more],
                    env=os.environ | ENVIRONMENT,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                )  # fmt: skip

    def by_hand(self, act):
        node = Node(open_folder(self.folders[-1].path, ENVIRONMENT), SecureChance())
        try:
            return act(node, self.network.agreed, int(time.time()))
        finally:
            node.close()

    def signed(self):
        """The contract and a round, signed by all."""
        text = self.network.text

        def contract(node, agreed, now):
            done = sign(node, agreed, text, call, now)
            return None if done.missing else done.note

        note = until(lambda: self.by_hand(contract))
        self.agreed = verify_contract(note, Pins(self.network.agreed.fingerprint), ANY)

        def sheet(node, agreed, now):
            with suppress(DataError):  # a mix has not heard all others yet
                return propose(node, agreed, call, now, Proposal(opens=now + 2, expiry_delay=6000))

        return until(lambda: self.by_hand(sheet))

    def taken(self, person, given):
        """Send an answer until it is taken; when that was."""
        opened = open_round(self.agreed, given.note, int(time.time()))
        with Diary(self.place / f"{person}.db") as diary:
            entry = prepare(diary, opened, person, words, int(time.time()), at_once=True)
            bundle = diary.bundle(entry)
        until(lambda: post(self.first, entry.path, bundle, 3.0).status == 201)
        return time.time()

    def state(self, address):
        try:
            rows = json.loads(call(address, "GET", "/status").body)["rounds"]
        except SilentError:
            return ""
        return rows[0]["state"]

    def end(self):
        for process in self.served.values():
            process.kill()
            process.wait()


def until(done, seconds=300.0):
    """Wait for other processes."""
    end = time.monotonic() + seconds
    while not (found := done()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return found


@pytest.mark.seconds
def test_ten_slow_neighbors_delay_nothing(tmp_path):
    with slow_peers(STRANGERS) as strangers:
        town = Neighborhood(tmp_path, strangers)
        try:
            town.start(town.folders)
            for folder in town.folders:
                until(lambda at=folder.role.address: reached(at))
            given = town.signed()
            time.sleep(max(0.0, given.sheet.opens - time.time()))
            opening = town.taken(0, given) - given.sheet.opens
            town.taken(1, given)
            for folder in town.folders[:-1]:
                town.served[folder.role.name].kill()
                town.served[folder.role.name].wait()
            begun = time.time()
            town.start(town.folders[:-1])
            restart = town.taken(2, given) - begun
            leap(town.ahead, OPEN)
            closing = time.time()
            until(lambda: town.state(town.first) not in ("", "signed", "open", "closed"))
            mixing = time.time() - closing
            last = town.folders[-1].role.address
            until(lambda: town.state(last) == "released")
            released = time.time() - closing
        finally:
            town.end()
    print(f"{opening:.2f} s after opening, {restart:.2f} s after a restart, mixed {mixing:.2f} s "
          f"after the close, released {released:.2f} s")  # fmt: skip
    assert max(opening, restart, mixing) < PATIENCE


def reached(address):
    try:
        return call(address, "GET", "/status").is_success
    except SilentError:
        return False
