"""A serving process: its lock, its loop and its HTTP server, until a signal or an error ends it.

This module needs no key and imports nothing that can read one, because intake processes use it.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mixtally.errors import DataError
from mixtally.server.node import disk
from mixtally.server.node.events import Condition, Log
from mixtally.server.node.loop import Loop

if TYPE_CHECKING:
    from mixtally.server.node.web.responses import App

Stop = Callable[[BaseException], None]
"""Function that receives the error that must end the process."""
Wake = Callable[[], None]
"""Function that makes the loop run at once."""


class ServedRole(NamedTuple):
    """The work of a serving process."""

    tick: Callable[[int], None]
    """Performs all work that is due at a time."""
    end: Callable[[], None]
    """Closes all files."""
    application: "App"
    """Handles the HTTP requests."""


class ListenOptions(NamedTuple):
    """Where and with what a process serves."""

    host: str
    port: int
    clock: Callable[[], int]
    """Returns seconds since 1970 that have certainly passed."""
    ready: Callable[[str], None]
    """Called with the address once the socket listens."""
    folder: Path
    """Folder whose disk is watched for free space."""
    log: Log
    """Receives events for the operator."""


@contextmanager
def exclusive_service(path: Path, number: int = 0) -> Iterator[None]:
    """Hold the lock of a role's folder, or of its intake process ``number``, during a block.

    Raises DataError if another process holds the lock. The system releases the lock of a process
    that is killed.
    """
    # Imported here, because only systems on which roles are served have this module.
    import fcntl

    name = f"intake-{number}.lock" if number else "serving.lock"
    place = os.open(path / name, os.O_RDWR | os.O_CREAT, disk.PRIVATE_FILE)
    try:
        try:
            fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise _already_served_error(path, number) from error
        yield
    finally:
        os.close(place)


def run(options: ListenOptions, begin: Callable[[Stop, Wake], ServedRole]) -> None:
    """Serve what ``begin`` returns until a signal arrives; raises the error that ended the process.

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
    failed: list[BaseException] = []

    def stop(error: BaseException) -> None:
        failed.append(error)
        server.stop()

    def tick(now: int) -> None:
        options.log.set_condition(Condition.DISK, disk.free_bytes(options.folder) < disk.LOW_BYTES)
        served.tick(now)

    loop = Loop(tick, options.clock, stop)
    served = begin(stop, loop.wake)
    server = Server(served.application)
    loop.start()
    host, port = place.getsockname()[:2]
    try:
        with server_signals(server.stop):
            options.ready(f"http://{host}:{port}")
            server.run(place)
    finally:
        # The loop ends before the files are closed, because its work uses them.
        loop.end()
        served.end()
    if failed:
        raise failed[0]


def _already_served_error(path: Path, number: int) -> DataError:
    if not number:
        return DataError(
            str(path), expected="a role that is not served", got="one that is served", do="wait"
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
