"""Connections that idle stop no intake: bundles, notes and pieces are taken meanwhile."""

import socket
from contextlib import ExitStack

import pytest

from helpers.mixes import town_of
from mixtally.server.node.calls import call
from mixtally.server.node.web.run import Server, open_listening_socket


@pytest.fixture
def served(tmp_path):
    """A first mix whose round is open, and where it listens."""
    town = town_of(tmp_path, hops=2)
    place = open_listening_socket("127.0.0.1", 0)
    stop = Server(town.apps[town.folders[0].role.address]).run_in_thread(place)
    yield town, place.getsockname()
    stop()
    town.end()


@pytest.mark.parametrize(("path", "length"), [("bundles", 1 << 22), ("/notes", 1 << 24)])
def test_heads_without_a_body_keep_nobody_out(served, path, length):
    """As many as could fill all room, were it taken by what they announce."""
    town, where = served
    to = path if path.startswith("/") else town.path
    head = f"POST {to} HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n".encode()
    with ExitStack() as held:
        for number in range(33):
            idle = held.enter_context(socket.create_connection(where))
            idle.sendall(head + bytes(number % 3))
        body = town.bundle([b"\1"]) if to == town.path else town.text
        for _ in range(5):
            answer = call("http://{}:{}".format(*where), "POST", to, body)
            assert answer.is_success, answer
