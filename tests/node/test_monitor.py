"""A role's health: numbers for its operator, and nothing of an open round's size."""

import errno
import json
import re
import shutil
import sqlite3
from collections import namedtuple

import msgspec
import pytest

from helpers.mixes import run, town_of
from helpers.roles_in_folders import ask
from mixtally.errors import DataError
from mixtally.server.node import disk
from mixtally.server.node.calls import Answer
from mixtally.server.node.events import Condition, Log
from mixtally.server.node.health import (
    RECORD_SECONDS,
    Health,
    Monitor,
    count_rounds,
    format_metrics,
    read_health,
    round_down,
)
from mixtally.server.node.peers import PeerHealth
from mixtally.server.node.running import Vitals
from mixtally.server.node.web.metrics import metrics_application

BINS = [bytes([i]) for i in range(4)]
LINE = re.compile(
    r'# TYPE mixtally_\w+ (counter|gauge)|mixtally_\w+(\{(\w+="[^"\\]*",?)+\})? [\d.e+-]+'
)
Usage = namedtuple("Usage", "total used free")


@pytest.fixture
def town(tmp_path):
    town = town_of(tmp_path, hops=2)
    yield town
    town.end()


def monitor_of(town, place=1):
    mix = town.mixes[place - 1]
    monitor = Monitor(mix.node, mix.peers)
    monitor.tick(town.now)
    return monitor


def test_every_line_is_one_that_prometheus_reads(town):
    mix = town.mixes[0]
    mix.peers.skews["mix-2"] = -0.4
    for place in range(3):
        assert town.send(town.bundle([BINS[place]])).status == 201
    assert town.send(b"x").status == 400
    mix.node.log.set_condition(Condition.DISK, True)
    mix.node.log.refusals["too_early"] = 119  # as many people were early
    monitor = monitor_of(town)
    text = format_metrics(monitor.measure(town.now + 7, Vitals(3.21, 0.129)))
    for line in text.splitlines():
        assert LINE.fullmatch(line), line
    for line in (
        "mixtally_ready 0",
        "mixtally_loop_age_seconds 3.2",
        "mixtally_connections_share 0.12",
        'mixtally_rounds{state="open"} 1',
        'mixtally_refusals_total{kind="body_length"} 1',
        'mixtally_refusals_total{kind="too_early"} 110',
        'mixtally_peer_age_seconds{peer="collector",address="http://127.0.0.1:7003"} 7',
        'mixtally_peer_skew_seconds{peer="mix-2",address="http://127.0.0.1:7002"} -0.4',
    ):
        assert line in text.splitlines(), text
    names = re.findall(r"# TYPE (\S+)", text)
    assert len(names) == len(set(names)) == 12  # and left_out once a round has ended


@pytest.mark.parametrize("connections", [0.0, 0.0098])
def test_an_open_round_of_three_looks_like_one_of_thirteen(town, monkeypatch, connections):
    """The disk fills by what comes: the same numbers are shown."""

    def usage(_):
        held = sum(path.stat().st_size for path in (town.place / "mix-1").rglob("intake-*"))
        return Usage(10**11, 0, 5 * 10**10 + 7 * 10**8 - held)

    monkeypatch.setattr(shutil, "disk_usage", usage)
    shown = []
    for several in (3, 10):
        for _ in range(several):
            assert town.send(town.bundle([BINS[0]])).status == 201
        monitor = monitor_of(town)
        town.mixes[0].node.database.seconds = 0.0
        shown.append(format_metrics(monitor.measure(town.now, Vitals(0.0, connections))))
    assert shown[0] == shown[1]


def test_no_label_ends_early():
    role = PeerHealth(name='a"} 1\n#', address="b\\", answered_seconds=1)
    text = format_metrics(Health(name="m", ready=True, waits=[], peers=[role]))
    assert text.endswith('peer_age_seconds{peer="a\\"} 1\\n#",address="b\\\\"} 1\n')


def test_a_disk_that_fills_is_seen_in_whole_percents(town, monkeypatch):
    for free, share in ((999, "0.09"), (1000, "0.1"), (1099, "0.1")):
        monkeypatch.setattr(shutil, "disk_usage", lambda _, free=free: Usage(10**4, 0, free))
        assert f"mixtally_disk_free_share {share}\n" in format_metrics(
            monitor_of(town).measure(town.now)
        )


def test_counters_have_two_digits():
    found = [round_down(number) for number in (0, 1, 9, 10, 99, 101, 119, 14_203, 0.5678, 12.9)]
    assert found == [0, 1, 9, 10, 99, 100, 110, 14_000, 0.56, 12]
    assert all(number == round_down(number) for number in (*range(100), *range(100, 1000, 10)))


def test_what_was_left_out_is_said_when_the_round_has_ended(town):
    monitor = monitor_of(town)
    good = [town.bundle([BINS[place]]) for place in range(3)]
    broken = bytes(len(good[0]))
    assert town.send(b"".join([*good, broken])).status == 201
    town.close()
    for _ in range(2):
        town.mixes[0].tick(town.now)
    monitor.tick(town.now + RECORD_SECONDS)
    assert sum(monitor.measure(town.now).left_out.values()) == 0
    run(town)
    town.receive()
    run(town)
    monitor.tick(town.now + 2 * RECORD_SECONDS)
    assert monitor.measure(town.now).left_out["bundles"] == 1
    assert 'mixtally_left_out_total{reason="bundles"} 1' in format_metrics(
        monitor.measure(town.now)
    )
    monitor.tick(town.now + 3 * RECORD_SECONDS)
    assert monitor.measure(town.now).left_out["bundles"] == 1  # counted once
    assert sum(monitor_of(town).measure(town.now).left_out.values()) == 0  # a process begins at 0


