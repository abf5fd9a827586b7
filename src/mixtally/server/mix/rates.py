"""What a bundle costs the first mix while a round is open: measured over the loopback."""

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
"""Connections at once, so that bundles wait for one sync together; requests before, and counted."""
_CONTRACT = "0" * 64
_PATH = f"/contracts/{_CONTRACT}/rounds/1/bundles"
_HOST, _TIMEOUT_SECONDS = "127.0.0.1", 60


def measure_posts(
    chance: Chance, envelope_bytes: int, bundle: int, place: Path | None = None
) -> float:
    """CPU seconds that a role spends on a bundle of so many envelopes, until it is acknowledged.

    ``place`` is a folder on the disk that keeps them. Raises DataError where one is not taken.
    """
    shape = PartShape(bundle, 0, envelope_bytes)
    window = Window(contract=_CONTRACT, round=1, shapes=(shape,), opens=0, closes=1 << 40)
    body = write_bundle([[secret_bytes(chance, envelope_bytes) for _ in range(bundle)]])
    failed: list[BaseException] = []
    with TemporaryDirectory(dir=place) as folder:
        intake = Intake(Path(folder), failed.append)
        intake.open(window.round_id)
        bundles = BundleRoute(intake, lambda *_: window, lambda: 1, BodyBudget(MOST_BODIES_BYTES))
        heard = open_listening_socket(_HOST, 0)
        end = Server(bundle_application(bundles, failed.append)).run_in_thread(heard)
        try:
            return _measure_requests(heard.getsockname()[1], body)
        finally:
            end()
            intake.end()


def _measure_requests(port: int, body: bytes) -> float:
    """CPU seconds of this process for each request but for those of whoever sends."""
    every = threading.Barrier(_SENDERS + 1)
    own, taken = [0.0] * _SENDERS, [0] * _SENDERS

    def send(place: int) -> None:
        link = HTTPConnection(_HOST, port, timeout=_TIMEOUT_SECONDS)
        with suppress(OSError):  # what is not taken is counted
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
            do="look at the disk and whether the loopback can be used",
        )
    return spent / sum(taken)


def _send_requests(link: HTTPConnection, body: bytes, many: int) -> int:
    """How many of so many requests were acknowledged."""
    done = 0
    for _ in range(many):
        link.request("POST", _PATH, body)
        answer = link.getresponse()
        answer.read()
        done += answer.status == HTTPStatus.CREATED
    return done
