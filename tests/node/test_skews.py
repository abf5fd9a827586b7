"""Clocks that differ from those of peers are named; what a peer says of its own moves nothing."""

import time

import pytest

from helpers.roles_in_folders import ENVIRONMENT, START, Village, ask
from mixtally.server.engine.engine import Engine
from mixtally.server.mix.jobs import take_job
from mixtally.server.mix.serve import serve
from mixtally.server.node import service
from mixtally.server.node.calls import Answer, SilentError, call
from mixtally.server.node.clock import Clocks
from mixtally.server.node.events import Log
from mixtally.server.node.folder import open_folder
from mixtally.server.node.skews import measure_skew, with_skews
from mixtally.server.node.web.responses import role_application
from mixtally.server.node.web.routes import SharedRoutes, application
from mixtally.server.node.web.run import Server, open_listening_socket

DATE = "Mon, 12 Jan 1970 13:46:{:02} GMT"  # START and so many seconds
HOSTILE = [
    "",
    "x" * 65_000,
    "Mon, 12 Jan 1970 13:46:40 CET",
    "Mon, 99 Jan 1970 13:46:40 GMT",
    "Mon, 12 Jan 0000 13:46:40 GMT",
    "Mon, 12 Jan 99999 13:46:40 GMT",
    "\x00",
    "-inf",
]


@pytest.mark.parametrize(
    ("date", "sent", "received", "skew"),
    [
        (DATE.format(40), START, START, 0),
        (DATE.format(41), START, START, 0),  # both were cut to whole seconds
        (DATE.format(42), START, START, 1),
        (DATE.format(38), START, START, -1),
        (DATE.format(50), START, START + 20, 0),  # written while the role waited
        (DATE.format(10), START, START + 20, -29),
        ("Fri, 31 Dec 9999 23:59:59 GMT", START, START, 253_401_300_798),
        *((date, START, START, None) for date in HOSTILE),
    ],
)
def test_a_difference_is_what_is_certain(date, sent, received, skew):
    assert measure_skew(date, sent, received) == skew


def told(lines):
    return [line.split("Z ")[1].split(" since")[0] for line in lines]


def test_a_clock_is_named_while_it_differs():
    lines, dates, skews = [], [START + 31, START + 32, START - 32, START], {}
    log = Log(lines.append, clock=lambda: 0)

    def answers(*_):
        seconds = dates.pop(0)
        role = role_application(lambda _: None, None, print, clock=lambda: seconds)
        return Answer(200, b"", ask(role, "GET", "/healthz").headers["date"])

    measured = with_skews(answers, lambda _: ["mix-2"], lambda: START, skews, log)
    seen = []
    for _ in range(4):
        measured("there", "GET", "/healthz")
        seen.append(skews["mix-2"])
        differs = abs(skews["mix-2"]) > 30
        assert [said["role"] for said in log.list_warnings()] == ["mix-2"] * differs
        assert log.list_awaited() == []  # a peer that lies does not make a role unready
    assert seen == [30, 31, -31, 0]
    assert told(lines) == ["clock differs role=mix-2 address=there seconds=31", told(lines)[1]]
    assert told(lines)[1].startswith("clock agrees with role role=mix-2")


@pytest.mark.parametrize("date", HOSTILE)
def test_a_date_that_is_none_changes_nothing(date):
    lines, skews = [], {"mix-2": 5}
    measured = with_skews(
        lambda *_: Answer(200, b"", date), lambda _: ["mix-2"], lambda: START, skews, Log(lines)
    )
    assert measured("there", "GET", "/x").status == 200
    assert (skews, lines) == ({"mix-2": 5}, [])


def test_the_date_travels_over_a_socket(tmp_path):
    village = Village(tmp_path, hops=1)
    node = village.node(1)
    app = application(SharedRoutes(node, lambda: START).routes(), print, clock=lambda: START + 2)
    place = open_listening_socket("127.0.0.1", 0)
    stop = Server(app).run_in_thread(place)
    try:
        for path in ("/status", "/healthz", "/notes/mix-1"):
            answer = call(f"http://127.0.0.1:{place.getsockname()[1]}", "GET", path)
            assert answer.date == DATE.format(42)
    finally:
        stop()
    node.close()


def test_a_role_that_serves_measures_its_peers(tmp_path, monkeypatch):
    village, lines, found = Village(tmp_path, hops=2), [], []
    for place in (1, 2):
        node = village.node(place, sign=False)
        take_job(node, village.jobs[place - 1], village.text)
        node.close()

    def answers(address, *_):
        if address != village.contract.hops[1].address:
            raise SilentError(address)
        return Answer(404, b"", DATE.format(0))

    def role(node, peers, _stop, clock):
        found.append(peers.skews)
        return mix(node, peers, _stop, clock)

    address = village.contract.hops[1].address
    line = f"clock differs role=mix-2 address={address} seconds=-89"

    def run(_, begin):
        made = begin(print, lambda: None)
        end = time.monotonic() + 60
        while line not in told(lines) and time.monotonic() < end:
            made.tick(START)
            time.sleep(0.01)
        made.end()

    honest = service.serve_role

    def serve_role(folder, given, made):
        nonlocal mix
        mix = made
        honest(folder, given, role)

    mix = None
    monkeypatch.setattr(service, "run", run)
    monkeypatch.setattr("mixtally.server.mix.serve.serve_role", serve_role)
    clocks = Clocks(lambda: START + 50.0, lambda: 5.0, "a")
    given = service.Service(clocks=clocks, call=answers, log=Log(lines.append))
    serve(open_folder(village.folders[0].path, ENVIRONMENT), given, Engine())
    assert found == [{"mix-2": -89}]
    assert line in told(lines)
