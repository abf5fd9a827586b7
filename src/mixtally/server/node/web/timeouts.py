"""HTTP connections with limits on the waiting time and on the size of request headers.

uvicorn closes connections that are idle after a response. It does not close connections that never
send a request, send an incomplete header, or send bytes slowly. At its connection limit uvicorn
refuses everybody. This protocol closes the connection that has been idle longest instead.
"""

import asyncio
import resource
from itertools import chain
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_SECONDS = 10.0
"""Seconds within which the header of a request must be complete; bodies have their own limit."""
MOST_HEAD_BYTES = 1 << 14
MOST_HEADERS = 100
MOST_TRAILER_BYTES = 1 << 12
"""The maximum number of consecutive bytes after a header that are not content, such as trailers or
chunk headers."""
MOST_PIPELINED = 8
"""Maximum number of requests of a connection that wait for the response to an earlier one.

Without the limit, a packet could contain 14,000 requests, each of which needs 1 kB of memory.
Clients of a role send one request at a time.
"""
MOST_OPEN = 8192
"""The maximum number of connections. A further one closes the connection that was idle longest."""
_OTHER_FILES = 256
"""The number of file handles that are reserved for uses other than connections."""


class TimeoutProtocol(HttpToolsProtocol):
    """A connection with a header timeout.

    ``idle`` has the connections that wait for a request, or for the client to read a response; the
    longest wait is first. A header must be complete within ``head_seconds`` after its first byte
    or, for the first header, after the connection was made.
    """

    head_seconds = HEAD_SECONDS

    def __init__(self, idle: "dict[TimeoutProtocol, None]", *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._idle = idle
        self._waits: asyncio.TimerHandle | None = None
        self._head_bytes = 0
        self._framing_bytes, self._has_content = 0, False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the timer for the first header."""
        super().connection_made(_OpenTransport(transport))  # type: ignore[arg-type]
        if len(self.connections) > _max_connections():
            next(iter(self._idle), self).drop_connection()
        self._idle[self] = None
        self._start_timer()

    def drop_connection(self) -> None:
        """Close this connection in favor of another one."""
        self._idle.pop(self, None)
        self.connections.discard(self)
        self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._idle.pop(self, None)
        super().connection_lost(exc)
        self._stop_timer()

    def data_received(self, data: bytes) -> None:
        """Parse the data, and start the timer unless a complete request waits for its response."""
        self._has_content = False
        super().data_received(data)
        if self.cycle is not None and self.cycle.more_body:
            # The parser keeps trailers in memory, and their number has no limit of its own.
            self._framing_bytes = 0 if self._has_content else self._framing_bytes + len(data)
            if self._framing_bytes > MOST_TRAILER_BYTES:
                self.transport.abort()
                return
        if self.cycle is not None and not self.cycle.more_body and not self.cycle.response_complete:
            # A complete request is to be answered, so the connection is not idle.
            self._idle.pop(self, None)
        heads = self.cycle is None or self.cycle.scope is not self.scope
        if not heads and not self.cycle.response_complete:
            self._head_bytes = 0
            self._stop_timer()
            return
        if self.transport.is_closing():
            return
        if heads:
            self._head_bytes += len(data)
        if self._head_bytes > MOST_HEAD_BYTES:
            self.transport.abort()
        elif self._waits is None:
            self._start_timer()

    def on_headers_complete(self) -> None:
        """Refuse a header that uses too much memory."""
        size = len(self.url) + sum(map(len, chain.from_iterable(self.headers)))
        if len(self.headers) > MOST_HEADERS or size > MOST_HEAD_BYTES:
            # The server answers 400 and closes the connection.
            raise ValueError("too long a head")
        if len(self.pipeline) >= MOST_PIPELINED:
            raise ValueError("too many requests at once")
        self._framing_bytes, self._has_content = 0, True
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Record that the received data contained a part of a body."""
        self._has_content = True
        super().on_body(body)

    def on_response_complete(self) -> None:
        """Wait for the next request, as after a new connection."""
        if self.cycle.response_complete:
            # Nobody reads the rest of a body after an early response.
            self.cycle.body = bytearray()
        super().on_response_complete()
        self._mark_idle()

    def pause_writing(self) -> None:
        """Count the connection as idle while the client does not read."""
        super().pause_writing()
        self._mark_idle()

    def _mark_idle(self) -> None:
        self._idle.pop(self, None)
        if self in self.connections:
            self._idle[self] = None

    def _start_timer(self) -> None:
        self._waits = self.loop.call_later(self.head_seconds, self._close_idle)

    def _stop_timer(self) -> None:
        if self._waits is not None:
            self._waits.cancel()
            self._waits = None

    def _close_idle(self) -> None:
        if self.cycle is None or self.cycle.response_complete:
            self.transport.abort()
        else:
            self._start_timer()  # the request is answered before the connection is closed


class _OpenTransport:
    """A transport that ignores writes after the client has reset the connection.

    Between the reset and the call of ``connection_lost``, uvloop raises RuntimeError for each
    write, and asyncio prints a line for each. Both would look like errors of this program.
    """

    def __init__(self, transport: Any) -> None:
        self._transport = transport

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Send data unless the connection is closed."""
        if not self._transport.is_closing():
            self._transport.write(data)


def _max_connections() -> int:
    """Return the maximum number of connections that the system allows this process."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_OPEN if files < 0 else min(MOST_OPEN, max(1, files - _OTHER_FILES))
