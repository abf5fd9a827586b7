"""Real processes: a peer that is killed or stopped in an open window is named by all others."""

import json
import re
import signal
import time

import pytest

from network.processes import SECONDS, Processes
from scripts.network_roles import free_ports

FAST = """
from mixtally.server.node import calls, health, peers
peers._HEALTH_SECONDS, health.RECORD_SECONDS, calls.SECONDS = 2, 2, 2.0
from mixtally.cli.main import run; run()
"""
"""Health is asked every two seconds in place of a minute."""


def warned(network, name):
    """The peers that a role names on ``/readyz``, which is the last line of the answer."""
    said = json.loads(network.request(name, "GET", "/readyz")[1].splitlines()[-1])
    return sorted(one["role"] for one in said["warnings"] if one["event"] == "peer unreachable")


def told(network):
    """What mix-1 has logged of the other mix, in order."""
    log = network.log(("mix", "serve", "mix-1"))
    return re.findall(r"peer (unreachable|back) role=mix-2 ", log)


def until(act, expected):
    """Wait until something has a value: other processes have no clock of ours."""
    for _ in range(10 * SECONDS):
        if (found := act()) == expected:
            return
        time.sleep(0.1)
    raise AssertionError(found)


@pytest.mark.seconds
def test_a_dead_peer_is_named_in_an_open_window(tmp_path, monkeypatch):
    """It is stopped, goes on, and is killed."""
    network = Processes(tmp_path)
    begin = network.begin
    monkeypatch.setattr(
        network, "begin", lambda *given, **more: begin(*given, **{"program": FAST} | more)
    )
    network.prepare(free_ports(3))
    try:
        network.serve()
        dead = network.served[1]
        for how, expected in (
            (signal.SIGCONT, []),
            (signal.SIGSTOP, ["mix-2"]),
            (signal.SIGCONT, []),
            (signal.SIGKILL, ["mix-2"]),
        ):
            dead.send_signal(how)
            for name in ("mix-1", "collector"):
                until(lambda name=name: warned(network, name), expected)
        # More often if mix-1 began to serve before mix-2 did, or if a busy machine was too slow.
        until(lambda: told(network)[-1:], ["unreachable"])
        events = told(network)
        assert len(events) >= 3
        assert events == ["unreachable", "back"] * (len(events) // 2) + ["unreachable"]
        said = "mix-2 has not answered since 2"
        until(lambda: said.encode() in network.request("collector", "GET", "/")[1], True)
        # Commands read what a role has recorded in its folder, up to two seconds ago.
        until(lambda: said in network.run("collector", "publish", "collector"), True)
        warning = "warning    peer unreachable role=mix-2 "
        until(lambda: warning in network.run("mix", "status", "mix-1"), True)
    finally:
        network.end()
