"""A role that does not serve yet is asked again for a while, and then it is what it answers."""

from http.client import HTTPConnection
from io import BytesIO

import pytest

from mixtally.server.node import calls as calling
from mixtally.server.node.calls import Answer, retry_until_ready


class Role:
    """Answers 503 so often; a pause takes its seconds from a clock of its own."""

    def __init__(self, busy):
        self.busy, self.now, self.told, self.asked = busy, 0.0, [], 0

    def call(self, *request):
        self.asked += 1
        return Answer(503 if self.asked <= self.busy else 200, request[-1])

    def pause(self, seconds):
        self.now += seconds

    def patient(self):
        return retry_until_ready(self.call, self.told.append, 10, lambda: self.now, self.pause)


def test_who_serves_at_once_is_asked_once():
    role = Role(busy=0)
    assert role.patient()("here", "POST", "/notes", b"x") == Answer(200, b"x")
    assert (role.asked, role.told, role.now) == (1, [], 0)


def test_who_serves_later_is_asked_until_then():
    role = Role(busy=3)
    assert role.patient()("here", "POST", "/notes", b"x") == Answer(200, b"x")
    assert (role.asked, role.told, role.now) == (4, ["here"], 3)


@pytest.mark.parametrize("calls", [1, 4])
def test_all_are_waited_for_together_and_not_for_ever(calls):
    role = Role(busy=99)
    call = role.patient()
    assert {call("here", "POST", "/notes").status for _ in range(calls)} == {503}
    assert role.now == 10
    assert role.asked == 10 + calls


class Wire(HTTPConnection):
    """A connection without a socket, which keeps the blocks that are sent and answers 201."""

    def connect(self):
        self.sock, self.blocks = self, []

    def sendall(self, data):
        self.blocks.append(bytes(data))

    def makefile(self, *_):
        return BytesIO(b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")

    def close(self):
        """Keep everything."""


def test_a_long_body_is_sent_in_blocks_each_of_which_has_its_time(monkeypatch):
    """The timeout of a socket is that of a block: whole, a piece would need 1.6 MB/s."""
    wire, body = Wire("127.0.0.1"), bytes(range(256)) * (1 << 12)
    monkeypatch.setattr(calling, "_connection", lambda _: wire)
    assert calling.call("http://127.0.0.1", "PUT", "/pieces/x", body) == Answer(201, b"")
    head, sent = b"".join(wire.blocks).split(b"\r\n\r\n", 1)
    assert sent == body
    assert b"Content-Length: 1048576" in head
    assert b"chunked" not in head
    assert max(map(len, wire.blocks)) <= 1 << 16