def test_what_peers_have_announced_is_needed(town):
    for place in range(3):
        assert town.send(town.bundle([BINS[place]])).status == 201
    monitor = monitor_of(town, 2)
    assert monitor.measure(town.now).disk_needed_bytes == 0
    address = town.folders[1].role.address
    app = town.apps[address]

    async def no_pieces(scope, receive, send):
        path = "/nothing" if scope["path"].startswith("/pieces/") else scope["path"]
        await app({**scope, "path": path}, receive, send)

    town.apps[address] = no_pieces
    town.close()
    for _ in range(3):
        town.mixes[0].tick(town.now)
        town.mixes[1].tick(town.now)
    monitor.tick(town.now)
    row = town.mixes[1].node.rounds.all()[0]
    part = town.mixes[1].node.preceding_manifest(row)[1].parts[0]
    size = town.jobs[0].sizes[0][1]
    assert monitor.measure(town.now).disk_needed_bytes == part.sent_count * size > 0


def test_it_is_recorded_in_the_folder_for_its_owner_alone(town):
    monitor = monitor_of(town)
    folder = town.mixes[0].node.folder.path
    recorded = read_health(folder)
    assert recorded == monitor.measure(town.now)
    assert (recorded.name, recorded.time, recorded.rounds) == ("mix-1", town.now, {"open": 1})
    assert [(one.name, one.serves) for one in recorded.contracts] == [(town.contract.name, True)]
    assert (folder / "health.json").stat().st_mode & 0o77 == 0
    monitor.tick(town.now + RECORD_SECONDS - 1)
    assert read_health(folder).time == town.now
    monitor.tick(town.now + RECORD_SECONDS)
    assert read_health(folder).time == town.now + RECORD_SECONDS
    monitor.tick(town.now - 10**6)  # a clock that goes back does not stop the records
    assert read_health(folder).time == town.now - 10**6
    assert count_rounds(folder) == {"open": 1}


def test_a_role_that_becomes_ready_is_recorded_at_once(town):
    monitor, log = monitor_of(town), town.mixes[0].node.log
    folder = town.mixes[0].node.folder.path
    for seconds, waits in ((1, True), (2, False), (3, True)):
        log.set_condition(Condition.DISK, waits)
        monitor.tick(town.now + seconds)
        recorded = read_health(folder)
        assert (recorded.time, recorded.ready) == (town.now + seconds, not waits)


def test_a_full_disk_leaves_the_record_out_and_another_error_does_not(town, monkeypatch):
    monitor = monitor_of(town)
    for code in (errno.ENOSPC, errno.EIO):

        def fail(path, data, what, code=code):
            raise DataError("x", expected="y", got="z", do="w") from OSError(code, "no")

        monkeypatch.setattr(disk, "put", fail)
        if code == errno.EIO:
            with pytest.raises(DataError):
                monitor.tick(town.now + 2 * RECORD_SECONDS)
        else:
            monitor.tick(town.now + RECORD_SECONDS)


def test_a_locked_database_is_recorded_with_its_holder(town, monkeypatch):
    monitor, node = monitor_of(town), town.mixes[0].node

    def locked(*_):
        error = sqlite3.OperationalError("database is locked")
        error.sqlite_errorcode = sqlite3.SQLITE_BUSY
        raise DataError("node.db", expected="x", got="y", do="z") from error

    monkeypatch.setattr(node.database, "rows", locked)
    node.log.set_condition(Condition.BUSY, True, file="node.db", program="a backup")
    monitor.tick(town.now + RECORD_SECONDS)
    recorded = read_health(node.folder.path)
    assert (recorded.time, recorded.rounds) == (town.now + RECORD_SECONDS, {"open": 1})
    assert [one["program"] for one in recorded.waits] == ["a backup"]


def test_the_metrics_are_known_while_the_database_hangs(town, monkeypatch):
    monitor = monitor_of(town)
    monkeypatch.setattr(town.mixes[0].node.database, "rows", None)
    app = metrics_application(lambda: monitor.measure(town.now, Vitals(77.0, 0.0)), print, Log())
    assert b"\nmixtally_loop_age_seconds 77.0\n" in ask(app, "GET", "/metrics").body
    said = json.loads(ask(app, "GET", "/status").body)
    assert (said["name"], said["loop_seconds"], said["rounds"]) == ("mix-1", 77.0, {"open": 1})
    assert ask(app, "GET", "/readyz").status == 200
    for method, path in (
        ("GET", "/"),
        ("POST", "/metrics"),
        ("GET", "/notes/mix-1"),
        ("PUT", "/x"),
    ):
        assert ask(app, method, path).status == 404


def test_a_role_itself_serves_no_metrics(town):
    """A proxy on the same machine forwards strangers to this port."""
    app = town.apps[town.folders[0].role.address]
    assert ask(app, "GET", "/metrics").status == 404
    assert "loop_seconds" not in json.loads(ask(app, "GET", "/status").body)


def test_a_damaged_record_is_refused(town):
    monitor_of(town)
    path = town.mixes[0].node.folder.path / "health.json"
    for text in (b"", b"{}", b"[]", path.read_bytes()[:-9]):
        path.write_bytes(text)
        with pytest.raises(DataError, match="Remove the file"):
            read_health(path.parent)


def test_an_answer_of_health_is_health(town):
    from mixtally.server.node.peers import is_health

    app = town.apps[town.folders[0].role.address]
    town.mixes[0].node.log.set_condition(Condition.DISK, True)
    answer = ask(app, "GET", "/readyz")
    assert answer.status == 503
    assert is_health(Answer(answer.status, answer.body))
    assert msgspec.json.decode(answer.body)["waits"][0]["event"] == "disk low"
