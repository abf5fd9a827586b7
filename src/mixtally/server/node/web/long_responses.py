"""Long responses, which are cached and sent in pieces.

Lists of notes and manifests can be long, and many roles request them. They are built only once
until the database changes, and sent without a copy for each client.
"""

import asyncio
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from starlette.responses import Response

MAX_CACHED_BYTES = 1 << 25
"""Size of the cache above which it is emptied, in bytes."""
_AT_ONCE = 1 << 16
_GRACE_SECONDS = 10.0
_LEAST_RATE = 1 << 14
"""Minimum rate in bytes per second; slower clients are disconnected."""


class ResponseCache:
    """Cache of responses by key, which is emptied when the return value of ``version`` changes."""

    def __init__(self, version: Callable[[], object]) -> None:
        self._version, self._turn = version, threading.Lock()
        self._made: dict[tuple[str, ...], bytes | None] = {}
        self._of: object = None
        self._bytes = 0

    def get_or_make(self, key: tuple[str, ...], make: Callable[[], bytes | None]) -> bytes | None:
        """Return the cached bytes of a key, or build them with ``make``.

        Other callers wait meanwhile, so that the same bytes are never built twice at a time.
        """
        with self._turn:
            version = self._version()
            if version != self._of or self._bytes > MAX_CACHED_BYTES:
                self._made, self._of, self._bytes = {}, version, 0
            if key not in self._made:
                self._made[key] = made = make()
                # Each entry is counted with about 1 kB more, because even an entry for an unknown
                # key without data uses memory.
                self._bytes += sum(map(len, key)) + len(made or b"") + _AT_ONCE // 64
            return self._made[key]


class LongResponse(Response):
    """A response that is sent in pieces from one buffer, which all clients share."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:  # noqa: ARG002
        """Send the response; a timeout closes the connection."""
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


class LongFileResponse(Response):
    """A response that is read from a file while it is sent.

    The whole file is always sent. A request for a part of an arrival list would show which messages
    the client is looking for.
    """

    def __init__(
        self, path: Path, length: int, media_type: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(
            headers={**(headers or {}), "Content-Length": str(length)}, media_type=media_type
        )
        self._path, self._length = path, length

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:  # noqa: ARG002
        """Send the response; a timeout closes the connection."""
        start = {"type": "http.response.start", "status": self.status_code}
        await send({**start, "headers": self.raw_headers})
        try:
            async with asyncio.timeout(_GRACE_SECONDS + self._length / _LEAST_RATE):
                for at in range(0, self._length or 1, _AT_ONCE):
                    more = at + _AT_ONCE < self._length
                    count = min(_AT_ONCE, self._length - at)
                    some = await asyncio.to_thread(_read_at, self._path, at, count)
                    await send({"type": "http.response.body", "body": some, "more_body": more})
        except (TimeoutError, FileNotFoundError):  # the file may be removed meanwhile
            return


def _read_at(path: Path, at: int, count: int) -> bytes:
    # Opened each time, so that a slow client does not keep a file open. An operator who exports a
    # round again replaces the file meanwhile.
    with path.open("rb") as file:
        file.seek(at)
        return file.read(count)
