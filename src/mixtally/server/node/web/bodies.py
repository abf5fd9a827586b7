"""Bodies of requests: bounded one by one and all together, checked against their digest.

Room is taken by bytes that have come, never by a length that is stated, and by a body only as long
as it comes at the least rate. Where there is no room, those bodies that have held most of it for
longest and are not whole yet are given up: so bodies that come at once are taken whoever idles.

Source: RFC 9530, Content-Digest; RFC 9110, section 15.5.9, for 408.
"""

import asyncio
from base64 import b64decode
from hashlib import sha256
from time import monotonic
from typing import Any

from mixtally.device.wire.problem import Problem
from mixtally.server.node.refusal import ProblemError

GRACE_SECONDS = 10.0
"""For a body of any length."""
LEAST_RATE = 1 << 12
"""Bytes a second, once the grace is over."""
_MOST_DIGITS = 18
_KEPT_FREE = 8
"""A room that is full is emptied by one part of so many, not by a few bytes again and again."""


class _IncomingBody:
    """A body that is not whole yet."""

    def __init__(self, limit: asyncio.Timeout) -> None:
        self.limit, self.began = limit, monotonic()
        self.held, self.given_up = 0, False

    def weight(self, now: float) -> float:
        """Byte seconds that it has taken."""
        return self.held * (now - self.began)


class BodyBudget:
    """Holds at most ``most`` bytes of bodies at once, over all connections of one event loop."""

    def __init__(self, most: int) -> None:
        self._most, self.held = most, 0
        self._coming: set[_IncomingBody] = set()

    async def read_body(self, scope: Any, receive: Any, most: int) -> bytes:
        """The whole body of at most ``most`` bytes, which are held until they are given back.

        Raises ProblemError for one too long, of another digest, too slow, and where there is no
        room for it.
        """
        check_length(scope, most)
        try:
            async with asyncio.timeout(GRACE_SECONDS) as limit:  # also for the first byte
                one = _IncomingBody(limit)
                body = await self._receive_body(one, receive, most)
        except TimeoutError:
            raise _busy_error() if one.given_up else ProblemError(Problem.TOO_SLOW) from None
        try:
            for name, stated in scope["headers"]:
                if name == b"content-digest":
                    check_digest(stated, body)
        except ProblemError:
            self.release(len(body))
            raise
        return body

    def release(self, count: int) -> None:
        """So many bytes are no longer held."""
        self.held -= count

    async def _receive_body(self, one: _IncomingBody, receive: Any, most: int) -> bytes:
        """The body, counted as it comes; of one that does not come whole nothing is held."""
        body, loop = bytearray(), asyncio.get_running_loop()
        end = loop.time() + GRACE_SECONDS
        self._coming.add(one)
        try:
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ProblemError(Problem.BODY_LENGTH)
                some: bytes = message.get("body", b"")
                if len(body) + len(some) > most:
                    raise _too_large_error(most)
                self._reserve(one, len(some))
                if not message.get("more_body"):
                    one.held = 0  # it is the caller's
                    return bytes(body + some) if body else some
                body += some
                one.limit.reschedule(end + len(body) / LEAST_RATE)
        finally:
            self._coming.discard(one)
            self.release(one.held)

    def _reserve(self, one: _IncomingBody, count: int) -> None:
        if self.held + count > self._most:
            self._give_up_others(one, count)
        if one.given_up or self.held + count > self._most:
            raise _busy_error()
        self.held += count
        one.held += count

    def _give_up_others(self, one: _IncomingBody, count: int) -> None:
        """Make room by giving up what weighs more than ``one``, the heaviest first."""
        now, loop = monotonic(), asyncio.get_running_loop()
        for other in sorted(self._coming, key=lambda each: each.weight(now), reverse=True):
            enough = self.held + count <= self._most - self._most // _KEPT_FREE
            if enough or other.weight(now) <= one.weight(now):
                return
            self.release(other.held)
            other.held, other.given_up = 0, True
            other.limit.reschedule(loop.time())


def check_length(scope: Any, most: int) -> None:
    """Raises ProblemError where more bytes are stated than ``most``."""
    headers = scope["headers"]  # whose names are in small letters
    stated = next((value for name, value in headers if name == b"content-length"), None)
    written = stated is not None and stated.isdigit() and len(stated) <= _MOST_DIGITS
    if stated is not None and written and int(stated) > most:
        raise _too_large_error(most)


def check_digest(stated: bytes, body: bytes) -> None:
    """Raises ProblemError for a ``sha-256`` that is not the body's; other digests say nothing."""
    for one in stated.split(b","):
        name, _, value = one.strip().partition(b"=")
        if name != b"sha-256":
            continue
        try:
            expected = b64decode(value.removeprefix(b":").removesuffix(b":"), validate=True)
        except ValueError:
            expected = b""
        if expected != sha256(body).digest():
            raise ProblemError(Problem.WRONG_DIGEST)


def _busy_error() -> ProblemError:
    return ProblemError(Problem.BUSY, after=2)


def _too_large_error(most: int) -> ProblemError:
    return ProblemError(Problem.TOO_LARGE, f"at most {most} bytes")
