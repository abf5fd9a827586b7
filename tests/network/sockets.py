"""Load over real sockets: connections that idle, peers that answer slowly, without end or not."""

import socket
import threading
from contextlib import contextmanager
from unittest import mock

from mixtally.server.node import calls
from mixtally.server.node.calls import call
from mixtally.server.node.web.run import Server, open_listening_socket
from network import onwires
from network.stage import BINS


def on_a_socket(stage, place=1):
    """A role that listens."""
    where = open_listening_socket("127.0.0.1", 0)
    app = stage.apps[stage.folders[place - 1].role.address]
    return where.getsockname()[1], Server(app).run_in_thread(where)


def idle_connections(stage):
    """Three hundred connections that say nothing, or half a request; then a bundle."""
    port, stop = on_a_socket(stage)
    idle = []
    try:
        for number in range(300):
            idle.append(socket.create_connection(("127.0.0.1", port), timeout=300))
            idle[-1].sendall(b"POST /notes HTTP/1.1\r\nHost:"[: number % 29])
        body = stage.bundle([BINS[0]])
        address = f"http://127.0.0.1:{port}"
        return str(onwires.call(address, "POST", stage.path("/bundles"), body).status)
    finally:
        for one in idle:
            one.close()
        stop()


@contextmanager
def peer(talk):
    """Somebody who answers a request as ``talk`` writes, until nobody listens."""
    place = socket.create_server(("127.0.0.1", 0))
    ended = threading.Event()

    def serve():
        link, _ = place.accept()
        with link:
            link.recv(1 << 16)
            try:
                talk(link, ended)
            except OSError:
                return

    serving = threading.Thread(target=serve, daemon=True)
    serving.start()
    try:
        yield f"http://127.0.0.1:{place.getsockname()[1]}"
    finally:
        ended.set()
        serving.join()
        place.close()


def asked_of(talk):
    """A role asks such a peer, with little patience."""

    def act(_):
        with peer(talk) as address, mock.patch.object(calls, "SECONDS", 0.1):
            return str(call(address, "GET", "/notes/mix-1", most=10_000).status)

    return act


def drips(link, ended):
    """A byte of the answer now and then, in time for every single wait."""
    link.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n")
    while not ended.wait(0.02):
        link.sendall(b"x")


def goes_on(link, ended):
    """A promise of an answer, again and again."""
    while not ended.wait(0.01):
        link.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")


def says_nothing(_, ended):
    ended.wait(10)


def without_end(link, ended):
    link.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    while not ended.is_set():
        link.sendall(bytes(1000))


def long_header(link, ended):
    link.sendall(b"HTTP/1.1 200 OK\r\n")
    while not ended.is_set():
        link.sendall(b"X" * 1000)


def no_http(link, _):
    link.sendall(b"\x16\x03\x01 hello\r\n\r\n")


SHARED = {
    "a role that answers byte by byte": (asked_of(drips), "silence"),
    "a role that says to go on for ever": (asked_of(goes_on), "silence"),
    "a role that accepts and says nothing": (asked_of(says_nothing), "silence"),
    "a role whose answer has no end": (asked_of(without_end), "silence"),
    "a role whose header has no end": (asked_of(long_header), "silence"),
    "a role that does not speak HTTP": (asked_of(no_http), "silence"),
}


ALONE = {
    "three hundred idle connections and a bundle": (idle_connections, "201"),
}
