"""A dead peer is noticed within two minutes, whatever hostile ones answer."""

import threading
import tracemalloc
from unittest import mock

import pytest

from helpers.roles_in_folders import Village, changed
from mixtally.server.node import calls
from mixtally.server.node.calls import Answer, SilentError, call
from mixtally.server.node.events import Condition, Log
from mixtally.server.node.peers import Peers
from network.sockets import drips, peer

READY = Answer(200, b'{"ready": true, "waits": []}')


@pytest.fixture
def village(tmp_path):
    return Village(tmp_path, hops=2)


@pytest.fixture
def node(village):
    node = village.node(1)
    node.lines = []
    node.log = Log(node.lines.append)
    yield node
    node.close()


def warnings(node):
    return sorted(
        said["role"]
        for said in node.log.list_warnings()
        if said["event"] == Condition.SILENT.value.begins
    )


def test_a_dead_peer_is_named_within_two_minutes_and_its_return_too(village, node):
    """Nothing is sent to it meanwhile, as in an open window."""
    alive, asked = {"http://127.0.0.1:7002", "http://127.0.0.1:7003"}, []

    def call(address, method, path, body=b""):
        asked.append((address, method, path))
        if address not in alive:
            raise SilentError(address)
        return READY

    peers = Peers(node, call)
    for now in range(600):
        if now == 100:
            alive.remove("http://127.0.0.1:7003")
        if now == 219:
            assert warnings(node) == ["collector"]
        if now == 300:
            alive.add("http://127.0.0.1:7003")
        if now == 419:
            assert warnings(node) == []
        peers.check_health(now)
    assert len(asked) == 2 * 10  # ten minutes, two peers
    assert {(method, path) for _, method, path in asked} == {("GET", "/readyz")}
    assert [line.split(" ", 1)[1].split(" address")[0] for line in node.lines] == [
        "peer unreachable role=collector",
        "peer back role=collector",
    ]


def test_a_role_that_waits_is_alive_and_a_proxy_in_front_of_a_dead_one_is_not(node):
    waits = Answer(503, b'{"ready": false, "waits": [{"event": "disk low"}]}')
    bodies = {
        "http://127.0.0.1:7002": waits,
        "http://127.0.0.1:7003": Answer(502, b"<html>Bad Gateway</html>"),
    }
    peers = Peers(node, lambda address, *_: bodies[address])
    peers.check_health(0)
    assert warnings(node) == ["collector"]
    role = node.agreements[next(iter(node.agreements))].collector
    assert peers.send(role, "GET", "/status", b"", 1).status == 502
    assert warnings(node) == ["collector"]  # what the proxy says is no sign of life
    ages = {one.name: one.answered_seconds for one in peers.list_health(30)}
    assert ages == {"mix-2": 30, "collector": None}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"ok\n",
        b"null",
        b"[]",
        b'"ready"',
        b"{}",
        b'{"ready": 1}',
        b'{"ready": null}',
        b'{"ready": true',
        b"\xff\xfe",
        b"[" * 60_000,
        b'{"ready":' * 6000,
        b'{"ready": true, "waits": "' + b"x" * (1 << 16) + b'"}',
        b"9" * 60_000,
    ],
    ids=range(14),
)
def test_what_is_no_health_is_no_sign_of_life(node, body):
    Peers(node, lambda *_: Answer(200, body)).check_health(0)
    assert warnings(node) == ["collector", "mix-2"]


def huge(link, _):
    """Sixty megabytes of health."""
    link.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 60000000\r\n\r\n")
    for _ in range(60):
        link.sendall(b"[" * 1_000_000)


@pytest.mark.parametrize("talk", [huge, drips])
def test_a_huge_or_slow_answer_costs_little_and_is_silence(node, talk):
    tracemalloc.start()
    try:
        with peer(talk) as address, mock.patch.object(calls, "SECONDS", 1.0):
            peers = Peers(node, lambda _, *rest: call(address, *rest))
            (role,) = [one for one in peers._list_all() if one.name == "mix-2"]
            peers._ask_health(role, 0)
        assert tracemalloc.get_traced_memory()[1] < 3 * calls.MOST_ANSWER_BYTES
    finally:
        tracemalloc.stop()
    assert warnings(node) == ["mix-2"]


def test_a_peer_that_never_answers_delays_nobody(node):
    """It is asked in a thread of its own, once; the others are asked every minute."""
    never, asked = threading.Event(), []

    def call(address, method, path, body=b""):
        asked.append(address)
        if address.endswith("7002"):
            never.wait(600)
            raise SilentError(address)
        return READY

    peers = Peers(node, call, background=True)
    woken = threading.Event()
    node.wake = woken.set
    try:
        for now in range(0, 600, 60):
            woken.clear()
            peers.check_health(now)
            assert woken.wait(60)
            while peers._jobs.keys() - {("health", ("mix-2", "http://127.0.0.1:7002"))}:
                peers._collect_jobs()
    finally:
        never.set()
    assert asked.count("http://127.0.0.1:7002") == 1
    assert asked.count("http://127.0.0.1:7003") == 10


def test_a_clock_that_is_set_back_does_not_stop_the_requests(node):
    asked = []
    peers = Peers(node, lambda *given: asked.append(given) or READY)
    for now in (10**9, 10**9 - 86_400, 10**9 - 86_399):
        peers.check_health(now)
    assert len(asked) == 2 * 2


def test_a_stranger_of_another_contract_with_the_name_of_a_peer_hides_nothing(village, node):
    """Its contract names mix-2 at another address, where somebody answers; the true one is dead."""
    (agreement,) = node.agreements.values()
    false = (agreement.hops[0], changed(agreement.hops[1], address="http://127.0.0.1:7009"))
    node.agreements["f" * 64] = changed(agreement, contract="f" * 64, hops=false)

    def call(address, *_):
        if address == "http://127.0.0.1:7002":
            raise SilentError(address)
        return READY

    peers = Peers(node, call)
    for now in range(0, 300, 60):
        peers.check_health(now)
    assert warnings(node) == ["mix-2"]
    assert len(node.lines) == 1
