"""A role on a real socket, asked as roles ask each other; it stops by itself."""

import socket

import pytest

from helpers.roles_in_folders import Village
from mixtally.errors import DataError
from mixtally.server.node import running
from mixtally.server.node.calls import SilentError, call
from mixtally.server.node.web.run import Server, open_listening_socket


def test_a_role_answers_on_a_socket_and_stops(tmp_path):
    village = Village(tmp_path, hops=2)
    node = village.node(1)
    place = open_listening_socket("127.0.0.1", 0)
    address = f"http://127.0.0.1:{place.getsockname()[1]}"
    stop = Server(village.awake(node)).run_in_thread(place)
    try:
        answer = call(address, "GET", "/status")
        assert answer.is_success
        assert b'"mix-1"' in answer.body
        assert call(address + "/", "POST", "/notes", village.text).status == 200
        assert call(address, "POST", "/notes", b"x").status == 400
        assert call(address, "HEAD", "/pieces/x").status == 404
    finally:
        stop()
    with pytest.raises(SilentError):
        call(address, "GET", "/status")


def test_who_does_not_speak_http_is_silent():
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))  # it does not listen, and keeps the port from others
        with pytest.raises(SilentError):
            call(f"http://127.0.0.1:{place.getsockname()[1]}", "GET", "/")
    with pytest.raises(SilentError):
        call("http://127.0.0.1:nine", "GET", "/")


def test_a_place_that_is_taken_is_told():
    with (
        socket.create_server(("127.0.0.1", 0)) as place,
        pytest.raises(DataError, match="another port"),
    ):
        open_listening_socket("127.0.0.1", place.getsockname()[1])


def test_a_missing_library_is_told_with_its_extra(monkeypatch):
    monkeypatch.setattr(running, "_LIBRARIES", ("no_such_library",))
    with pytest.raises(DataError, match=r"mixtally\[serve\]"):
        running.require_server_libraries()
