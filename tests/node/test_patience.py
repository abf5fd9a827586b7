"""Whoever sends no request is let go; whoever is slow with a body, or is owed an answer, is not."""

import asyncio
import socket
import threading
import time
from contextlib import ExitStack, contextmanager

import pytest

from mixtally.server.node.web import bodies, run, timeouts
from mixtally.server.node.web.bodies import BodyBudget
from mixtally.server.node.web.responses import send_response
from mixtally.server.node.web.run import Server, open_listening_socket
from mixtally.server.node.web.timeouts import TimeoutProtocol

HEAD = b"POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n"
SHORT = 100.0
"""Seconds within which a head must come, by the server's clock, which tests turn."""
SECONDS = 60
"""Limit of a wait, which only a failure uses up."""


async def app(scope, receive, send):
    """Says how long the body was; under /slow after some time."""
    body = await BodyBudget(1 << 20).read_body(scope, receive, 1 << 20)
    if scope["path"] == "/slow":
        await asyncio.sleep(3 * SHORT)
    await send_response(send, 200, b"%d" % len(body))


class Serving:
    """A server that waits ``SHORT`` for a head, on a loop whose clock a test turns."""

    def __init__(self):
        self._ahead, self._loop = 0.0, asyncio.new_event_loop()
        usual = self._loop.time
        self._loop.time = lambda: usual() + self._ahead
        self._server, place = Server(app)._server, open_listening_socket("127.0.0.1", 0)
        self._address = place.getsockname()
        self._thread = threading.Thread(target=self._run, args=(place,), daemon=True)
        self._thread.start()
        end = time.monotonic() + SECONDS
        while not self._server.started:
            assert time.monotonic() < end
            time.sleep(0.001)

    def _run(self, place):
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._server._serve(sockets=[place]))

    @contextmanager
    def __call__(self):
        """Open a connection."""
        with socket.create_connection(self._address, timeout=SECONDS) as link:
            yield link

    def settle(self):
        """Let the server do all that it can do now."""
        for _ in range(20):
            asyncio.run_coroutine_threadsafe(asyncio.sleep(0), self._loop).result(SECONDS)

    def turn(self, seconds):
        """Let time pass for the server."""
        self.settle()
        self._ahead += seconds
        self.settle()

    def end(self):
        """Stop the server."""
        self._server.should_exit = True
        self._thread.join()


@contextmanager
def serving():
    """A server whose other limits are out of reach."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TimeoutProtocol, "head_seconds", SHORT)
        patch.setattr(bodies, "GRACE_SECONDS", 1e6)
        patch.setattr(run, "_IDLE_SECONDS", 10**6)
        opened = Serving()
        yield opened
        opened.end()


@pytest.fixture(scope="module")
def served():
    with serving() as opened:
        yield opened


def answered(link, request=HEAD + b"abc", length=b"3"):
    """What comes back."""
    link.sendall(request)
    held = b""
    while not held.endswith(b"\r\n\r\n" + length):
        some = link.recv(1000)
        assert some
        held += some
    return held


def drip(link, drop, pause):
    """The same again and again; raises ConnectionError where nobody listens any more."""
    for _ in range(1000):
        link.sendall(drop)
        pause()


def let_go(link):
    """The server ends the connection; else the socket's own time ends the test."""
    try:
        while link.recv(1000):
            pass
    except ConnectionError:
        pass


@pytest.mark.parametrize("sent", [b"", b"\r\n", b"POST /x HTT", HEAD[:-2]])
def test_who_sends_no_head_is_let_go(served, sent):
    with served() as link:
        link.sendall(sent)
        served.turn(SHORT)
        let_go(link)


@pytest.mark.parametrize("drop", [b"\r\n", b"x", b"X-Y: z\r\n"])
@pytest.mark.parametrize("before", [b"", HEAD + b"abc"])
def test_a_drop_now_and_then_does_not_help(served, before, drop):
    with served() as link:
        if before:
            answered(link, before)
        if drop != b"\r\n":
            link.sendall(b"POST /")
        if drop.startswith(b"X"):
            link.sendall(b" HTTP/1.1\r\n")
        with pytest.raises(ConnectionError):
            drip(link, drop, lambda: served.turn(SHORT / 10))


