"""Requests to a server of its own process, over many connections that ask again when answered."""

import asyncio
import os
import resource
import time
from pathlib import Path
from typing import NamedTuple, cast

import uvloop

_TICK = os.sysconf("SC_CLK_TCK")


class RequestCost(NamedTuple):
    """What requests took: seconds by the clock, and of the server's processor."""

    wall: float
    cpu: float


class _Connection(asyncio.Protocol):
    """One connection; all of them share what is left to be asked."""

    def __init__(self, request: bytes, left: list[int], done: "asyncio.Future[None]") -> None:
        self._request, self._left, self._done = request, left, done

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._ask()

    def data_received(self, data: bytes) -> None:
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
    """Have ``count`` requests answered with 201 by the server ``pid``."""

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
    """A request as it travels."""
    return (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/octet-stream\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode() + body


def cpu_of(pid: int) -> float:
    """Processor seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICK


def memory_of(pid: int) -> float:
    """Megabytes that a process holds now."""
    return _status(pid, "VmRSS")


def most_memory_of(pid: int) -> float:
    """The most megabytes that it ever held."""
    return _status(pid, "VmHWM")


def _status(pid: int, name: str) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    (found,) = [line for line in lines if line.startswith(name)]
    return int(found.split()[1]) / 1024


def many_files() -> None:
    """As many connections as the system lets a process have."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
