"""A request to another role: one answer, whole and bounded, or silence. Plain ``http.client``."""

import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from threading import Timer
from time import monotonic, sleep
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

from mixtally.errors import MixtallyError

MOST_ANSWER_BYTES = (1 << 24) + (1 << 16)
"""What a note can be, with all its signatures."""
SECONDS = 10.0
"""For each step of a request; all steps together have three times as long, and what is sent its own
time."""
_NOT_YET = 503
LEAST_RATE = 1 << 16
"""Bytes of a body a second."""


class SilentError(MixtallyError):
    """A role did not answer: nobody listens, or not in time, or not in HTTP."""


class Answer(NamedTuple):
    """What was answered."""

    status: int
    body: bytes

    @property
    def is_success(self) -> bool:
        """Whether it was done."""
        return 200 <= self.status < 300


Call = Callable[[str, str, str, bytes], Answer]
"""(address of a role, method, path, body) -> its answer; raises SilentError."""


def call(address: str, method: str, path: str, body: bytes = b"") -> Answer:
    """Ask over the network, with a limit on every wait and on all of them; raises SilentError."""
    try:
        place = urlsplit(address)
        connection = _connection(place)
        try:
            connection.connect()
            seconds = 3 * SECONDS + len(body) / LEAST_RATE
            with_end = Timer(seconds, _shut_down, (connection.sock,))  # it may come byte by byte
            with_end.daemon = True
            with_end.start()
            try:
                answer = _send_request(connection, method, place.path.rstrip("/") + path, body)
            finally:
                with_end.cancel()
        finally:
            connection.close()
    except (OSError, HTTPException, ValueError) as error:
        raise SilentError(f"{address}: {type(error).__name__}") from error
    if len(answer.body) > MOST_ANSWER_BYTES:
        raise SilentError(f"{address}: an answer without end")
    return answer


def retry_until_ready(
    call: Call,
    on_wait: Callable[[str], None],
    seconds: float = SECONDS,
    clock: Callable[[], float] = monotonic,
    pause: Callable[[float], None] = sleep,
) -> Call:
    """``call`` that asks again whoever does not serve yet, for some seconds in all.

    ``told`` is given the address of each that is waited for.
    """
    until: list[float] = []

    def again(address: str, method: str, path: str, body: bytes = b"") -> Answer:
        answer = call(address, method, path, body)
        if answer.status == _NOT_YET:
            until[:] = until or [clock() + seconds]
            on_wait(address)
        while answer.status == _NOT_YET and clock() < until[0]:
            pause(1.0)
            answer = call(address, method, path, body)
        return answer

    return again


def _connection(place: SplitResult) -> HTTPConnection:
    host = place.hostname or ""
    if place.scheme == "https":
        context = ssl.create_default_context()
        return HTTPSConnection(host, place.port, timeout=SECONDS, context=context)
    return HTTPConnection(host, place.port, timeout=SECONDS)


def _send_request(connection: HTTPConnection, method: str, path: str, body: bytes) -> Answer:
    headers = {"Content-Length": str(len(body))} if method in ("POST", "PUT") else {}
    connection.request(method, path, body or None, headers)
    answer = connection.getresponse()
    said = answer.read(MOST_ANSWER_BYTES + 1)
    if answer.length:
        raise HTTPException("another length than announced")
    return Answer(answer.status, said)


def _shut_down(place: socket.socket) -> None:
    with suppress(OSError):
        socket.socket.shutdown(place, socket.SHUT_RDWR)
