"""HTTP that waits for a request only so long, and takes only so much of its head.

uvicorn lets go of whoever has been answered and asks nothing more, but not of whoever never asks,
sends half a head, or sends something now and then that is no head. And where there are too many
connections it answers nobody; here whoever has been waited for longest makes room for who comes.
"""

import asyncio
import resource
from itertools import chain
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_SECONDS = 10.0
"""For a head to come whole; a body has a time of its own."""
MOST_HEAD_BYTES = 1 << 14
MOST_HEADERS = 100
MOST_OPEN = 8192
"""Connections: with one more, that is let go from which a request is waited for longest."""
_OTHER_FILES = 256
"""Open at the same time, of what the system lets a process have."""


class TimeoutProtocol(HttpToolsProtocol):
    """A connection.

    where
      idle           connections of which a request, the rest of one, or that they take an answer
                     is waited for; the one that is longest comes first
      head_seconds   for a head to come whole, from the first byte of it or from the connection on
    """

    head_seconds = HEAD_SECONDS

    def __init__(self, idle: "dict[TimeoutProtocol, None]", *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._idle = idle
        self._waits: asyncio.TimerHandle | None = None
        self._head_bytes = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the first head."""
        super().connection_made(transport)  # type: ignore[arg-type]
        if len(self.connections) > _max_connections():
            next(iter(self._idle), self).drop_connection()
        self._idle[self] = None
        self._start_timer()

    def drop_connection(self) -> None:
        """Make room for somebody else."""
        self._idle.pop(self, None)
        self.connections.discard(self)
        self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._idle.pop(self, None)
        super().connection_lost(exc)
        self._stop_timer()

    def data_received(self, data: bytes) -> None:
        """Read on; wait where that is not the request that is to be answered next."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.more_body and not self.cycle.response_complete:
            self._idle.pop(self, None)  # it is to be answered
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
        """Refuse a head that would be held in too much memory."""
        held = len(self.url) + sum(map(len, chain.from_iterable(self.headers)))
        if len(self.headers) > MOST_HEADERS or held > MOST_HEAD_BYTES:
            raise ValueError("too long a head")  # the server answers 400 and lets go
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """Wait for the next one, as for one that has just come."""
        super().on_response_complete()
        self._mark_idle()

    def pause_writing(self) -> None:
        """Wait for it to take what is sent."""
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
            self._start_timer()  # it is owed an answer first


def _max_connections() -> int:
    """As many connections as the system lets this process have, but some."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_OPEN if files < 0 else min(MOST_OPEN, max(1, files - _OTHER_FILES))
