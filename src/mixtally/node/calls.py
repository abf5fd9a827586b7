"""A request to another role: one answer, whole and bounded, or silence. Plain ``http.client``."""

import ssl
from collections.abc import Callable
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import NamedTuple
from urllib.parse import urlsplit

from mixtally.errors import MixtallyError

MOST_ANSWER_BYTES = 1 << 28
SECONDS = 30.0


class SilentError(MixtallyError):
    """A role did not answer: nobody listens, or not in time, or not in HTTP."""


class Answer(NamedTuple):
    """What was answered."""

    status: int
    body: bytes

    @property
    def good(self) -> bool:
        """Whether it was done."""
        return 200 <= self.status < 300


Call = Callable[[str, str, str, bytes], Answer]
"""(address of a role, method, path, body) -> its answer; raises SilentError."""


def call(address: str, method: str, path: str, body: bytes = b"") -> Answer:
    """Ask over the network, with a limit on every wait; raises SilentError."""
    place = urlsplit(address)
    try:
        if place.scheme == "https":
            connection: HTTPConnection = HTTPSConnection(
                place.hostname or "", place.port, timeout=SECONDS, context=_context()
            )
        else:
            connection = HTTPConnection(place.hostname or "", place.port, timeout=SECONDS)
        try:
            headers = {"Content-Length": str(len(body))} if method in ("POST", "PUT") else {}
            connection.request(method, place.path.rstrip("/") + path, body or None, headers)
            answer = connection.getresponse()
            said = answer.read(MOST_ANSWER_BYTES + 1)
        finally:
            connection.close()
    except (OSError, HTTPException, ValueError) as error:
        raise SilentError(f"{address}: {type(error).__name__}") from error
    if len(said) > MOST_ANSWER_BYTES:
        raise SilentError(f"{address}: an answer without end")
    return Answer(answer.status, said)


def _context() -> ssl.SSLContext:
    return ssl.create_default_context()
