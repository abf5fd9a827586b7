"""``mixtally mix status``: a role is looked at from its folder or its address, dead or alive."""

import json
import os
import sqlite3

import pytest

from helpers.mixes import town_of
from mixtally.cli import status as command
from mixtally.server.node.calls import Answer, SilentError
from mixtally.server.node.events import Condition, Log
from mixtally.server.node.health import RECORD, Monitor
from mixtally.server.node.running import Vitals, exclusive_service
from mixtally.server.node.web.metrics import metrics_application


@pytest.fixture
def town(tmp_path, monkeypatch):
    town = town_of(tmp_path, hops=2)
    monkeypatch.setattr(command, "call", lambda *given: town.call(*given))
    monkeypatch.setattr(command, "time", lambda: town.now)
    yield town
    town.end()


@pytest.fixture
def folder(town):
    """The folder of a role that is served."""
    path = town.folders[0].path
    with exclusive_service(path):
        yield path


def recorded(town):
    """Record the health of the first mix, as the machine's clock says now."""
    mix = town.mixes[0]
    mix.node.log = Log(clock=lambda: 0)
    mix.peers.skews["mix-2"] = 31.26
    monitor = Monitor(mix.node, mix.peers)
    monitor.tick(town.now)
    stamp(town)
    return monitor


def stamp(town):
    os.utime(town.folders[0].path / RECORD, (town.now, town.now))


def test_a_folder_says_everything(cli, town, folder):
    recorded(town)
    town.now += 12
    outcome = cli("mix status", folder)
    assert (outcome.status, outcome.err) == (0, "")
    name, short = town.contract.name, town.fingerprint[:16]
    said = outcome.out.splitlines()
    assert said[0].startswith("role       mix-1, version ")
    assert said[1:6] == [
        "ready      yes",
        f"contract   {name}, serial 1, {short}: served",
        "rounds     1 open",
        "peer       mix-2 at http://127.0.0.1:7002: answered 0 s ago, its clock +31.3 s",
        "peer       collector at http://127.0.0.1:7003: answered 0 s ago",
    ]
    assert said[6].endswith(" free; announced batches need 0 GB")
    assert said[7:] == ["loop       last step 12 s ago"]


def test_a_dead_role_is_not_ready_and_its_folder_is_only_read(cli, town):
    folder = town.folders[0].path
    with exclusive_service(folder):
        recorded(town)
        town.now += 3600
        assert "waits      loop busy seconds=3600" in cli("mix status", folder).out
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    outcome = cli("collector status", folder)
    assert outcome.status == 1
    assert "ready      no\nwaits      not served seconds=3600" in outcome.out
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    said = json.loads(cli("mix status", folder, "--json").out)
    assert said["ready"] is False
    assert said["waits"] == [{"event": "not served", "seconds": 3600}]
    assert said["peers"][0] == {
        "name": "mix-2",
        "address": "http://127.0.0.1:7002",
        "answered_seconds": 0,
        "skew_seconds": 31.26,
    }


def test_a_role_whose_clock_is_wrong_is_served(cli, town, folder):
    """A role that lost its clock file counts from 1970 until it believes the machine's clock."""
    monitor = recorded(town)
    monitor.tick(60)
    stamp(town)
    outcome = cli("mix status", folder)
    assert outcome.status == 0
    assert outcome.out.endswith("loop       last step 0 s ago\n")


def test_the_state_of_rounds_is_the_present_one(cli, town, folder):
    recorded(town)
    with sqlite3.connect(folder / "node.db") as open_:
        open_.execute("UPDATE rounds SET state = 'shredded'")
    open_.close()
    assert "rounds     1 shredded\n" in cli("mix status", folder).out


def test_a_folder_that_was_closed_is_read_without_a_log(cli, town, folder):
    recorded(town)
    town.mixes[0].end()
    assert not (folder / "node.db-wal").exists()
    before = sorted(path.name for path in folder.iterdir())
    assert "rounds     1 open\n" in cli("mix status", folder).out
    assert sorted(path.name for path in folder.iterdir()) == before
    town.mixes[0] = town.awaken(1)


def test_a_role_that_was_never_served(cli, tmp_path):
    begin = ("mix init", tmp_path / "m", "--name", "m", "--operator", "M")
    assert cli(*begin, "--address", "http://127.0.0.1:7001").status == 0
    outcome = cli("mix status", tmp_path / "m")
    assert outcome.status == 1
    assert outcome.out == "role       m\nready      no\nwaits      never served\nrounds     none\n"


