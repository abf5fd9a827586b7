"""Three mixes and a collector on real sockets, each with its loop; a test turns the clock."""

import time
from collections import Counter

import pytest

from helpers import roles_in_folders
from helpers.mixes import Town
from mixtally.server.mix.mix import Options
from mixtally.server.node.calls import call
from mixtally.server.node.loop import Loop
from mixtally.server.node.peers import Peers
from mixtally.server.node.web.routes import SharedRoutes, application
from mixtally.server.node.web.run import Server, open_listening_socket

BINS = [bytes([i]) for i in range(4)]


class OnSockets(Town):
    """A town whose roles listen."""

    def begin(self):
        self.stops, self.loops = [], []
        self.all_awake(options=Options(background=True))
        for place, mix in enumerate(self.mixes):
            self.loops.append(Loop(mix.tick, lambda: self.now, mix.stopped.append))
            mix.node.wake = self.loops[-1].wake
            self.serve(place, self.apps[mix.node.folder.role.address])
        clock = SharedRoutes(self.collector, lambda: self.now)
        self.serve(len(self.mixes), application(clock.routes(), print))
        # All listen before anybody asks: while the clock stands, no silent role is asked again.
        for loop in self.loops:
            loop.start()

    def serve(self, place, app):
        self.stops.append(Server(app).run_in_thread(self.sockets[place]))

    def call(self, address, method, path, body=b""):
        return call(address, method, path, body)

    def all_awake(self, **options):
        self.collector = self.node(len(self.folders))
        self.mixes = [self.awaken(place + 1, **options) for place in range(len(self.jobs))]

    def peers(self, node, overruled=()):
        return Peers(node, call, frozenset(overruled), background=True)


def wait_for(what):
    """It is the servers' threads that are waited for, not the clock of rounds."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if what():
            return
        time.sleep(0.01)
    raise AssertionError("it did not come")


@pytest.mark.seconds
def test_a_round_over_sockets(tmp_path, plant):
    sockets = [open_listening_socket("127.0.0.1", 0) for _ in range(4)]
    ports = iter([place.getsockname()[1] for place in sockets])

    def role_file(honest, **fields):
        return honest(**fields | {"address": f"http://127.0.0.1:{next(ports)}"})

    plant(roles_in_folders, "RoleFile", role_file)
    town = OnSockets(tmp_path)
    town.sockets = sockets
    town.begin()
    try:
        contract, first = town.fingerprint, town.folders[0].role.address
        wait_for(lambda: all(mix.node.cleared for mix in town.mixes))
        addresses = [folder.role.address for folder in town.folders]
        keys = [call(one, "POST", f"/contracts/{contract}/rounds/1/key") for one in addresses]
        assert all(key.is_success for key in keys)
        nodes = [mix.node for mix in town.mixes] + [town.collector]
        town.note = town.collector.propose(town.sheet(nodes), town.now)
        for _ in range(2):
            for address in addresses:
                answer = call(address, "POST", "/notes", town.note)
                assert answer.status == 200
                town.note = answer.body
        path = f"/contracts/{contract}/rounds/1"
        assert call(first, "GET", path).body == town.note
        wait_for(lambda: town.mixes[0].windows)
        sent = [BINS[i % 3] for i in range(12)]
        for message in sent:
            assert call(first, "POST", path + "/bundles", town.bundle([message])).status == 201
        assert call(first, "POST", path + "/bundles", b"x").status == 400
        town.close()
        row = town.collector.rounds.all()[0]
        wait_for(
            lambda: town.collector.preceding_manifest(row) and not town.collector.count_missing(row)
        )
        (found,) = town.opened()
        added = sum(town.collector.manifest_of(row, hop)[1].parts[0].added for hop in (1, 2, 3))
        assert len(found) == len(sent) + added
        assert not Counter(sent) - Counter(found)
        town.receive()
        wait_for(lambda: {mix.node.rounds.all()[0].state for mix in town.mixes} == {"shredded"})
        assert [mix.stopped for mix in town.mixes] == [[], [], []]
    finally:
        for stop in town.stops:
            stop()
        for loop in town.loops:
            loop.end()
        town.end()
