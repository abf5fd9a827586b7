"""The intake of a mix, compared with the same route without storage, and commits with the disk.

The server is a process of its own, ``mixtally mix intake`` as in production. Seconds are CPU
seconds of this process unless stated otherwise. ``TMPDIR`` selects the disk.
"""

import asyncio
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from bench.load import many_files, memory_of, most_memory_of, post, send_requests
from bench.row import BenchmarkRow, build_row
from mixtally.device.wire.bundle import PartShape, write_bundle
from mixtally.server.mix.intake import Intake, WaitingBody
from mixtally.server.mix.intake_processes import IntakeOptions, serve_intake
from mixtally.server.mix.window import Window, announce

_ENVELOPE = 398
_WINDOW = Window(
    contract="5c" * 32,
    round=1,
    shapes=(PartShape(1, 0, _ENVELOPE),),
    most_bundles=1 << 40,
    admission="open",
    opens=0,
    closes=1 << 40,
)
_PATH = f"/contracts/{_WINDOW.contract}/rounds/1/bundles"
_CONNECTIONS, _IDLE, _MANY = 256, 2000, 1_000_000
_TRIES, _COMMITS = 5, 300
_COMMITTED = 0.7


class IntakeProcess(NamedTuple):
    """A running intake process."""

    pid: int
    port: int
    begun: float


def rows() -> list[tuple]:
    """Return the benchmark rows: name, measurement, ratio."""
    many_files()
    with tempfile.TemporaryDirectory() as place:
        folder = _folder(Path(place))
        return [*_rates(folder), *_commits(Path(place)), *_memory(folder)]


def _folder(place: Path) -> Path:
    """Return a folder with the files of ``mix init`` and of an open round that intake reads."""
    for name in ("jobs", "rounds"):
        (place / "mix" / name).mkdir(parents=True)
    (place / "mix" / "role.toml").touch()
    announce(place / "mix" / "rounds" / _WINDOW.round_id, _WINDOW)
    return place / "mix"


@contextmanager
def _running(folder: Path, number: int, *, storing: bool = True) -> Iterator[IntakeProcess]:
    begun = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.intake", str(folder), str(number), str(int(storing))],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    try:
        port = int(process.stdout.readline().rpartition(b":")[2])
        made = IntakeProcess(process.pid, port, begun)
        _wait_for(made)
        yield made
    finally:
        process.kill()
        process.communicate()


def _wait_for(running: IntakeProcess) -> float:
    """Return the seconds from the start of a process until it accepted a bundle."""
    request = post(_PATH, _bundle(1))
    while True:
        with socket.create_connection(("127.0.0.1", running.port)) as link:
            link.sendall(request)
            if link.recv(1000).startswith(b"HTTP/1.1 201"):
                return time.perf_counter() - running.begun
        time.sleep(0.01)


def _bundle(messages: int) -> bytes:
    return write_bundle([[b"\x5c" * _ENVELOPE] * messages])


def _rates(folder: Path) -> Iterator[BenchmarkRow]:
    for what, body, reports, count, least in (
        ("single reports of 400 bytes", _bundle(1), 1, 20_000, 0.5),
        ("bodies of 100 reports", _bundle(100), 100, 3_000, 0.25),
    ):
        request = post(_PATH, body)
        with _running(folder, 1) as stores, _running(folder, 2, storing=False) as forgets:
            ratios, rates, walls = [], [], []
            for _ in range(_TRIES):
                kept, bare = (
                    send_requests(one.pid, one.port, request, count, _CONNECTIONS)
                    for one in (stores, forgets)
                )
                ratios.append(bare.cpu / kept.cpu)
                rates.append(count / kept.cpu)
                walls.append(reports * count / kept.wall)
        yield build_row(
            f"intake: {what}, {_CONNECTIONS} connections",
            f"{statistics.median(rates):,.0f}/s, {statistics.median(walls):,.0f} reports/s by wall",
            "of not storing",
            statistics.median(ratios),
            least,
        )


def _commits(place: Path) -> Iterator[BenchmarkRow]:
    """Yield the rows of commits; many are timed together, because a few clean up after others."""
    for count in (100, 1000):
        bodies = [_bundle(1)] * count
        intake = Intake(place, print, number=count)
        intake.open("commits", 1 << 40, _ENVELOPE)
        loop = asyncio.new_event_loop()
        waiting = [WaitingBody("commits", one, loop, loop.create_future(), b"") for one in bodies]
        ours = partial(intake._commit, intake._open["commits"].database, waiting)
        log = os.open(place / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        spent = [[0.0, 0.0], [0.0, 0.0]]
        for _ in range(_COMMITS):
            _time(ours, spent[0])
            _time(partial(_append, log, bodies), spent[1])
        os.close(log)
        intake.end()
        loop.close()
        (wall, cpu), (bare, bare_cpu) = spent
        yield build_row(
            f"a commit of {count} bundles of 400 bytes",
            f"{1e3 * wall / _COMMITS:.2f} ms by wall, {1e3 * cpu / _COMMITS:.2f} ms",
            f"of append and sync by wall, {bare_cpu / cpu:.2f}",
            bare / wall,
            _COMMITTED,
        )


def _append(log: int, bodies: list[bytes]) -> None:
    os.write(log, b"".join(bodies))
    os.fdatasync(log)


def _time(work: Callable[[], object], spent: list[float]) -> None:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    spent[0] += time.perf_counter() - wall
    spent[1] += time.process_time() - cpu


def _memory(folder: Path) -> Iterator[tuple[str, str, str]]:
    request = post(_PATH, _bundle(1) * 100)
    with _running(folder, 3) as one:
        before = memory_of(one.pid)
        send_requests(one.pid, one.port, request, _MANY // 100, _CONNECTIONS)
        yield (
            "intake after 10^6 envelopes",
            f"{most_memory_of(one.pid):.0f} MB at most",
            (f"{before:.0f} MB before"),
        )
        os.kill(one.pid, signal.SIGKILL)
    with _running(folder, 3) as one:
        seconds = _wait_for(one)
        yield "begun again with them, until it takes", f"{seconds:.1f} s by wall", ""
        before = memory_of(one.pid)
        with ExitStack() as links:
            for _ in range(_IDLE):
                links.enter_context(socket.create_connection(("127.0.0.1", one.port)))
            time.sleep(1)  # The server must have accepted all connections.
            held = memory_of(one.pid)
        yield f"{_IDLE:,} idle connections", f"+{held - before:.0f} MB", ""


def _serve(folder: Path, number: int, storing: bool) -> None:
    if not storing:

        def forget(self: Intake, round_id: str, body: bytes, loop: Any, ticket: bytes = b"") -> Any:  # noqa: ARG001
            done = loop.create_future()
            done.set_result(None)
            return done

        Intake.put = forget  # type: ignore[method-assign]
    serve_intake(folder, IntakeOptions(number, "127.0.0.1", 0))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        _serve(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "1")
    else:
        for line in rows():
            print("  ".join(line))
