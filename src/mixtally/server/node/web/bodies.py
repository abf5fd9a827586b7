"""Request bodies, limited in size one by one and together, and checked against their digest.

Memory is reserved when bytes arrive, never because of a stated length. A body may use memory only
while it arrives at the minimum rate. When memory is full, incomplete bodies are refused, beginning
with the largest product of size and age (byte-seconds). So fast bodies are accepted even if many
slow ones are open.

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
"""Seconds that a body of any length may take."""
LEAST_RATE = 1 << 12
"""Minimum rate after the grace period, in bytes per second."""
_MOST_DIGITS = 18
_KEPT_FREE = 8
"""When memory is full, one eighth of it is freed at once, instead of a few bytes at a time."""


class _IncomingBody:
    """A body that is incomplete."""

    def __init__(self, limit: asyncio.Timeout, budget: "BodyBudget") -> None:
        self.limit, self.budget, self.began = limit, budget, monotonic()
        self.size, self.given_up = 0, False

    def weight(self, now: float) -> float:
        """Return the number of received bytes times the seconds since the body began."""
        return self.size * (now - self.began)


class BodyBudget:
    """Memory budget for the bodies of all connections of one event loop, of ``most`` bytes.

    A budget can be part of another one, ``within``. A body then needs space in both.
    """

    def __init__(self, most: int, within: "BodyBudget | None" = None) -> None:
        self._most, self.used = most, 0
        self._coming: set[_IncomingBody] = set()
        self._all: tuple[BodyBudget, ...] = (self, *(() if within is None else within._all))
        """This budget, and those of which it is a part."""

    async def read_body(self, scope: Any, receive: Any, most: int) -> bytes:
        """Receive a body of at most ``most`` bytes, and return it.

        The memory stays reserved until the caller calls ``release``. Raises ProblemError if the
        body is too long or too slow, does not match its stated digest, or does not fit into memory.
        """
        check_length(scope, most)
        try:
            # The grace period also limits the wait for the first byte.
            async with asyncio.timeout(GRACE_SECONDS) as limit:
                one = _IncomingBody(limit, self)
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
        """Give ``count`` bytes back to the budget, after their memory was freed."""
        for budget in self._all:
            budget.used -= count

    async def _receive_body(self, one: _IncomingBody, receive: Any, most: int) -> bytes:
        """Receive a body and reserve memory for it; if it stays incomplete, release the memory."""
        body, loop = bytearray(), asyncio.get_running_loop()
        end = loop.time() + GRACE_SECONDS
        for budget in self._all:
            budget._coming.add(one)
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
                    # The caller releases these bytes, so the code below must not release them too.
                    one.size = 0
                    return bytes(body + some) if body else some
                body += some
                one.limit.reschedule(end + len(body) / LEAST_RATE)
        finally:
            for budget in self._all:
                budget._coming.discard(one)
            self.release(one.size)

    def _reserve(self, body: _IncomingBody, count: int) -> None:
        for budget in self._all:
            if budget.used + count > budget._most:
                budget._give_up_others(body, count)
            if body.given_up or budget.used + count > budget._most:
                raise _busy_error()
        for budget in self._all:
            budget.used += count
        body.size += count

    def _give_up_others(self, body: _IncomingBody, count: int) -> None:
        """Free memory by refusing incomplete bodies with a larger weight than ``body``."""
        now, loop = monotonic(), asyncio.get_running_loop()
        for other in sorted(self._coming, key=lambda each: each.weight(now), reverse=True):
            enough = self.used + count <= self._most - self._most // _KEPT_FREE
            if enough or other.weight(now) <= body.weight(now):
                return
            other.budget.release(other.size)
            other.size, other.given_up = 0, True
            # An expired timeout ends the task that receives the other body.
            other.limit.reschedule(loop.time())


def check_length(scope: Any, most: int) -> None:
    """Raise ProblemError if the length that a request states is greater than ``most`` bytes.

    If ``most`` is 0, a body without a stated length is refused, too.
    """
    # ASGI guarantees that header names are in lower case.
    headers = scope["headers"]
    if not most and any(name == b"transfer-encoding" for name, _ in headers):
        raise _too_large_error(most)
    stated = next((value for name, value in headers if name == b"content-length"), None)
    written = stated is not None and stated.isdigit() and len(stated) <= _MOST_DIGITS
    if stated is not None and written and int(stated) > most:
        raise _too_large_error(most)


def check_digest(stated: bytes, body: bytes) -> None:
    """Raise ProblemError if a stated ``sha-256`` digest is wrong; other digests are ignored."""
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
    return ProblemError(Problem.BUSY, retry_seconds=2)


def _too_large_error(most: int) -> ProblemError:
    return ProblemError(Problem.TOO_LARGE, f"at most {most} bytes")
