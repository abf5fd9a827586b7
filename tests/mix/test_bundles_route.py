"""Bundles come: what is acknowledged is on the disk, what is refused is seen without a key."""

import asyncio
import json
import sqlite3
from base64 import b64encode
from hashlib import sha256

import pytest

from helpers import contracts
from helpers.mixes import Town
from helpers.roles_in_folders import EVERY, OPEN, START, ask
from mixtally.device.wire.problem import Problem
from mixtally.server.mix import intake as room
from mixtally.server.mix.intake import Intake, read_bodies
from mixtally.server.node.refusal import ProblemError


def begun(place):
    """A town whose round is open, until it ends."""
    town = Town(place, hops=2)
    town.all_awake()
    town.round()
    yield town
    town.end()


@pytest.fixture
def town(tmp_path):
    yield from begun(tmp_path)


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    """For what is refused: nobody sends anything else."""
    yield from begun(tmp_path_factory.mktemp("empty"))


def bodies(town):
    row = town.mixes[0].node.rounds.all()[0]
    return list(read_bodies(town.mixes[0].node.round_folder(row)))


def kind(answer):
    return json.loads(answer.body)["type"]


def test_what_is_acknowledged_is_stored(town):
    body = town.bundle([b"\1"])
    answer = town.send(body)
    assert (answer.status, answer.body) == (201, b"")
    assert bodies(town) == [body]
    assert town.send(body + town.bundle([b"\2"])).status == 201
    assert len(bodies(town)) == 2


def test_a_bundle_of_another_number_of_slots_is_refused(tmp_path):
    """Two slots, of which a coin may leave one to padding: one envelope or three are no bundle."""
    town = Town(tmp_path, hops=2, part=contracts.uniform(4, whole=0, coin=1 << 63))
    town.all_awake()
    town.round()
    for messages in (1, 3):
        answer = town.send(town.bundle([b"\1"] * messages))
        assert (answer.status, kind(answer)) == (400, Problem.BODY_LENGTH.path)
    assert bodies(town) == []
    assert town.send(town.bundle([b"\1"] * 2)).status == 201
    town.end()


@pytest.mark.parametrize("cut", [0, 1, 2, 50, -1])
def test_a_body_of_another_length(empty, cut):
    answer = empty.send(empty.bundle([b"\1"])[:cut])
    assert (answer.status, kind(answer)) == (400, Problem.BODY_LENGTH.path)
    assert bodies(empty) == []


def test_it_is_refused_before_and_after_its_time(town):
    body = town.bundle([b"\1"])
    for now, status, problem, after in (
        (START - 7, 503, Problem.TOO_EARLY, "7"),
        (START + OPEN, 410, Problem.ROUND_CLOSED, None),
    ):
        town.now = now
        answer = town.send(body)
        assert (answer.status, kind(answer)) == (status, problem.path)
        assert answer.headers.get("retry-after") == after
    town.now = START
    assert town.send(body).status == 201


def test_it_stays_closed_when_the_clock_goes_back(town):
    town.close()
    town.tick()
    town.now = START + 1
    answer = town.send(town.bundle([b"\1"]))
    assert (answer.status, kind(answer)) == (410, Problem.ROUND_CLOSED.path)


def test_a_round_that_not_all_have_signed_is_not_served(tmp_path):
    town = Town(tmp_path, hops=2)
    town.all_awake()
    nodes = [mix.node for mix in town.mixes] + [town.collector]
    note = town.collector.propose(town.sheet(nodes), town.now)
    town.mixes[0].node.take_note(note, town.now)
    town.tick()
    answer = town.send(b"")
    assert (answer.status, kind(answer)) == (503, Problem.NOT_READY.path)
    town.end()


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/contracts/{0}/rounds/2/bundles", 404),
        ("/contracts/{0}/rounds/x/bundles", 404),
        ("/contracts/{0}/rounds/99999/bundles", 404),
        ("/contracts/{0}/rounds/\u0661/bundles", 404),
        ("/contracts/0/rounds/1/bundles", 404),
        ("/contracts/{0}/bundles", 404),
        ("/contracts/{0}/rounds/1/1/bundles", 404),
    ],
)
def test_other_places(empty, path, status):
    app = empty.apps[empty.folders[0].role.address]
    assert ask(app, "POST", path.format(empty.fingerprint), b"").status == status


def test_other_methods_and_hops(empty):
    path = f"/contracts/{empty.fingerprint}/rounds/1/bundles"
    first, second = (empty.apps[folder.role.address] for folder in empty.folders[:2])
    assert ask(first, "GET", path).status == 405
    assert ask(second, "POST", path, empty.bundle([b"\1"])).status == 404


