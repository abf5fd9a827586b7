"""Folders and addresses that are no exported round: clear errors, bounded sizes and times."""

import json
import os
import shutil
import socket
import threading
from contextlib import contextmanager

import pytest

from helpers.exported_rounds import KeepingOffice, check
from mixtally.errors import DataError
from mixtally.primitives.progress import ignore_progress
from mixtally.server.collector import round_files
from mixtally.server.collector.export_index import INDEX, MOST_FILE_BYTES, read_index
from mixtally.server.collector.round_files import RoundFiles, fetch_round, limit_fetches
from mixtally.server.node import calls, disk
from mixtally.server.node.calls import Answer


@pytest.fixture(scope="module")
def office(tmp_path_factory):
    """A collector whose first round is exported where it serves it."""
    office = KeepingOffice(tmp_path_factory.mktemp("served"))
    office.begin()
    office.count()
    return office


@pytest.fixture(scope="module")
def served(office):
    return office.export(served=True)


@pytest.fixture
def folder(served, tmp_path):
    return shutil.copytree(served, tmp_path / "round")


def address(office, number=1):
    place = office.contract.collector.address
    return f"{place}/contracts/{office.fingerprint}/rounds/{number}/export"


def call_of(office):
    """Requests without sockets, to addresses that have a path."""

    def call(place, method, path, body=b"", most=0):
        host = office.contract.collector.address
        return office.call(host, method, place.removeprefix(host) + path, body)

    return call


def test_no_folder_an_empty_one_and_one_of_other_files(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("hello")
    (tmp_path / "file").write_text("hello")
    for name in ("nowhere", "empty", "other", "file"):
        with pytest.raises(DataError):
            RoundFiles(tmp_path / name)


def test_a_link_out_of_the_folder_is_refused(folder, tmp_path):
    (tmp_path / "secret").write_text("secret")
    (folder / "tally.json").unlink()
    (folder / "tally.json").symlink_to(tmp_path / "secret")
    with pytest.raises(DataError, match=r"tally\.json"):
        check(folder)
    (tmp_path / "link").symlink_to(folder)
    with pytest.raises(DataError):
        RoundFiles(tmp_path / "link")


def test_a_pipe_and_a_folder_in_place_of_a_file_are_refused(folder):
    (folder / "sheet.note").unlink()
    os.mkfifo(folder / "sheet.note")
    with pytest.raises(DataError, match="something else"):
        check(folder)
    (folder / "sheet.note").unlink()
    (folder / "sheet.note").mkdir()
    with pytest.raises(DataError, match=r"sheet\.note"):
        check(folder)


def test_a_huge_file_is_refused_before_it_fills_the_memory(folder):
    with (folder / "result.json").open("r+b") as file:
        file.truncate(1 << 40)
    with pytest.raises(DataError, match="more than"):
        check(folder)


@pytest.mark.parametrize("name", ["contract.note", "index.note", "receipt.json", "piece"])
def test_a_file_that_is_longer_than_its_kind_is_refused(folder, name):
    path = next(folder.glob(f"{name}*"))
    os.truncate(path, MOST_FILE_BYTES // 4)
    with pytest.raises(DataError, match="more than 16,777,216 bytes"):
        check(folder)


def test_too_many_files_are_refused(folder, monkeypatch):
    monkeypatch.setattr(round_files, "MOST_FILES", 5)
    with pytest.raises(DataError, match="more than 5"):
        RoundFiles(folder)


def test_a_served_round_is_fetched_whole(office, served, tmp_path):
    fetch_round(address(office), tmp_path, call_of(office), ignore_progress)
    names = {path.name for path in served.iterdir()}
    assert names == {path.name for path in tmp_path.iterdir()}
    assert all((tmp_path / name).read_bytes() == (served / name).read_bytes() for name in names)
    assert not check(tmp_path).findings


@pytest.mark.parametrize("name", ["charge.json", "..%2ftally.json", "index.note.part", "notes"])
def test_nothing_else_is_served(office, served, name):
    assert office.ask("GET", f"{address(office).partition('7004')[2]}/{name}").status == 404
    assert office.ask("GET", f"{address(office, 2).partition('7004')[2]}/{INDEX}").status == 404


def test_a_file_that_is_missing_at_the_address_is_a_finding(office, served, tmp_path):
    def call(place, method, path, body=b"", most=0):
        if path == "/tally.json":
            return Answer(404, b"")
        answer = call_of(office)(place, method, path, body, most)
        # A longer file takes no more space than the index states.
        return Answer(answer.status, answer.body + bytes(10**6)) if "receipt.md" in path else answer

    fetch_round(address(office), tmp_path, call, ignore_progress)
    assert (tmp_path / "receipt.md").stat().st_size < 10**5
    report = check(tmp_path)
    assert {one.file for one in report.findings} == {"tally.json", "receipt.md"}
    assert all(one.role is None for one in report.findings)


@pytest.mark.parametrize(
    "body",
    [b"", b"{}", b"[" * 10**6, b"<html>", b'{"version": 1, "kind": "sheet"}'],
)
def test_an_address_without_an_index(tmp_path, body):
    with pytest.raises(DataError, match="index"):
        fetch_round("http://x", tmp_path, lambda *_: Answer(200, body), ignore_progress)
    with pytest.raises(DataError, match="HTTP 404"):
        fetch_round("http://x", tmp_path, lambda *_: Answer(404, body), ignore_progress)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "length", "digest"),
    [
        ("../evil", 1, "0" * 64),
        ("tally.json", -1, "0" * 64),
        ("tally.json", MOST_FILE_BYTES + 1, "0" * 64),
        ("sheet.note", MOST_FILE_BYTES, "0" * 64),
        ("tally.json", 1, "\x1b[2J"),
        ("tally.json", 1, "0" * 65),
    ],
)
def test_a_hostile_index(served, tmp_path, name, length, digest):
    text = (served / INDEX).read_bytes().partition("\n\n\N{EM DASH}".encode())[0]
    plain = json.loads(text)
    plain["files"][name] = {"sha256": digest, "length": length}
    data = json.dumps(plain).encode() + b"\n"
    with pytest.raises(DataError, match="index"):
        fetch_round("http://x", tmp_path, lambda *_: Answer(200, data), ignore_progress)


