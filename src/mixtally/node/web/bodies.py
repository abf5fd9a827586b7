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
    count = int(stated) if stated is not None and stated.isdigit() else most
    if count > most:
        raise ProblemError(Problem.TOO_LARGE, f"at most {most} bytes")
    return count


async def whole(scope: Any, receive: Any, most: int) -> bytes:
    """The body; raises ProblemError for one too long, of another digest, or that stays away."""
    message = await receive()
    body = message.get("body", b"")
    if message.get("more_body"):
        try:
            body = await asyncio.wait_for(_rest(receive, body, most), SECONDS)
        except TimeoutError:
            raise ProblemError(Problem.BUSY, after=2) from None
    elif message["type"] == "http.disconnect":
        raise ProblemError(Problem.BODY_LENGTH)
    if len(body) > most:
        raise ProblemError(Problem.TOO_LARGE, f"at most {most} bytes")
    digest = header(scope, b"content-digest")
    if digest is not None:
        check_digest(digest, body)
    return bytes(body)


async def _rest(receive: Any, begun: bytes, most: int) -> bytearray:
    body = bytearray(begun)
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ProblemError(Problem.BODY_LENGTH)
        body += message.get("body", b"")
        if len(body) > most:
            raise ProblemError(Problem.TOO_LARGE, f"at most {most} bytes")
        if not message.get("more_body"):
            return body


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
