"""A process that serves: alone, with its loop and its server, until a signal or a failure ends it.

It needs no key, and nothing here can read one.
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
"""Told what must end the process."""
Wake = Callable[[], None]
"""Has the loop look at once."""


class ServedRole(NamedTuple):
    """What is served.

    where
      tick   does all that is due at a time
      end    gives all files back
    """

    tick: Callable[[int], None]
    end: Callable[[], None]
    application: "App"


class ListenOptions(NamedTuple):
    """Where and when.

    where
      folder  whose disk is looked at
      log     tells the operator what happens
      clock   gives seconds since 1970 that have passed for sure
      ready   told the address once the socket listens
    """

    host: str
    port: int
    clock: Callable[[], int]
    ready: Callable[[str], None]
    folder: Path
    log: Log


@contextmanager
def exclusive_service(path: Path, number: int = 0) -> Iterator[None]:
    """Nobody else serves the role in a folder, or its intake of a ``number``, meanwhile.

    Raises DataError where somebody does.
    """
    import fcntl  # roles that serve run on systems that have it

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


def run(at: ListenOptions, begin: Callable[[Stop, Wake], ServedRole]) -> None:
    """Serve what ``begin`` gives until a signal ends it; raises what must end the process.

    Raises DataError where the libraries of the extra ``[serve]`` are missing, and where nothing can
    listen.
    """
    require_server_libraries()
    from mixtally.server.node.web.run import (  # needs the extra
        Server,
        open_listening_socket,
        server_signals,
    )

    place = open_listening_socket(at.host, at.port)
    failed: list[BaseException] = []

    def stop(error: BaseException) -> None:
        failed.append(error)
        server.stop()

    def tick(now: int) -> None:
        at.log.set_condition(Condition.DISK, disk.free_bytes(at.folder) < disk.LOW_BYTES)
        served.tick(now)

    loop = Loop(tick, at.clock, stop)
    served = begin(stop, loop.wake)
    server = Server(served.application)
    loop.start()
    host, port = place.getsockname()[:2]
    try:
        with server_signals(server.stop):
            at.ready(f"http://{host}:{port}")
            server.run(place)
    finally:
        loop.end()
        served.end()
    if failed:
        raise failed[0]


def _already_served_error(path: Path, number: int) -> DataError:
    if not number:
        return DataError(
            str(path), expected="a role that nobody serves", got="one that is served", do="wait"
        )
    return DataError(
        str(path),
        expected="a number that no process of intake has",
        got=f"{number}, which one has",
        do="give this one another: two would write one file",
    )


_LIBRARIES = ("starlette", "uvicorn", "httptools")


def require_server_libraries() -> None:
    """Raises DataError where the libraries of the extra ``[serve]`` are missing."""
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
