"""A program that locks a database is named and waited for; it is never taken for a failed disk."""

import json
import os
import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest

from helpers.mixes import manifests, run, town_of
from helpers.roles_in_folders import Village, ask
from mixtally.errors import DataError
from mixtally.server.mix import mix as mixes
from mixtally.server.mix.mix import Options
from mixtally.server.node import database as databases
from mixtally.server.node.database import Database, find_lock_holder
from mixtally.server.node.disk import is_busy, is_temporary
from mixtally.server.node.events import Log
from mixtally.server.node.web.responses import role_application

LOCKS = """
import sqlite3, sys
held = sqlite3.connect(sys.argv[1], isolation_level=None)
held.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.read()
"""
FOR_SURE = 60.0


class Holder:
    """Another process that locks a database until it is told to end."""

    def __init__(self, path):
        self.process = subprocess.Popen(
            [sys.executable, "-c", LOCKS, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self.process.stdout.readline() == b"locked\n"

    def __enter__(self):
        return self.process.pid

    def __exit__(self, *_):
        self.process.stdin.close()
        assert self.process.wait(FOR_SURE) == 0
        self.process.stdout.close()


@pytest.fixture(autouse=True)
def hurried(monkeypatch):
    monkeypatch.setattr(databases, "LOCK_SECONDS", 0.1)


def write(database):
    with database.transaction("planted") as open_:
        open_.execute("INSERT INTO overruled VALUES ('a', 'b')")


def waits(log):
    """What ``/readyz`` says."""
    app = role_application(lambda _: None, None, lambda _: None, log)
    return json.loads(ask(app, "GET", "/readyz").body)["waits"]


def test_who_locks_it_is_named_and_waited_for(tmp_path):
    lines = []
    log = Log(lines.append, clock=lambda: 0)
    database = Database(tmp_path / "node.db", log=log)
    with Holder(tmp_path / "node.db") as process:
        for _ in range(3):
            with pytest.raises(DataError, match=f"locked by process {process} \\(python") as found:
                write(database)
            assert is_busy(found.value)
        assert database.rows("SELECT * FROM overruled") == []  # readers are not kept waiting
        (said,) = waits(log)
        assert (said["event"], said["file"], said["process"]) == (
            "database locked",
            "node.db",
            process,
        )
        assert said["program"].startswith("python")
    write(database)
    assert database.rows("SELECT * FROM overruled") == [("a", "b")]
    assert waits(log) == []
    assert [line.split("Z ")[1].split(" file")[0] for line in lines] == [
        "database locked",
        "database free",
    ]
    database.close()


def test_that_it_is_free_is_seen_without_a_write(tmp_path):
    log = Log()
    database = Database(tmp_path / "node.db", log=log)
    with Holder(tmp_path / "node.db"):
        with pytest.raises(DataError):
            write(database)
        database.rows("SELECT 1")
        assert len(waits(log)) == 1
    database.rows("SELECT 1")
    assert waits(log) == []
    database.close()


def test_others_read_while_one_waits(tmp_path, monkeypatch):
    monkeypatch.setattr(databases, "LOCK_SECONDS", 2 * FOR_SURE)
    database = Database(tmp_path / "node.db")
    with Holder(tmp_path / "node.db"):
        writer = threading.Thread(target=write, args=(database,))
        writer.start()
        done = threading.Event()
        reader = threading.Thread(
            target=lambda: [database.rows("SELECT 1") for _ in range(9)] and done.set(), daemon=True
        )
        reader.start()
        assert done.wait(FOR_SURE)
        assert writer.is_alive()
    writer.join(FOR_SURE)
    assert database.rows("SELECT * FROM overruled") == [("a", "b")]
    database.close()


def test_a_role_begins_beside_a_program_that_writes(tmp_path):
    Database(tmp_path / "node.db").close()
    with Holder(tmp_path / "node.db"):
        Database(tmp_path / "node.db").close()


def test_a_system_that_tells_nothing(tmp_path):
    assert find_lock_holder(tmp_path / "none") == {"program": "another program"}


def test_a_holder_that_one_reading_of_the_table_leaves_out_is_found(tmp_path, monkeypatch):
    """The system leaves a lock out where another one is released in the middle of a reading."""
    for name in ("node.db", "node.db-shm"):
        (tmp_path / name).touch()
    inode = (tmp_path / "node.db-shm").stat().st_ino
    line = f"1: POSIX  ADVISORY  WRITE {os.getpid()} fe:00:{inode} 120 120\n"
    tables = [line, ""]
    monkeypatch.setattr(databases, "_LOCKS", SimpleNamespace(read_text=tables.pop))
    assert find_lock_holder(tmp_path / "node.db")["process"] == os.getpid()


def test_a_role_answers_and_goes_on(tmp_path):
    village = Village(tmp_path, hops=1)
    node, collector = nodes = village.nodes()
    app, sheet = village.awake(node), collector.propose(village.sheet(nodes), village.now)
    with Holder(node.folder.database):
        for _ in range(2):
            answer = ask(app, "POST", "/notes", sheet)
            assert (answer.status, answer.headers["retry-after"]) == (503, "5")
            assert json.loads(answer.body)["type"] == "/problems/busy"
        assert ask(app, "GET", "/status").status == 200
    assert ask(app, "POST", "/notes", sheet).status == 200
    assert app.stopped == []
    for one in nodes:
        one.close()


def test_bundles_are_not_acknowledged_and_not_lost(tmp_path):
    town = town_of(tmp_path, hops=1)
    mix = town.mixes[0]
    mix.intake._log = log = Log()
    (folder,) = town.folders[0].subfolder("rounds").iterdir()
    first, second = town.bundle([b"\1"]), town.bundle([b"\2"])
    assert town.send(first).status == 201
    for one in mix.intake._open.values():
        one.database.execute("PRAGMA busy_timeout=100")
    with Holder(folder / "intake-0.db") as process:
        answer = town.send(second)
        assert (answer.status, answer.headers["retry-after"]) == (503, "5")
        assert [said["process"] for said in waits(log)] == [process]
    assert town.send(second).status == 201
    assert waits(log) == []
    assert mix.stopped == []
    run(town)
    assert manifests(town)[0].bundles == 2
    town.end()


def test_a_closing_is_not_repeated_for_a_lock(tmp_path, plant):
    town, closings, ticked = town_of(tmp_path, hops=1), [], threading.Event()

    def close_later(honest, given):
        """Else the tick that begins the closing may sign its manifest, too."""
        closings.append(1)
        assert ticked.wait(FOR_SURE)
        return honest(given)

    plant(mixes, "close_round", close_later)
    town.mixes[0].end()
    town.mixes[0] = mix = town.awaken(1, options=Options(background=True))
    town.tick()
    for number in range(2):
        assert town.send(town.bundle([bytes([number])])).status == 201
    town.close()
    mix.tick(town.now)
    ticked.set()
    for running in mix._closing.values():
        running.result(FOR_SURE)
    with Holder(mix.node.folder.database), pytest.raises(DataError) as found:
        mix.tick(town.now)
    assert is_temporary(found.value)
    run(town)
    assert manifests(town)[0].bundles == 2
    assert closings == [1]
    town.end()