def test_a_slow_body_has_its_own_time(served):
    with served() as link:
        link.sendall(HEAD[:20])
        served.turn(SHORT / 2)
        link.sendall(HEAD[20:])
        for byte in (b"a", b"b"):
            link.sendall(byte)
            served.turn(SHORT)
        assert answered(link, b"c").startswith(b"HTTP/1.1 200")
        served.turn(2 * SHORT)  # between requests there is more time
        assert answered(link).startswith(b"HTTP/1.1 200")


def test_an_answer_that_is_owed_comes_first(served):
    with served() as link:
        slow = HEAD.replace(b"/x", b"/slow") + b"abc"
        link.sendall(slow + b"POST /")
        for _ in range(3):
            served.turn(SHORT)
        assert answered(link, b"").startswith(b"HTTP/1.1 200")
        link.sendall(b"x")
        served.turn(SHORT)
        let_go(link)


@pytest.mark.parametrize("sent", ["X: " + "y" * (1 << 14) + "\r\n", "X: y\r\n" * 101])
def test_a_head_that_is_too_long_is_refused(served, sent):
    with served() as link:
        link.sendall(b"GET /x HTTP/1.1\r\n" + sent.encode() + b"\r\n")
        assert link.recv(1000).startswith(b"HTTP/1.1 400")
        let_go(link)
    with served() as link:
        assert answered(link).startswith(b"HTTP/1.1 200")


def test_a_head_without_end_is_not_held(served):
    with served() as link:
        link.sendall(b"GET /x HTTP/1.1\r\n")
        with pytest.raises(ConnectionError):
            drip(link, b"X: " + b"y" * 1000 + b"\r\n", served.settle)


def test_a_long_body_is_no_head(served, monkeypatch):
    monkeypatch.setattr(timeouts, "MOST_HEAD_BYTES", 100)
    with served() as link:
        link.sendall(HEAD.replace(b"3", b"3000"))
        for _ in range(30):
            link.sendall(b"x" * 100)
            served.settle()
        assert answered(link, b"", b"3000").startswith(b"HTTP/1.1 200")
        assert answered(link).startswith(b"HTTP/1.1 200")


def test_with_too_many_connections_the_one_that_idles_longest_is_let_go(monkeypatch):
    monkeypatch.setattr(timeouts, "MOST_OPEN", 2)
    with serving() as opened, opened() as first, opened() as second:
        answered(first)
        answered(second)
        answered(first)
        with opened() as third:
            let_go(second)
            answered(third)
            answered(first)


@pytest.mark.parametrize("sent", [b"", b"POST /x HTT", HEAD, HEAD + b"ab"])
def test_connections_that_idle_keep_nobody_out(monkeypatch, sent):
    monkeypatch.setattr(timeouts, "MOST_OPEN", 20)
    with serving() as opened, ExitStack() as held:
        for _ in range(60):
            held.enter_context(opened()).sendall(sent)
        with opened() as good:
            assert answered(good).startswith(b"HTTP/1.1 200")


def test_who_is_owed_an_answer_is_not_let_go(monkeypatch):
    monkeypatch.setattr(timeouts, "MOST_OPEN", 2)
    with serving() as opened, opened() as slow:
        slow.sendall(HEAD.replace(b"/x", b"/slow") + b"abc")
        opened.settle()
        with ExitStack() as held:
            for _ in range(6):
                held.enter_context(opened())
            opened.turn(3 * SHORT)
            assert answered(slow, b"").startswith(b"HTTP/1.1 200")


CHUNKED = b"POST /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "drop", [b"a: " + b"b" * 1000 + b"\r\n", b"c" * 1000], ids=["many lines", "one long line"]
)
@pytest.mark.parametrize(
    "before", [b"3\r\nabc\r\n0\r\n", b"0\r\n", b"3;e="], ids=["some", "none", "size"]
)
def test_trailers_without_end_are_cut_off(served, before, drop):
    with served() as link:
        link.sendall(CHUNKED + before + b"t: ")
        with pytest.raises(ConnectionError):
            drip(link, drop, served.settle)


def test_short_trailers_and_small_chunks_are_read(served):
    with served() as link:
        link.sendall(CHUNKED)
        for _ in range(2000):  # chunk headers of 6,000 bytes in all
            link.sendall(b"1\r\n")
            link.sendall(b"a\r\n")
        assert answered(link, b"0\r\nt: " + b"x" * 3000 + b"\r\n\r\n", b"2000")
