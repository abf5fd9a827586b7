"""Every shared route, asked as an ASGI application: what it answers and what it refuses."""

import json
import sqlite3
from base64 import b64encode
from hashlib import sha256

import pytest

from helpers.roles_in_folders import Village, ask
from mixtally.device.wire.problem import MEDIA_TYPE, Problem
from mixtally.server.node.refusal import OldStateError
from mixtally.server.node.web.responses import guard_application
from mixtally.server.node.web.routes import MOST_NOTE_BYTES


@pytest.fixture
def village(tmp_path):
    return Village(tmp_path, hops=2)


@pytest.fixture
def nodes(village):
    return village.nodes()


@pytest.fixture
def app(village, nodes):
    village.agreed(nodes)
    return village.awake(nodes[0])


def said(answer):
    assert answer.headers["content-type"] == MEDIA_TYPE
    held = json.loads(answer.body)
    assert held["status"] == answer.status
    return held["type"]


def test_status(village, app):
    held = json.loads(ask(app, "GET", "/status").body)
    assert held["name"] == "mix-1"
    assert held["serves"] == [village.fingerprint]
    assert [(row["round"], row["state"]) for row in held["rounds"]] == [(1, "signed")]


def test_contract_sheet_and_manifests(village, nodes, app):
    base = f"/contracts/{village.fingerprint}"
    assert ask(app, "GET", base).body.startswith(village.text)
    assert ask(app, "GET", base + "/rounds/1").body == nodes[0].sheet_note(nodes[0].rounds.all()[0])
    assert json.loads(ask(app, "GET", base + "/rounds/1/manifests").body) == []
    for hop in ("1", "2", "3", "x", "%"):
        assert ask(app, "GET", base + f"/rounds/1/manifests/{hop}").status == 404
    for path in (f"/contracts/{'0' * 64}", base + "/rounds/2", base + "/rounds/x", base + "/round"):
        answer = ask(app, "GET", path)
        assert (answer.status, said(answer)) == (404, Problem.UNKNOWN.path)


def test_keys(village, nodes, app):
    path = f"/contracts/{village.fingerprint}/rounds/2/key"
    assert ask(app, "POST", path).body == nodes[0].key(village.fingerprint, 2)
    assert ask(app, "POST", path.replace("/2/", "/9/")).status == 403
    assert ask(app, "POST", path.replace("/2/", "/0/")).status == 404
    assert ask(app, "GET", path).status == 405


def test_notes(village, nodes, app):
    assert ask(app, "POST", "/notes", village.text).status == 200
    count, *notes, _ = ask(app, "GET", "/notes/mix-1").body.decode().split("\n")
    assert (count, notes) == ("2", nodes[0].notes.list_signed_by("mix-1"))
    assert [ask(app, "GET", f"/note/{one}").body for one in notes] == [
        nodes[0].notes.of(one) for one in notes
    ]
    assert ask(app, "GET", "/notes/nobody").body == b"0\n"
    assert ask(app, "GET", f"/note/{'0' * 64}").status == 404
    other = village.text.replace(b"home-page", b"home-sale")
    answer = ask(app, "POST", "/notes", other)
    assert (answer.status, said(answer)) == (403, Problem.NOT_AGREED.path)


def test_every_problem_explains_itself(app):
    for problem in Problem:
        answer = ask(app, "GET", problem.path)
        assert answer.status == 200
        assert problem.value.title in answer.body.decode()
    assert ask(app, "GET", "/problems/none").status == 404


def test_methods_and_paths(app):
    for method, path, status in (
        ("DELETE", "/status", 405),
        ("PUT", "/notes", 405),
        ("GET", "/", 404),
        ("GET", "/status/", 404),
        ("GET", "/pieces/x", 404),
        ("DELETE", "/pieces/x", 405),
        ("HEAD", "/pieces/x", 404),
        ("PUT", "/pieces/x", 403),
    ):
        answer = ask(app, method, path)
        assert answer.status == status, (method, path)


def test_bodies_are_bounded_and_digests_checked(village, app):
    stated = ask(app, "POST", "/notes", headers=[("Content-Length", str(MOST_NOTE_BYTES + 1))])
    assert (stated.status, said(stated)) == (413, Problem.TOO_LARGE.path)
    chunks = [bytes(1 << 22)] * 5
    assert ask(app, "POST", "/notes", chunks=chunks).status == 413
    good = b64encode(sha256(village.text).digest()).decode()
    for digest, status in (
        (f"sha-256=:{good}:", 200),
        (f"sha-512=:AAAA:, sha-256=:{good}:", 200),
        ("sha-512=:AAAA:", 200),
        ("sha-256=:AAAA:", 400),
        ("sha-256=:?:", 400),
    ):
        answer = ask(app, "POST", "/notes", village.text, [("Content-Digest", digest)])
        assert answer.status == status, digest


def test_a_body_in_pieces_is_the_same_body(village, app):
    chunks = [village.text[:10], b"", village.text[10:]]
    assert ask(app, "POST", "/notes", chunks=chunks).status == 200


def test_answers_hold_nothing_of_who_asked(app):
    planted = "planted-7f3a"
    for method, path in (("GET", f"/{planted}"), ("POST", "/notes"), ("GET", f"/pieces/{planted}")):
        answer = ask(app, method, path, planted.encode(), [("X-Planted", planted)])
        whole = answer.body + json.dumps(answer.headers).encode()
        assert planted.encode() not in whole
        assert b"192.0.2.77" not in whole


@pytest.mark.parametrize(
    ("code", "status", "stops"), [(sqlite3.SQLITE_FULL, 503, 0), (sqlite3.SQLITE_IOERR, 503, 1)]
)
def test_a_full_disk_is_answered_a_failing_one_ends_the_process(code, status, stops):
    async def fails(scope, receive, send):
        error = sqlite3.OperationalError("x")
        error.sqlite_errorcode = code
        raise error

    stopped = []
    assert ask(guard_application(fails, stopped.append), "GET", "/").status == status
    assert len(stopped) == stops


def test_failures_are_told_without_what_was_in_them(capsys):
    async def fails(scope, receive, send):
        raise KeyError("planted-secret")

    assert ask(guard_application(fails, print), "GET", "/planted-path").status == 500
    told = capsys.readouterr().err
    assert "KeyError" in told
    assert "planted" not in told


def test_being_shown_what_was_forgotten_stops_the_role():
    async def fails(scope, receive, send):
        raise OldStateError("mix-2", "a sheet")

    stopped = []
    assert ask(guard_application(fails, stopped.append), "GET", "/").status == 503
    assert isinstance(stopped[0], OldStateError)