def test_more_files_than_the_disk_has_room_for(served, tmp_path, monkeypatch):
    total = sum(file.length for file in read_index((served / INDEX).read_bytes()).files.values())
    monkeypatch.setattr(disk, "free_bytes", lambda _: total - 1)
    with pytest.raises(DataError, match="free bytes"):
        fetch_round(
            "http://x", tmp_path, lambda *_: Answer(200, (served / INDEX).read_bytes()),
            ignore_progress,
        )  # fmt: skip


def test_a_file_may_be_as_long_as_its_kind(served, tmp_path, monkeypatch):
    """A result of many bins is longer than any answer of a role to a role."""
    asked = {}

    def call(place, method, path, body, most):
        asked[path] = most
        return Answer(200, (served / path[1:]).read_bytes())

    fetch_round("http://x", tmp_path, call, ignore_progress)
    assert asked["/result.json"] == asked["/tally.json"] == MOST_FILE_BYTES
    assert asked["/sheet.note"] == 1 << 24

    def answer():
        yield b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + bytes(100)

    monkeypatch.setattr(calls, "SECONDS", 60.0)
    monkeypatch.setattr(calls, "MOST_ANSWER_BYTES", 10)
    with server(answer) as place:
        assert len(calls.call(place, "GET", "/", b"", 100).body) == 100
    with server(answer) as place, pytest.raises(calls.SilentError):
        calls.call(place, "GET", "/", b"", 99)


@contextmanager
def server(answer):
    """A server on this machine that sends a stream of bytes to one client."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def run():
            with listening.accept()[0] as client:
                client.recv(1 << 16)
                try:
                    for some in answer():
                        client.sendall(some)
                except OSError:
                    return

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        thread.join(5)


def endless():
    yield b"HTTP/1.1 200 OK\r\n\r\n"
    while True:
        yield bytes(1 << 16)


def trickle():
    yield b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"
    pause = threading.Event()
    while True:
        pause.wait(0.02)
        yield b"x"


@pytest.mark.parametrize("answer", [endless, trickle])
def test_an_address_that_never_ends(tmp_path, monkeypatch, answer):
    monkeypatch.setattr(calls, "SECONDS", 0.2)
    with server(answer) as place, pytest.raises(DataError, match="expected a file"):
        fetch_round(place, tmp_path, calls.call, ignore_progress)
    assert not list(tmp_path.iterdir())


def fetching(served, folder, seconds, extra=b""):
    """Fetch a round, each of whose files takes some seconds of a clock that is not the real one."""
    times = [0.0]

    def send(place, method, path, body, most, within):
        times[0] += min(seconds, within)
        found = (served / path[1:]).read_bytes() + extra * (path != f"/{INDEX}")
        if len(found) > most or seconds > within:
            raise calls.SilentError(f"{place}: the answer is too long")
        return Answer(200, found)

    fetch_round("http://x", folder, limit_fetches(send, lambda: times[0]), ignore_progress)
    return times[0]


def test_all_files_of_an_address_together_have_a_limit_of_time(served, tmp_path, monkeypatch):
    """A hostile address that is just quick enough with each file would keep an auditor for days."""
    files = len(read_index((served / INDEX).read_bytes()).files) + 1
    assert fetching(served, tmp_path, 1.0) == files
    monkeypatch.setattr(round_files, "MOST_SECONDS", 4)
    for seconds in (1.0, 1.5):
        folder = tmp_path / f"{seconds}"
        folder.mkdir()
        with pytest.raises(DataError, match=r"got more than 4 seconds, or .* bytes, for all files"):
            fetching(served, folder, seconds)
        assert len(list(folder.iterdir())) == 4 // seconds - (seconds == 1)


def test_all_files_of_an_address_together_have_a_limit_of_bytes(served, tmp_path, monkeypatch):
    """Each file may be longer than the index says; it is cut, but it was sent."""
    index = (served / INDEX).read_bytes()
    total = sum(file.length for file in read_index(index).files.values())
    monkeypatch.setattr(round_files, "MOST_BYTES", total + len(index))
    fetching(served, tmp_path, 0.0)
    (tmp_path / "longer").mkdir()
    with pytest.raises(DataError, match=r"bytes, for all files"):
        fetching(served, tmp_path / "longer", 0.0, b"x")
    monkeypatch.setattr(round_files, "MOST_BYTES", total - 1)
    (tmp_path / "stated").mkdir()
    with pytest.raises(DataError, match=f"expected at most {total - 1:,} bytes, got {total:,}"):
        fetch_round("http://x", tmp_path / "stated", lambda *_: Answer(200, index), ignore_progress)


def test_a_request_ends_with_the_time_of_all(tmp_path, monkeypatch):
    monkeypatch.setattr(round_files, "MOST_SECONDS", 0.2)
    with server(trickle) as place, pytest.raises(DataError, match="for all files"):
        fetch_round(place, tmp_path, limit_fetches(calls.call), ignore_progress)
