"""HTTP requests from one role to another, with limits on time and size.

Every request ends with one complete response or with ``SilentError``. Roles and commands use it
through the type ``Call``, which tests replace. It needs only ``http.client``.
"""

import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from io import BytesIO
from math import inf
from threading import Timer
from time import monotonic, sleep
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

from mixtally.errors import MixtallyError

MOST_ANSWER_BYTES = (1 << 24) + (1 << 16)
"""The maximum size of a response in bytes: that of the largest note with all its signatures."""
SECONDS = 10.0
"""Timeout of each step of a request, in seconds.

All steps together may take three times as long, plus the time for a long body and response.
"""
_NOT_YET = 503
LEAST_RATE = 1 << 16
"""The minimum rate at which a long body or response must be sent, in bytes per second."""


class SilentError(MixtallyError):
    """A role that did not send a complete HTTP response in time."""


class Answer(NamedTuple):
    """Response of another role."""

    status: int
    body: bytes
    date: str = ""
    """Header Date, as the role wrote it."""

    @property
    def is_success(self) -> bool:
        """Whether the status code is 2xx."""
        return 200 <= self.status < 300


Call = Callable[[str, str, str, bytes], Answer]
"""Function of (address of a role, method, path, body) that returns the response.

It raises SilentError if there is none.
"""


def call(
    address: str,
    method: str,
    path: str,
    body: bytes = b"",
    most: int = MOST_ANSWER_BYTES,
    seconds: float = inf,
) -> Answer:
    """Send a request over the network to the base URL of a role, and return the response.

    The response may have at most ``most`` bytes, and may take at most ``seconds`` after the
    connection is made. If ``most`` is above the default, the response may take longer.

    Raises
    ------
    SilentError
        If the role does not answer in time, or its response is incomplete or too large.
    """
    try:
        place = urlsplit(address)
        connection = _connection(place)
        try:
            connection.connect()
            longer = max(0, most - MOST_ANSWER_BYTES)
            usual = 3 * SECONDS + (len(body) + longer) / LEAST_RATE
            # A peer that sends one byte before each timeout would otherwise keep the call open
            # without end.
            with_end = Timer(min(usual, seconds), _shut_down, (connection.sock,))
            with_end.daemon = True
            with_end.start()
            try:
                answer = _send_request(
                    connection, method, place.path.rstrip("/") + path, body, most
                )
            finally:
                with_end.cancel()
        finally:
            connection.close()
    except (OSError, HTTPException, ValueError) as error:
        raise SilentError(f"{address}: {type(error).__name__}") from error
    if len(answer.body) > most:
        raise SilentError(f"{address}: the answer is too long")
    return answer


def retry_until_ready(
    call: Call,
    on_wait: Callable[[str], None],
    seconds: float = SECONDS,
    clock: Callable[[], float] = monotonic,
    pause: Callable[[float], None] = sleep,
) -> Call:
    """Return a variant of ``call`` that repeats a request while the role answers 503 "not ready".

    ``on_wait`` is called with the address of each role that answers "not ready". Requests are
    repeated until ``seconds`` after the first 503, for all requests together.
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


def _send_request(
    connection: HTTPConnection, method: str, path: str, body: bytes, most: int
) -> Answer:
    headers = {"Content-Length": str(len(body))} if method in ("POST", "PUT") else {}
    # As a file, because the timeout of a socket covers a whole block of bytes, not each packet. If
    # a piece were sent as one block, connections of less than 1.6 MB/s would time out.
    connection.request(method, path, BytesIO(body) if body else None, headers)
    answer = connection.getresponse()
    # One byte more than allowed, so that the caller can detect a response that is too large.
    said = answer.read(most + 1)
    if answer.length:
        raise HTTPException("another length than announced")
    return Answer(answer.status, said, answer.headers.get("date", ""))


def _shut_down(place: socket.socket) -> None:
    """Shut a socket down, which ends every read that is blocked on it."""
    with suppress(OSError):
        socket.socket.shutdown(place, socket.SHUT_RDWR)
