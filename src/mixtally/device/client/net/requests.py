"""HTTP requests of a device: sending a bundle to the first hop, and fetching a signed note.

Only the bundle may identify its sender. So there are no cookies and no headers with the name of a
program or a language. Redirections are not followed and proxies of the environment are not used. Of
the answer to a bundle, only the status and Retry-After are read.
"""

import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from threading import Timer
from typing import NamedTuple, TypeVar
from urllib.parse import urlsplit

from mixtally.device.contract.fields import MOST_NOTE_BYTES
from mixtally.errors import DataError, RefusedError

SECONDS = 30.0
"""Timeout of each step of a request. The limit for all steps together is four times as long."""
T = TypeVar("T")
MEDIA_TYPE = "application/octet-stream"
_HERE = frozenset({"127.0.0.1", "localhost", "::1"})


class RoleAddress(NamedTuple):
    """The address of a role; ``path`` is the prefix of all paths of the protocol."""

    secure: bool
    host: str
    port: int | None
    path: str


class PostResult(NamedTuple):
    """The answer to a request. If there was none, ``status`` is None and ``why`` is the reason."""

    status: int | None
    retry_after: str | None = None
    why: str = ""


def parse_address(address: str) -> RoleAddress:
    """Parse the address of a role.

    Raise RefusedError for an address with a user, a query or a fragment, and for http to another
    machine.
    """
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise _address_error(address) from None
    right = parts.scheme == "https" or (parts.scheme == "http" and host in _HERE)
    if not right or not host or port == 0 or set("@?#\\") & set(address):
        raise _address_error(address)
    return RoleAddress(parts.scheme == "https", host, port, parts.path.rstrip("/"))


def fetch(address: str, seconds: float = SECONDS) -> bytes:
    """Return what a role serves at ``address``. It must be trusted only for its signatures.

    Raise DataError if there is no answer, another status than 200, or too long a body.
    """
    to = parse_address(address)
    found = _request_once(to, seconds, lambda link: _send_get(link, to.path))
    if isinstance(found, bytes) and len(found) <= MOST_NOTE_BYTES:
        return found
    got = found.why or f"status {found.status}" if isinstance(found, PostResult) else "more bytes"
    raise DataError(
        ascii(address)[:200],
        expected=f"a note of at most {MOST_NOTE_BYTES:,} bytes",
        got=got,
        do="fetch it from another role of the contract: all roles serve the same notes",
    )


def post(address: str, path: str, body: bytes, seconds: float = SECONDS) -> PostResult:
    """Send ``body`` to ``path`` below ``address`` once, and return the answer."""
    to = parse_address(address)
    return _request_once(to, seconds, lambda link: _send_post(link, to.path + path, body))


def _request_once(
    to: RoleAddress, seconds: float, ask: Callable[[HTTPConnection], T]
) -> T | PostResult:
    """Make one request on a new connection. Any failure is an answer without status."""
    link = _make_connection(to, seconds)
    try:
        link.connect()
        # The timeout of a socket starts again with each byte, so a slow server could hold the
        # connection forever. The timer ends it.
        with_end = Timer(4 * seconds, _shut_down, (link.sock,))
        with_end.daemon = True
        with_end.start()
        try:
            return ask(link)
        finally:
            with_end.cancel()
    except (OSError, HTTPException) as error:
        return PostResult(None, why=type(error).__name__)
    finally:
        link.close()


def _make_connection(to: RoleAddress, seconds: float) -> HTTPConnection:
    if to.secure:
        context = ssl.create_default_context()
        return HTTPSConnection(to.host, to.port, timeout=seconds, context=context)
    return HTTPConnection(to.host, to.port, timeout=seconds)


def _send_post(link: HTTPConnection, path: str, body: bytes) -> PostResult:
    link.putrequest("POST", path, skip_accept_encoding=True)
    link.putheader("Content-Type", MEDIA_TYPE)
    link.putheader("Content-Length", str(len(body)))
    # The server may refuse before it has read everything; its answer can still be read.
    with suppress(BrokenPipeError, ConnectionResetError):
        link.endheaders(body)
    answer: HTTPResponse = link.getresponse()
    return PostResult(answer.status, answer.getheader("Retry-After"))


def _send_get(link: HTTPConnection, path: str) -> bytes | PostResult:
    link.putrequest("GET", path, skip_accept_encoding=True)
    link.endheaders()
    answer: HTTPResponse = link.getresponse()
    if answer.status != HTTPStatus.OK:
        return PostResult(answer.status)
    return answer.read(MOST_NOTE_BYTES + 1)  # one more byte shows that the note is too long


def _shut_down(place: socket.socket) -> None:
    with suppress(OSError):
        socket.socket.shutdown(place, socket.SHUT_RDWR)


def _address_error(address: str) -> RefusedError:
    return RefusedError(
        "address-malformed",
        "address of a role",
        expected="https://, a host and perhaps a port and a path; http:// on this machine only",
        got=ascii(address)[:80],
        do="do not take part: nothing can be sent to this address",
    )
