"""A serving process: its lock, its loop and its HTTP server, until a signal or an error ends it.

This module needs no key and imports nothing that can read one, because intake processes use it.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, NamedTuple

from mixtally.errors import DataError
from mixtally.server.node import disk
from mixtally.server.node.events import Condition, Log
from mixtally.server.node.loop import Loop

if TYPE_CHECKING:
    from mixtally.server.node.web.responses import App

_LOCK_SECONDS = 0.1
"""Seconds for which a process tries to get its lock. A mix that tests whether the process runs has
this lock for microseconds."""
Stop = Callable[[BaseException], None]
"""Function that receives the error that must end the process."""
Wake = Callable[[], None]
"""Function that makes the loop run at once."""
METRICS_HOST = "127.0.0.1"
"""Metrics are served to this machine only.

They have a port of their own, because the sender's address does not show who may read them. A proxy
on this machine forwards the requests of strangers to the port of the role, also from the loopback
address.
"""
BUSY_SECONDS = 60
"""If no pass of the loop has ended for this number of seconds, the role reports that it is busy.

The reason may be a collector that counts a large batch, or a loop that hangs.
"""


class ServedRole(NamedTuple):
    """The work of a serving process."""

    tick: Callable[[int], None]
    """Performs all work that is due at a time."""
    end: Callable[[], None]
    """Closes all files."""
    application: "App"
    """Handles the HTTP requests."""
    metrics: "Callable[[Callable[[], Vitals], Stop], App] | None" = None
    """Returns the ASGI application for the port of metrics. Its first argument is a function that
    returns the ``Vitals`` of the process."""


class Vitals(NamedTuple):
    """Numbers that only the serving process knows."""

    loop_seconds: float
    """Seconds since the last pass of the loop ended."""
    connections_share: float
    """Number of open connections, as a share of the limit."""


class ListenOptions(NamedTuple):
    """The options of a serving process."""

    host: str
    port: int
    clock: Callable[[], int]
    """Returns a time that has certainly passed, in seconds since 1970 (``Clock.certain_time``)."""
    ready: Callable[[str], None]
    """Called with the address once the socket listens."""
    folder: Path
    """Folder whose disk is watched for free space."""
    log: Log
    """Receives events for the operator."""
    metrics_port: int | None = None
    """Port on this machine for metrics; None for no metrics, 0 for any port."""


@contextmanager
def exclusive_service(path: Path, number: int = 0) -> Iterator[int]:
    """Hold the lock of a role's folder, or of its intake process ``number``, during a block.

    The block receives the descriptor of the locked file. Raises DataError if another process holds
    the lock. The system releases the lock of a process that is killed.
    """
    # Imported here, because only systems on which roles are served have this module.
    import fcntl

    place = os.open(lock_path(path, number), os.O_RDWR | os.O_CREAT, disk.PRIVATE_FILE)
    try:
        until = monotonic() + _LOCK_SECONDS
        while True:
            try:
                fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as error:
                if monotonic() >= until:
                    raise _already_served_error(path, number) from error
            sleep(_LOCK_SECONDS / 10)
        yield place
    finally:
        os.close(place)


def lock_path(folder: Path, number: int = 0) -> Path:
    """Return the path of the file that intake process ``number`` locks; 0 is the role itself."""
    return folder / (f"intake-{number}.lock" if number else "serving.lock")


def is_locked(path: Path) -> bool:
    """Return whether a process has the exclusive lock of a file."""
    # Imported here, because only systems on which roles are served have this module.
    import fcntl

    with suppress(FileNotFoundError), path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def run(options: ListenOptions, begin: Callable[[Stop, Wake], ServedRole]) -> None:
    """Serve the role that ``begin`` returns until a signal or an error ends it.

    An error that ends the process is raised.

    Raises DataError if the libraries of the extra ``[serve]`` are missing, or the address is in
    use.
    """
    require_server_libraries()
    from mixtally.server.node.web.run import (  # needs the extra
        Server,
        open_listening_socket,
        server_signals,
    )

    place = open_listening_socket(options.host, options.port)
    measured = None
    if options.metrics_port is not None:
        try:
            measured = open_listening_socket(METRICS_HOST, options.metrics_port)
        except DataError:
            place.close()
            raise
    failed: list[BaseException] = []

    def stop(error: BaseException) -> None:
        failed.append(error)
        server.stop()

    def tick(now: int) -> None:
        options.log.set_condition(Condition.DISK, disk.free_bytes(options.folder) < disk.LOW_BYTES)
        served.tick(now)

    def watch(seconds: float) -> None:
        options.log.set_condition(Condition.LOOP, seconds > BUSY_SECONDS, seconds=int(seconds))

    loop = Loop(tick, options.clock, stop, watch)
    served = begin(stop, loop.wake)
    server = Server(served.application, for_pages=True)
    loop.start()
    end_metrics = None
    if measured is not None and served.metrics is not None:
        app = served.metrics(lambda: Vitals(loop.age(), server.connections_share()), stop)
        end_metrics = Server(app).run_in_thread(measured)
        options.log.tell(
            "metrics served", at="http://{}:{}/metrics".format(*measured.getsockname())
        )
    host, port = place.getsockname()[:2]
    try:
        with server_signals(server.stop):
            options.ready(f"http://{host}:{port}")
            server.run(place)
    finally:
        if end_metrics is not None:
            end_metrics()
        # The loop ends before the files are closed, because its work uses them.
        loop.end()
        served.end()
    if failed:
        raise failed[0]


def _already_served_error(path: Path, number: int) -> DataError:
    if not number:
        return DataError(
            str(path), expected="a role that is not served", got="one that is served", do="stop it"
        )
    return DataError(
        str(path),
        expected="a number that no other intake process uses",
        got=f"{number}, which is in use",
        do="choose another number: two processes would write to one file",
    )


_LIBRARIES = ("starlette", "uvicorn", "httptools")


def require_server_libraries() -> None:
    """Raise DataError if the libraries of the extra ``[serve]`` are missing."""
    for name in _LIBRARIES:
        try:
            import_module(name)
        except ImportError as error:
            raise DataError(
                "serving",
                expected=f"the library {name}",
                got="none",
                do="pip install 'mixtally[serve]'",
            ) from error