def test_conditions_are_named(cli, town, folder):
    monitor = recorded(town)
    log = town.mixes[0].node.log
    log.set_condition(Condition.DISK, True)
    log.set_condition(Condition.SILENT, True, role="collector", address="http://127.0.0.1:7003")
    monitor.tick(town.now + 1)  # a condition is recorded at once
    stamp(town)
    outcome = cli("mix status", folder)
    assert outcome.status == 1
    assert "waits      disk low since=1970-01-01T00:00:00Z\n" in outcome.out
    assert (
        "warning    peer unreachable role=collector address=http://127.0.0.1:7003 "
        "since=1970-01-01T00:00:00Z\n" in outcome.out
    )


def test_an_address_says_what_is_public(cli, town):
    outcome = cli("mix status", "http://127.0.0.1:7001/")
    assert outcome.status == 0
    assert outcome.out == (
        f"role       mix-1\nready      yes\ncontract   {town.fingerprint[:16]}: served\n"
        "rounds     1 open\n"
    )
    said = json.loads(cli("mix status", "http://127.0.0.1:7001", "--json").out)
    assert said["peers"] is None
    assert said["rounds"] == {"open": 1}


def test_the_metrics_port_says_everything(cli, town):
    monitor = recorded(town)
    town.apps["http://127.0.0.1:9101"] = metrics_application(
        lambda: monitor.measure(town.now + 5, Vitals(61.04, 0.5)), print, Log()
    )
    outcome = cli("mix status", "http://127.0.0.1:9101")
    assert outcome.status == 0
    assert "collector at http://127.0.0.1:7003: answered 5 s ago\n" in outcome.out
    assert outcome.out.endswith("loop       last step 61 s ago\n")


STATUS = b'{"name": "m", "serves": [], "waits": [], "rounds": []}'


@pytest.mark.parametrize(
    "bodies",
    [
        (b"", b""),
        (b"[" * 10**6, b""),
        (b'{"name":' * 10**5, b""),
        (b"{}", b""),
        (b'{"name": 1, "serves": [], "waits": [], "rounds": []}', b""),
        (b'{"name": "m", "serves": [1], "waits": [], "rounds": []}', b""),
        (b'{"name": "m", "serves": {}, "waits": [], "rounds": [{"state": 3}]}', b""),
        (STATUS, b"{}"),
        (STATUS, b'{"ready": "yes", "waits": []}'),
        (STATUS, b'{"ready": false, "waits": [[]]}'),
        (STATUS, b'{"ready": false, "waits": [{"event": {}}]}'),
        (STATUS + b" " * (1 << 22), b""),
        (b"\xff" * 99, b""),
    ],
    ids=range(13),
)
def test_an_answer_of_another_program_is_refused(refused, monkeypatch, bodies):
    said = dict(zip(("/status", "/readyz"), bodies, strict=True))
    monkeypatch.setattr(command, "call", lambda _, __, path: Answer(200, said[path]))
    line = refused("mix status", "http://127.0.0.1:7001")
    assert "expected the answer of a mix or a collector, got another answer" in line


def test_a_hostile_answer_cannot_write_on_the_terminal(cli, monkeypatch):
    name, many = "\x1b[2Jm\u202e" + "x" * 900, [f"\x07{one}" for one in range(60_000)]
    said = {
        "/status": {"name": name, "serves": many, "waits": many, "rounds": []},
        "/readyz": {"ready": False, "waits": [{"event": "\x1b]0;x\n\r", "a\x08": "b"}]},
    }
    monkeypatch.setattr(
        command, "call", lambda _, __, path: Answer(200, json.dumps(said[path]).encode())
    )
    outcome = cli("mix status", "http://127.0.0.1:7001")
    lines = outcome.out.splitlines()
    assert outcome.status == 1
    assert len(lines) == 1000
    assert all(line.isprintable() and len(line) <= 300 for line in lines)


def test_silence_is_told(refused, monkeypatch, tmp_path):
    def silence(address, *_):
        raise SilentError(f"{address}: ConnectionRefusedError")

    monkeypatch.setattr(command, "call", silence)
    assert "got http://127.0.0.1:9: ConnectionRefusedError" in refused(
        "collector status", "http://127.0.0.1:9"
    )
    assert "expected the role.toml that init wrote" in refused("mix status", tmp_path)
