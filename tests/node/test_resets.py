"""A client that resets its connection is no error: nothing is logged, and the role goes on."""

import asyncio
import logging
import socket
import struct
import threading

import pytest
import uvloop

from helpers.roles_in_folders import ask
from mixtally.server.node.calls import call
from mixtally.server.node.events import Log
from mixtally.server.node.web.bodies import BodyBudget
from mixtally.server.node.web.long_responses import LongResponse
from mixtally.server.node.web.responses import guard_application, role_application
from mixtally.server.node.web.run import Server, open_listening_socket

HEAD = b"POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n"
LINGER_NOT = struct.pack("ii", 1, 0)


async def long_response(scope, receive, send):
    await BodyBudget(1 << 10).read_body(scope, receive, 1 << 10)
    await LongResponse(b"x" * (1 << 22))(scope, receive, send)


def reset(address, sent, read):
    """Send bytes, read some, and reset the connection as a killed client's system does."""
    with socket.create_connection(address, timeout=20) as link:
        link.sendall(sent)
        if read:
            link.recv(read)
        link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_NOT)


@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_resets_in_a_request_and_in_a_response_are_not_logged(new_loop, caplog):
    lines, stopped = [], []
    app = role_application(lambda _: None, long_response, stopped.append, Log(lines.append))
    server, place, loop = Server(app), open_listening_socket("127.0.0.1", 0), new_loop()
    serving = server._server._serve(sockets=[place])
    runner = threading.Thread(target=loop.run_until_complete, args=(serving,), daemon=True)
    runner.start()
    with caplog.at_level(logging.WARNING):
        for _ in range(50):
            for sent, read in ((HEAD + b"a", 0), (HEAD + b"abc", 9), (3 * (HEAD + b"abc"), 9)):
                reset(place.getsockname(), sent, read)
        host, port = place.getsockname()
        answer = call(f"http://{host}:{port}", "POST", "/x", b"abc")  # it still answers others
    server.stop()
    runner.join(30)
    loop.close()
    assert len(answer.body) == 1 << 22
    assert (lines, stopped, caplog.messages) == ([], [], [])


@pytest.mark.parametrize(
    "error", [ConnectionResetError(104, "reset"), BrokenPipeError(32, "pipe")], ids=repr
)
def test_a_lost_connection_says_nothing_about_the_disk(error):
    lines, stopped = [], []

    async def loses(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise error

    assert ask(guard_application(loses, stopped.append, Log(lines.append)), "GET", "/").body == b""
    assert (lines, stopped) == ([], [])
