"""A real process whose loop hangs says so on its port, to its operator and in its log."""

import json
import re

import pytest

from mixtally.server.node.calls import call
from network.processes import Processes
from network.test_dead_peer import until
from scripts.network_roles import free_ports

HANGS = """
import os, time
from mixtally.server.mix.mix import Mix
from mixtally.server.node import loop, running
running.BUSY_SECONDS, loop._WATCH_SECONDS = 1, 0.1
usual = Mix.tick
def tick(self, now):
    while os.path.exists("hang"):
        time.sleep(0.1)
    usual(self, now)
Mix.tick = tick
from mixtally.cli.main import run; run()
"""


def waits(network):
    """What the role waits for, as it says on its port."""
    status, said = network.request("mix-1", "GET", "/readyz")
    found = json.loads(said.splitlines()[-1])
    assert (status == 200) is found["ready"]
    return [one["event"] for one in found["waits"]]


@pytest.mark.seconds
def test_a_loop_that_hangs_is_seen(tmp_path):
    network = Processes(tmp_path)
    network.ports = {"mix-1": free_ports(1)[0]}
    address = f"http://127.0.0.1:{network.ports['mix-1']}"
    network.run("mix", "init", "mix-1", "--name", "mix-1", "--operator", "M", "--address", address)
    serve = ("mix", "serve", "mix-1", "--processes", "0", "--metrics-port", "0")
    try:
        network.served.append(network.begin(*serve, program=HANGS))
        network.get("mix-1", "/status")
        until(lambda: waits(network), [])  # a pass of a busy machine may take a second, too
        (tmp_path / "hang").touch()
        until(lambda: waits(network), ["loop busy"])
        metrics = re.search(r"metrics served at=(\S+)/metrics", network.log(serve))[1]
        text = call(metrics, "GET", "/metrics").body.decode()
        assert float(re.search(r"^mixtally_loop_age_seconds (.*)$", text, re.M)[1]) >= 1.0
        assert "mixtally_ready 0\n" in text
        assert network.begin("mix", "status", metrics).wait(60) == 1
        assert call(address, "GET", "/metrics").status == 404
        (tmp_path / "hang").unlink()
        until(lambda: waits(network), [])
        # A line is written after the answer that it is about may be given.
        until(lambda: " loop free seconds=" in network.log(serve), True)
        assert " loop busy seconds=" in network.log(serve)
    finally:
        (tmp_path / "hang").unlink(missing_ok=True)
        network.end()
