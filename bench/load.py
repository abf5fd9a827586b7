"""A load generator: requests to a server process over many connections.

``bench.intake`` uses it. A connection sends its next request when the last one is answered.
"""

import asyncio
import os
import resource
import time
from pathlib import Path
from typing import NamedTuple, cast

import uvloop

_TICK = os.sysconf("SC_CLK_TCK")


class RequestCost(NamedTuple):
    """The seconds of requests: by the clock, and CPU seconds of the server."""

    wall: float
    cpu: float


class _Connection(asyncio.Protocol):
    """One connection; all connections share the number of remaining requests."""

    def __init__(self, request: bytes, left: list[int], done: "asyncio.Future[None]") -> None:
        self._request, self._left, self._done = request, left, done

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._ask()

    def data_received(self, data: bytes) -> None:
        # Any other status is an error of the benchmark, which must not be timed.
        if not data.startswith(b"HTTP/1.1 201") and not self._done.done():
            self._done.set_exception(RuntimeError(f"expected 201, got {data[:200]!r}"))
        self._left[1] -= 1
        if not self._left[1] and not self._done.done():
            self._done.set_result(None)
        self._ask()

    def _ask(self) -> None:
        if self._left[0]:
            self._left[0] -= 1
            self._transport.write(self._request)


def send_requests(pid: int, port: int, request: bytes, count: int, connections: int) -> RequestCost:
    """Send ``count`` requests, which the server ``pid`` must answer with 201."""

    async def all_of_them() -> None:
        loop = asyncio.get_running_loop()
        left, done = [count, count], loop.create_future()
        links = [
            await loop.create_connection(
                lambda: _Connection(request, left, done), "127.0.0.1", port
            )
            for _ in range(connections)
        ]
        await done
        for transport, _ in links:
            transport.close()

    before, start = cpu_of(pid), time.perf_counter()
    uvloop.run(all_of_them())
    return RequestCost(time.perf_counter() - start, cpu_of(pid) - before)


def post(path: str, body: bytes) -> bytes:
    """Return the bytes of a POST request."""
    return (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/octet-stream\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode() + body


def cpu_of(pid: int) -> float:
    """Return the CPU seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICK


def memory_of(pid: int) -> float:
    """Return the megabytes that a process uses now."""
    return _status(pid, "VmRSS")


def most_memory_of(pid: int) -> float:
    """Return the most megabytes that a process ever used."""
    return _status(pid, "VmHWM")


def _status(pid: int, name: str) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    (found,) = [line for line in lines if line.startswith(name)]
    return int(found.split()[1]) / 1024


def many_files() -> None:
    """Raise the limit of open files to the largest value that the system allows."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
