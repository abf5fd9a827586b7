"""HTTP requests of a device: sending a bundle to the first hop, and fetching a signed note.

A request must contain nothing that identifies its sender, except the encrypted bundle. So there are
no cookies and no headers with the name of a program or a language. Redirections are not followed
and proxies of the environment are not used. Of the answer to a bundle, only the status and the
header Retry-After are read.
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
from mixtally.device.wire.codes import SCHEME
from mixtally.errors import DataError, RefusedError

SECONDS = 30.0
"""Timeout of each step of a request. The limit for all steps together is four times as long."""
T = TypeVar("T")
MEDIA_TYPE = "application/octet-stream"
_HERE = frozenset({"127.0.0.1", "localhost", "::1"})


class RoleAddress(NamedTuple):
    """The address of a role, in parts.

    ``secure`` is whether it is https. ``path`` is the prefix of all paths of the protocol.
    """

    secure: bool
    host: str
    port: int | None
    path: str


class PostResult(NamedTuple):
    """The answer to a request: its HTTP status and its header Retry-After.

    Without an answer, ``status`` is None and ``why`` is the reason.
    """

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


def fetch(address: str, most: int | None = None, seconds: float = SECONDS) -> bytes:
    """Fetch what a role serves at ``address``.

    The caller must trust only the signatures in the answer, because the answer is not verified.

    Parameters
    ----------
    address : str
        The URL: https, or http on this machine.
    most : int, optional
        The maximum length of the answer in bytes; by default ``MOST_NOTE_BYTES``.
    seconds : float
        The timeout of each step; all steps take at most four times as long.

    Returns
    -------
    bytes
        The body, which is not verified.

    Raises
    ------
    DataError
        If there is no answer, another status than 200, or too long a body.
    RefusedError
        If the address is malformed.
    """
    most = MOST_NOTE_BYTES if most is None else most
    found = get(address, parse_address(address).path, most, seconds)
    if isinstance(found, bytes) and len(found) <= most:
        return found
    got = found.why or f"status {found.status}" if isinstance(found, PostResult) else "more bytes"
    raise DataError(
        ascii(address)[:200],
        expected=f"an answer of at most {most:,} bytes",
        got=got,
        do="ask another role of the contract, which serves the same notes; round numbers continue "
        "over all serials of a contract",
    )


def get(address: str, path: str, most: int, seconds: float = SECONDS) -> bytes | PostResult:
    """Return the bytes that the host of ``address`` serves at ``path``.

    If the status is not 200 or there is no answer, return the result of the request instead.

    At most ``most + 1`` bytes are returned. If there are more than ``most``, the content is too
    long.
    """
    return _request_once(parse_address(address), seconds, lambda link: _send_get(link, path, most))


def post(
    address: str, path: str, body: bytes, seconds: float = SECONDS, *, code: str | None = None
) -> PostResult:
    """Send ``body`` to ``path`` below ``address`` in one request.

    ``code`` is the one-time code for the request, or None without one.
    """
    to = parse_address(address)
    return _request_once(to, seconds, lambda link: _send_post(link, to.path + path, body, code))


def _request_once(
    to: RoleAddress, seconds: float, ask: Callable[[HTTPConnection], T]
) -> T | PostResult:
    """Make one request on a new connection. After a failure, return a result without a status."""
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


def _send_post(link: HTTPConnection, path: str, body: bytes, code: str | None) -> PostResult:
    link.putrequest("POST", path, skip_accept_encoding=True)
    link.putheader("Content-Type", MEDIA_TYPE)
    link.putheader("Content-Length", str(len(body)))
    if code is not None:
        link.putheader("Authorization", f"{SCHEME} {code}")
    # The server may refuse before it has read everything; its answer can still be read.
    with suppress(BrokenPipeError, ConnectionResetError):
        link.endheaders(body)
    answer: HTTPResponse = link.getresponse()
    return PostResult(answer.status, answer.getheader("Retry-After"))


def _send_get(link: HTTPConnection, path: str, most: int) -> bytes | PostResult:
    link.putrequest("GET", path, skip_accept_encoding=True)
    link.endheaders()
    answer: HTTPResponse = link.getresponse()
    if answer.status != HTTPStatus.OK:
        return PostResult(answer.status)
    return answer.read(most + 1)  # one more byte shows that the answer is too long


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
