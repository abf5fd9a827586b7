"""Bodies of requests: bounded one by one and all together, checked against their digest.

Source: RFC 9530, Content-Digest.
"""

import asyncio
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Any

from mixtally.node.refusal import ProblemError
from mixtally.wire.problem import Problem

SECONDS = 60.0
"""For a body to come whole: who is slower gives the room back."""


_MOST_DIGITS = 18


class Room:
    """How many bytes of bodies may be held at once, over all connections."""

    def __init__(self, most: int) -> None:
        self._left = most

    def take(self, count: int) -> None:
        """Raises ProblemError where so many more are too much."""
        if count > self._left:
            raise ProblemError(Problem.BUSY, after=2)
        self._left -= count

    def give(self, count: int) -> None:
        """So many are no longer held."""
        self._left += count

    @contextmanager
    def held(self, count: int) -> Iterator[None]:
        """So many, for as long as it takes."""
        self.take(count)
        try:
            yield
        finally:
            self.give(count)


def header(scope: Any, name: bytes) -> bytes | None:
    """A header of a request; names are in small letters."""
    return next((value for key, value in scope["headers"] if key == name), None)


def stated_length(scope: Any, most: int) -> int:
    """Bytes to make room for: those stated, or ``most``; raises ProblemError for more than that."""
    stated = header(scope, b"content-length")
    written = stated is not None and stated.isdigit() and len(stated) <= _MOST_DIGITS
    count = int(stated) if stated is not None and written else most
    if count > most:
        raise ProblemError(Problem.TOO_LARGE, f"at most {most} bytes")
    return count


async def whole(scope: Any, receive: Any, most: int) -> bytes:
    """The body; raises ProblemError for one too long, of another digest, or that stays away."""
    try:
        async with asyncio.timeout(SECONDS):  # also for the first byte
            body = await _read(receive, most)
    except TimeoutError:
        raise ProblemError(Problem.BUSY, after=2) from None
    for name, stated in scope["headers"]:
        if name == b"content-digest":
            check_digest(stated, body)
    return body


async def _read(receive: Any, most: int) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ProblemError(Problem.BODY_LENGTH)
        some: bytes = message.get("body", b"")
        if len(body) + len(some) > most:
            raise ProblemError(Problem.TOO_LARGE, f"at most {most} bytes")
        if not message.get("more_body"):
            return bytes(body + some) if body else some
        body += some


def check_digest(stated: bytes, body: bytes) -> None:
    """Raises ProblemError for a ``sha-256`` that is not the body's; other digests say nothing."""
    for one in stated.split(b","):
        name, _, value = one.strip().partition(b"=")
        if name != b"sha-256":
            continue
        try:
            wanted = b64decode(value.removeprefix(b":").removesuffix(b":"), validate=True)
        except ValueError:
            wanted = b""
        if wanted != sha256(body).digest():
            raise ProblemError(Problem.WRONG_DIGEST)
