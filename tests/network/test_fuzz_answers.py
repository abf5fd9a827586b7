"""Whatever another role answers, to a role or to a device: an answer or silence, nothing else."""

import random
import socket
from http.client import HTTPConnection
from io import BytesIO

import pytest

from helpers.sampled import exhaustive
from mixtally.device.client.net import post
from mixtally.server.node.calls import SilentError, call
from wire.bending import bent

ANSWERS = [
    b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    b"HTTP/1.1 503 Busy\r\nRetry-After: 5\r\nContent-Length: 2\r\n\r\n{}",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n",
]


class Wire:
    """A socket on which an answer lies."""

    def __init__(self, said):
        self.said = said

    def sendall(self, data):
        pass

    def makefile(self, *_):
        return BytesIO(self.said)

    def close(self):
        pass

    def shutdown(self, *_):
        raise OSError


def answered(monkeypatch, seed, count):
    """Bent answers to a role and to a device."""
    chance = random.Random(seed)
    monkeypatch.setattr(socket.socket, "shutdown", lambda *_: None)
    for number in range(count):
        said = bent(chance, ANSWERS) if number % 5 else chance.choice(ANSWERS)
        monkeypatch.setattr(
            HTTPConnection, "connect", lambda self, said=said: setattr(self, "sock", Wire(said))
        )
        try:
            status = call("http://127.0.0.1:9", "GET", "/notes/x").status
            assert isinstance(status, int)
        except SilentError:
            pass
        except Exception as error:
            raise AssertionError(f"seed {seed}, answer {number}: {said[:200]!r}") from error
        answer = post("http://127.0.0.1:9", "/x", b"body")
        assert answer.status is None or 100 <= answer.status <= 999, (seed, said)


def test_any_answer_is_an_answer_or_silence(monkeypatch):
    answered(monkeypatch, 1, 300)


@pytest.mark.slow
@pytest.mark.parametrize("count", [5_000, *exhaustive([20_000])])
def test_any_answer_is_an_answer_or_silence_often(monkeypatch, count):
    """By a seed of its own each time where all cases are run, by a fixed one otherwise."""
    seed = 2 if count == 5_000 else random.SystemRandom().randrange(1 << 32)
    answered(monkeypatch, seed, count)
