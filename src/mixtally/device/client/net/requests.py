"""One request: a bundle goes to the first hop, or a signed note is fetched from any role.

Nothing but the bundle tells who sends it: no cookies, no name of a program, no language; no
redirection is followed, no proxy is looked for in the environment. Of the answer to a bundle
nothing is read but its status and when to come again.
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
"""For each step of a request; all steps together have four times as long."""
T = TypeVar("T")
MEDIA_TYPE = "application/octet-stream"
_HERE = frozenset({"127.0.0.1", "localhost", "::1"})


class RoleAddress(NamedTuple):
    """Where a role is: ``path`` is what stands before the paths of the protocol."""

    secure: bool
    host: str
    port: int | None
    path: str


class PostResult(NamedTuple):
    """What came back; ``status`` is None where nothing did, ``why`` then says so."""

    status: int | None
    retry_after: str | None = None
    why: str = ""


def parse_address(address: str) -> RoleAddress:
    """The place an address names.

    Raises RefusedError for one with a user, a query or a fragment, and for http elsewhere than on
    this machine.
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
    """What a role serves at ``address``, to be believed for its signatures alone.

    Raises DataError where nothing, something too long or another status comes back.
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
        do="ask another role of the contract for it: all of them serve the same",
    )


def post(address: str, path: str, body: bytes, seconds: float = SECONDS) -> PostResult:
    """Send ``body`` to ``path`` below ``address``, once, and see what comes back."""
    to = parse_address(address)
    return _request_once(to, seconds, lambda link: _send_post(link, to.path + path, body))


def _request_once(
    to: RoleAddress, seconds: float, ask: Callable[[HTTPConnection], T]
) -> T | PostResult:
    """One request over a connection of its own; whatever breaks is an answer of no status."""
    link = _make_connection(to, seconds)
    try:
        link.connect()
        with_end = Timer(4 * seconds, _shut_down, (link.sock,))  # a server may answer byte by byte
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
    with suppress(BrokenPipeError, ConnectionResetError):  # it may have refused before the end
        link.endheaders(body)
    answer: HTTPResponse = link.getresponse()
    return PostResult(answer.status, answer.getheader("Retry-After"))


def _send_get(link: HTTPConnection, path: str) -> bytes | PostResult:
    link.putrequest("GET", path, skip_accept_encoding=True)
    link.endheaders()
    answer: HTTPResponse = link.getresponse()
    if answer.status != HTTPStatus.OK:
        return PostResult(answer.status)
    return answer.read(MOST_NOTE_BYTES + 1)


def _shut_down(place: socket.socket) -> None:
    with suppress(OSError):
        socket.socket.shutdown(place, socket.SHUT_RDWR)


def _address_error(address: str) -> RefusedError:
    return RefusedError(
        "address-malformed",
        "address of a role",
        expected="https://, a host and perhaps a port and a path; http:// on this machine alone",
        got=ascii(address)[:80],
        do="take no part: nothing can be sent there",
    )