def test_bodies_are_bounded(town, monkeypatch):
    from mixtally.server.mix import web

    long = [("Content-Length", str(web.MOST_BODY_BYTES + 1))]
    assert town.send(b"", headers=long).status == 413
    monkeypatch.setattr(web, "MOST_BODY_BYTES", 1000)
    assert town.send(b"", chunks=[b"x" * 600] * 2).status == 413
    body = town.bundle([b"\1"])
    assert town.send(b"", chunks=[body[:5], body[5:]]).status == 201
    assert town.send(body, headers=[("Content-Digest", "sha-256=:AAAA:")]).status == 400
    digest = b64encode(sha256(body).digest()).decode()
    assert town.send(body, headers=[("Content-Digest", f"sha-256=:{digest}:")]).status == 201


def test_a_full_disk_is_told_and_nothing_is_acknowledged(town, monkeypatch):
    def full(self, database, held):
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise error

    monkeypatch.setattr(Intake, "_commit", full)
    answer = town.send(town.bundle([b"\1"]))
    assert (answer.status, kind(answer)) == (503, Problem.NO_ROOM.path)
    assert town.mixes[0].stopped == []


def test_a_failing_disk_ends_the_process(town, monkeypatch):
    def fails(self, database, held):
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorcode = sqlite3.SQLITE_IOERR
        raise error

    monkeypatch.setattr(Intake, "_commit", fails)
    assert town.send(town.bundle([b"\1"])).status == 503
    assert len(town.mixes[0].stopped) == 1


def test_whatever_waits_is_committed_together(tmp_path):
    steps = []
    intake = Intake(tmp_path, steps.append, steps.append)
    intake.open("r-1", 10**6, 1)

    async def many():
        loop = asyncio.get_running_loop()
        await asyncio.gather(*(intake.put("r-1", b"%d," % i, loop) for i in range(500)))

    asyncio.run(many())
    assert steps.count("after intake") < 100
    intake.end()
    held = b"".join(read_bodies(tmp_path / "r-1")).split(b",")
    assert held == [*(b"%d" % i for i in range(500)), b""]


def test_rows_are_neither_many_nor_long(tmp_path, monkeypatch):
    monkeypatch.setattr(room, "_ROW_BYTES", 100)
    intake = Intake(tmp_path, print)
    intake.open("r-1", 10**6, 1)
    bodies = [b"%02d" % i * (300 if i == 30 else 5) for i in range(50)]

    async def many():
        loop = asyncio.get_running_loop()
        with intake._turn:  # all of them wait for one commit
            put = [intake.put("r-1", body, loop) for body in bodies]
        await asyncio.gather(*put)

    asyncio.run(many())
    intake.end()
    rows = list(read_bodies(tmp_path / "r-1"))
    assert b"".join(rows) == b"".join(bodies)
    assert [len(row) for row in rows] == [100, 100, 100, 600, 100, 90]


def test_too_much_at_once_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(room, "MOST_WAITING", 3)
    intake = Intake(tmp_path, print)
    intake.open("r-1", 10**6, 1)

    async def many():
        loop, put = asyncio.get_running_loop(), []
        with intake._turn:  # the writer waits meanwhile
            put += [intake.put("r-1", b"x", loop) for _ in range(3)]
            with pytest.raises(ProblemError) as error:
                intake.put("r-1", b"x", loop)
        assert error.value.problem is Problem.BUSY
        await asyncio.gather(*put)
        return len(put)

    assert asyncio.run(many()) == 3
    intake.end()


def test_closing_waits_for_what_was_taken(tmp_path):
    intake = Intake(tmp_path, print)
    intake.open("r-1", 10**6, 1)

    async def late():
        loop = asyncio.get_running_loop()
        put = [intake.put("r-1", b"x", loop) for _ in range(50)]
        intake.close("r-1")
        assert b"".join(read_bodies(tmp_path / "r-1")) == b"x" * 50
        await asyncio.gather(*put)
        with pytest.raises(ProblemError):
            intake.put("r-1", b"y", loop)

    asyncio.run(late())
    intake.end()


def test_a_round_of_its_own_window(town):
    nodes = [mix.node for mix in town.mixes] + [town.collector]
    town.agreed(nodes, 2)
    town.tick()
    assert kind(town.send(town.bundle([b"\1"]), 2)) == Problem.TOO_EARLY.path
    town.now = START + EVERY
    assert town.send(town.bundle([b"\1"]), 2).status == 201  # what is inside nobody knows yet


def test_nothing_of_the_sender_is_stored_or_told(town, capfd):
    planted = "planted-9d2c"
    answer = town.send(town.bundle([b"\1"]), headers=[("Cookie", planted), ("User-Agent", planted)])
    assert answer.headers == {"content-length": "0"}
    for path in town.folders[0].path.rglob("*"):
        if path.is_file():
            assert planted.encode() not in path.read_bytes()
            assert b"192.0.2.77" not in path.read_bytes()
    assert planted not in "".join(capfd.readouterr())
