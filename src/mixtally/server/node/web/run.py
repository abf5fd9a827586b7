"""HTTP server of a role: uvicorn on one socket.

The access log is off, because it would contain the addresses of people.
"""

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
from mixtally.server.node.web.timeouts import MOST_OPEN, TimeoutProtocol

_IDLE_SECONDS = 20
"""Seconds after which a connection that is idle after a response is closed."""
_BACKLOG = 4096


def open_listening_socket(host: str, port: int) -> socket.socket:
    """Return a listening socket, on any free port if ``port`` is 0.

    Raises DataError if the address is not available.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    place = socket.socket(family, socket.SOCK_STREAM)
    try:
        place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        place.bind((host, port))
        place.listen(_BACKLOG)
    except (OSError, OverflowError) as error:
        place.close()
        raise DataError(
            f"{host}:{port}", expected="a free address", got=error, do="choose another port"
        ) from error
    return place


@contextmanager
def server_signals(stop: Callable[[], None]) -> Iterator[None]:
    """Raise the limit of open files during a block, and let SIGTERM call ``stop``.

    The handler covers a signal that arrives before uvicorn installs its own. It also covers the
    signal that uvicorn raises again after it has stopped.
    """
    # Imported here, because only systems on which roles are served have this module.
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    usual = signal.signal(signal.SIGTERM, lambda *_: stop())
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, usual)


_FOR_PAGES = [
    ("access-control-allow-origin", "*"),
    ("access-control-expose-headers", "retry-after"),
    # A web page sends a one-time code in this header. The browser first asks whether it may.
    ("access-control-allow-headers", "authorization"),
]
"""Headers that allow web pages of any site to fetch notes and send bundles.

All responses are public and do not depend on cookies, so a page can read no more than anybody.
"""


class Server:
    """An HTTP server for an application, which runs until ``stop`` is called or on a signal."""

    def __init__(self, app: App, *, for_pages: bool = False) -> None:
        """``for_pages`` lets pages of any site read the responses."""
        config = uvicorn.Config(
            app,
            headers=_FOR_PAGES if for_pages else [],
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
        """Serve on a listening socket until the server is stopped."""
        self._server.run(sockets=[place])

    def run_in_thread(self, place: socket.socket) -> Callable[[], None]:
        """Serve in another thread, without signal handlers.

        Returns a function that stops the server and waits for the thread.
        """
        runner = threading.Thread(
            target=lambda: asyncio.run(self._server._serve(sockets=[place])), daemon=True
        )
        runner.start()

        def stop_and_join() -> None:
            self.stop()
            runner.join()

        return stop_and_join

    def connections_share(self) -> float:
        """Return the number of open connections as a share of the limit."""
        return len(self._server.server_state.connections) / MOST_OPEN

    def stop(self) -> None:
        """Stop the server after the current responses."""
        self._server.should_exit = True
