"""Real processes: a collector that is killed meanwhile proposes all rounds and tells of each."""

import json
import signal

import pytest

from helpers import contracts
from mixtally.model.hashing import HMAC_SHA256, Hashing
from mixtally.model.question import Question
from network import processes
from network.processes import NAMES, Processes
from network.test_dead_peer import until
from scripts.network_roles import free_ports

ROUNDS, OPEN = 3, 15


def planned():
    """The plan of the other processes, for several rounds."""
    question = Question(name="q", bins=9, hashed=Hashing(function=HMAC_SHA256, seed=contracts.SEED))
    part = contracts.over_planes(9, 3, drawn=140)
    made = contracts.plan_of(
        question, [part], hops=2, users=2, minimum_crowd=2, delta=1e-3, collections=ROUNDS
    )
    return contracts.proved(made)


@pytest.mark.slow
def test_a_collector_serves_all_rounds_by_itself(tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "OPEN", OPEN)
    monkeypatch.setattr(processes, "planned", planned)
    network = Processes(tmp_path)
    network.prepare(free_ports(3))
    log = ("collector", "serve", "collector")
    more = ("--schedule", "--notify", f"sh -c 'cat >> {tmp_path}/told'")
    try:
        for name in NAMES[:2]:
            network.served.append(network.begin("mix", "serve", name, "--processes", "0"))
        network.served.append(network.begin(*log, *more))
        for name in NAMES:
            network.get(name, "/status")
        network.ask_again("collector", "sign", "collector", "contract.json")
        until(lambda: "round signed by all contract=home-page round=2" in network.log(log), True)
        network.served[2].send_signal(signal.SIGKILL)
        network.served[2].wait()
        network.served[2] = network.begin(*log, *more)
        until(lambda: "schedule finished contract=home-page rounds=3" in network.log(log), True)
        told = tmp_path / "told"
        until(lambda: told.exists() and told.read_text().count("\n"), ROUNDS)
        events = [json.loads(line) for line in told.read_text().splitlines()]
        assert sorted(one["round"] for one in events) == [1, 2, 3]
        assert {one["event"] for one in events} == {"round destroyed"}  # nobody took part
        assert json.loads(network.run("collector", "status", "collector", "--json"))["rounds"] == {
            "destroyed": ROUNDS
        }
    finally:
        network.end()
