"""The work that many processes share: open envelopes; at a mix, order what is inside, seal fakes.

Suites do not pickle, so every process makes its own; the secrets reach it through a pipe. A process
whose parent has died ends: it holds a key.
"""

import hmac
import os
import signal
import threading
from collections.abc import Callable
from hashlib import sha256
from multiprocessing import parent_process
from multiprocessing.process import BaseProcess
from typing import NamedTuple, TypeVar

from mixtally.device.wire.envelope import KeyDomain, Opener, Sealer
from mixtally.device.wire.suite import SUITES

T = TypeVar("T")


class Secrets(NamedTuple):
    """What a round needs to be opened, and its keys; nothing of it is shown when it is printed.

    where
      private     of this role's round
      sheet       SHA-256 of the sheet
      place       of this role, from 1; the collector's is hops + 1
      order       the secret by which a mix orders what leaves; nothing at the collector
      following   key configurations of the hops behind a mix and of the collector
    """

    suite: int
    private: bytes
    sheet: bytes
    place: int
    order: bytes = b""
    following: tuple[bytes, ...] = ()

    def __repr__(self) -> str:
        return f"Secrets(place={self.place})"


class OpenedEnvelopes(NamedTuple):
    """What was in some envelopes.

    where
      messages    one after the other
      order       by what they are ordered, 32 bytes each; nothing without a secret for it
      unopened    that are not sealed for this round, hop and part
      malformed   of another length than all
      bad         SHA-256 of each envelope that was one of these, one after the other
      padding     SHA-256 of each envelope that was padding, one after the other
    """

    messages: bytes
    order: bytes
    unopened: int = 0
    malformed: int = 0
    bad: bytes = b""
    padding: bytes = b""


class EnvelopeWorker:
    """Opens and seals in this process."""

    def __init__(self, secrets: Secrets) -> None:
        suite = SUITES[secrets.suite]
        self._opener = Opener(suite, secrets.private, secrets.sheet, secrets.place)
        self._sealer = Sealer(suite, secrets.following, secrets.sheet, first=secrets.place + 1)
        self._secret = secrets.order
        self._drops_padding = secrets.place == 1

    def open(self, part: int, envelopes: bytes, size: int, expected: int) -> OpenedEnvelopes:
        """Open envelopes of ``size`` bytes, of which messages of ``expected`` bytes are to come."""
        sealed = [envelopes[i : i + size] for i in range(0, len(envelopes), size)]
        inside = self.open_each(part, sealed)
        good, bad, padding = list[bytes](), bytearray(), bytearray()
        unopened = malformed = 0
        for envelope, one in zip(sealed, inside, strict=True):
            if one is not None and self.is_padding(one, expected):
                padding += sha256(envelope).digest()
            elif one is not None and len(one) == expected:
                good.append(one)
            else:
                unopened += one is None
                malformed += one is not None
                bad += sha256(envelope).digest()
        order = b"".join(self.ordering_keys(part, good))
        return OpenedEnvelopes(
            b"".join(good), order, unopened, malformed, bytes(bad), bytes(padding)
        )

    def is_padding(self, inside: bytes, expected: int) -> bool:
        """Return whether this is the first hop and an envelope held zeros in place of the next one.

        Later hops get what the first one passed on: people's padding never reaches them.
        """
        return self._drops_padding and len(inside) == expected and not any(inside)

    def open_each(self, part: int, envelopes: list[bytes]) -> list[bytes | None]:
        """What each holds; None for what does not open."""
        opened = self._opener.open
        return [opened(one, part) for one in envelopes]

    def seal(self, part: int, messages: bytes, size: int) -> bytes:
        """The envelopes of messages of ``size`` bytes, for all who follow."""
        seal = self._sealer.seal
        return b"".join(seal(messages[i : i + size], part) for i in range(0, len(messages), size))

    def order(self, part: int, messages: bytes, size: int) -> OpenedEnvelopes:
        """Messages that are to leave as they are, with their order."""
        some = [messages[i : i + size] for i in range(0, len(messages), size)]
        return OpenedEnvelopes(messages, b"".join(self.ordering_keys(part, some)))

    def ordering_keys(self, part: int, messages: list[bytes]) -> list[bytes]:
        """By what each is ordered, 32 bytes; nothing without a secret for it."""
        if not self._secret:
            return []
        key = hmac.digest(self._secret, KeyDomain.ORDER.value + part.to_bytes(2), "sha256")
        return [hmac.digest(key, message, "sha256") for message in messages]


_process_worker: list[EnvelopeWorker] = []
"""That of this process, where it is one of a pool."""


def start_worker(secrets: Secrets) -> None:
    """Make a worker's own suites; it ends with its parent, and not by a key pressed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_end_with_parent, args=(parent,), daemon=True).start()
    _process_worker[:] = [EnvelopeWorker(secrets)]


def _end_with_parent(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


def call_worker(work: Callable[..., T], *given: object) -> T:
    """A method of ``EnvelopeWorker``, called in a process of a pool."""
    return work(_process_worker[0], *given)
