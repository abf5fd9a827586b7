"""A role's server: uvicorn on one socket, without an access log, which would print addresses."""

import asyncio
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import cast

import uvicorn

from mixtally.errors import DataError
from mixtally.server.node.web.responses import App
from mixtally.server.node.web.timeouts import TimeoutProtocol

_IDLE_SECONDS = 20
_BACKLOG = 4096


def open_listening_socket(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 is any free one. Raises DataError where there is none."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    place = socket.socket(family, socket.SOCK_STREAM)
    try:
        place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        place.bind((host, port))
        place.listen(_BACKLOG)
    except OSError as error:
        place.close()
        raise DataError(
            f"{host}:{port}", expected="to listen there", got=str(error), do="choose another port"
        ) from error
    return place


@contextmanager
def server_signals(stop: Callable[[], None]) -> Iterator[None]:
    """As many connections as the system lets a process have; a signal ends it in order.

    One that comes before the server looks for it calls ``stop``; so does the one that the server
    raises again after it has stopped.
    """
    import resource  # where roles serve it is there

    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    usual = signal.signal(signal.SIGTERM, lambda *_: stop())
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, usual)


class Server:
    """Serves an application until ``stop`` is called, or a signal ends the process."""

    def __init__(self, app: App) -> None:
        config = uvicorn.Config(
            app,
            http=cast("type[TimeoutProtocol]", partial(TimeoutProtocol, {})),
            access_log=False,
            log_config=None,
            log_level="critical",
            lifespan="off",
            ws="none",
            proxy_headers=False,
            server_header=False,
            date_header=False,
            backlog=_BACKLOG,
            timeout_keep_alive=_IDLE_SECONDS,
            timeout_graceful_shutdown=5,
        )
        self._server = uvicorn.Server(config)

    def run(self, place: socket.socket) -> None:
        """Serve on a socket that listens; returns when it has stopped."""
        self._server.run(sockets=[place])

    def run_in_thread(self, place: socket.socket) -> Callable[[], None]:
        """Serve beside the caller, without signals; what is returned stops it and waits."""
        runner = threading.Thread(
            target=lambda: asyncio.run(self._server._serve(sockets=[place])), daemon=True
        )
        runner.start()

        def stop_and_join() -> None:
            self.stop()
            runner.join()

        return stop_and_join

    def stop(self) -> None:
        """End soon; what is being answered is answered."""
        self._server.should_exit = True
