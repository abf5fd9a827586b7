"""Measurement of the CPU time that a bundle costs the first mix, over the loopback interface."""

import threading
import time
from contextlib import suppress
from http import HTTPStatus
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory

from mixtally.device.wire.bundle import PartShape, write_bundle
from mixtally.errors import DataError
from mixtally.primitives.chance import Chance
from mixtally.server.mix.intake import Intake
from mixtally.server.mix.web import MOST_BODIES_BYTES, BundleRoute, bundle_application
from mixtally.server.mix.window import Window
from mixtally.server.node.web.bodies import BodyBudget
from mixtally.server.node.web.run import Server, open_listening_socket
from mixtally.server.node.wrapping import secret_bytes

_SENDERS, _WARM, _POSTS = 8, 5, 40
"""Number of connections, of requests before the measurement, and of measured requests.

Several connections are used, so that several bundles share one sync as in production.
"""
_CONTRACT = "0" * 64
_PATH = f"/contracts/{_CONTRACT}/rounds/1/bundles"
_HOST, _TIMEOUT_SECONDS = "127.0.0.1", 60
"""Address of the loopback interface, and timeout of a request in seconds."""


def measure_posts(
    chance: Chance, envelope_bytes: int, bundle: int, place: Path | None = None
) -> float:
    """Measure the CPU time that a mix needs to receive, store and acknowledge one bundle.

    Parameters
    ----------
    chance : Chance
        Source of random envelopes.
    envelope_bytes : int
        Size of an envelope.
    bundle : int
        Number of envelopes in a bundle.
    place : Path, optional
        Folder on the disk to be measured.

    Returns
    -------
    float
        CPU time per bundle, in seconds.

    Raises
    ------
    DataError
        If a bundle is not accepted.
    """
    shape = PartShape(bundle, 0, envelope_bytes)
    window = Window(
        contract=_CONTRACT,
        round=1,
        shapes=(shape,),
        most_bundles=1 << 40,
        admission="open",
        opens=0,
        closes=1 << 40,
    )
    body = write_bundle([[secret_bytes(chance, envelope_bytes) for _ in range(bundle)]])
    failed: list[BaseException] = []
    with TemporaryDirectory(dir=place) as folder:
        intake = Intake(Path(folder), failed.append)
        intake.open(window.round_id, window.most_bundles, window.bundle_bytes)
        bundles = BundleRoute(intake, lambda *_: window, lambda: 1, BodyBudget(MOST_BODIES_BYTES))
        heard = open_listening_socket(_HOST, 0)
        end = Server(bundle_application(bundles, failed.append)).run_in_thread(heard)
        try:
            return _measure_requests(heard.getsockname()[1], body)
        finally:
            end()
            intake.end()


def _measure_requests(port: int, body: bytes) -> float:
    """Return the CPU time per request in seconds, without that of the threads that send."""
    every = threading.Barrier(_SENDERS + 1)
    own, taken = [0.0] * _SENDERS, [0] * _SENDERS

    def send(place: int) -> None:
        link = HTTPConnection(_HOST, port, timeout=_TIMEOUT_SECONDS)
        # The caller detects failed requests by their number.
        with suppress(OSError):
            _send_requests(link, body, _WARM)
        every.wait()
        every.wait()
        begun = time.thread_time()
        with suppress(OSError):
            taken[place] = _send_requests(link, body, _POSTS)
        own[place] = time.thread_time() - begun
        link.close()

    senders = [threading.Thread(target=send, args=(place,)) for place in range(_SENDERS)]
    for one in senders:
        one.start()
    every.wait()
    begun = time.process_time()
    every.wait()
    for one in senders:
        one.join()
    spent = time.process_time() - begun - sum(own)
    if sum(taken) < _SENDERS * _POSTS:
        raise DataError(
            "intake",
            expected=f"{_SENDERS * _POSTS} bundles taken",
            got=f"{sum(taken)}",
            do="check the disk, and whether the loopback interface can be used",
        )
    return spent / sum(taken)


def _send_requests(link: HTTPConnection, body: bytes, count: int) -> int:
    """Send ``count`` requests, and return how many were acknowledged."""
    done = 0
    for _ in range(count):
        link.request("POST", _PATH, body)
        answer = link.getresponse()
        answer.read()
        done += answer.status == HTTPStatus.CREATED
    return done
