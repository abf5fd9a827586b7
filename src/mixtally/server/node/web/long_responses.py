"""Long answers: made once until something is written down, sent bit by bit to who takes them."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

from starlette.responses import Response

MAX_CACHED_BYTES = 1 << 25
_AT_ONCE = 1 << 16
_GRACE_SECONDS = 10.0
_LEAST_RATE = 1 << 14
"""Bytes a second that are taken; who is slower is let go."""


class ResponseCache:
    """Answers by what they are of; ``version`` tells whether they may have changed."""

    def __init__(self, version: Callable[[], object]) -> None:
        self._version, self._turn = version, threading.Lock()
        self._made: dict[tuple[str, ...], bytes | None] = {}
        self._of: object = None
        self._bytes = 0

    def get_or_make(self, key: tuple[str, ...], make: Callable[[], bytes | None]) -> bytes | None:
        """What ``make`` gives, or gave before; whoever asks meanwhile waits for the same bytes."""
        with self._turn:
            version = self._version()
            if version != self._of or self._bytes > MAX_CACHED_BYTES:
                self._made, self._of, self._bytes = {}, version, 0
            if key not in self._made:
                self._made[key] = made = make()
                self._bytes += sum(map(len, key)) + len(made or b"") + _AT_ONCE // 64
            return self._made[key]


class LongResponse(Response):
    """An answer of which whoever takes it slowly has no copy of their own in memory."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:  # noqa: ARG002
        """Send it; an answer that is broken off ends the connection."""
        start = {"type": "http.response.start", "status": self.status_code}
        await send({**start, "headers": self.raw_headers})
        data = memoryview(self.body)
        try:
            async with asyncio.timeout(_GRACE_SECONDS + len(data) / _LEAST_RATE):
                for at in range(0, len(data) or 1, _AT_ONCE):
                    more = at + _AT_ONCE < len(data)
                    some = data[at : at + _AT_ONCE]
                    await send({"type": "http.response.body", "body": some, "more_body": more})
        except TimeoutError:
            return
