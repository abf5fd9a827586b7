"""Work on envelopes that processes share: opening, and at a mix also sorting and sealing of fakes.

Cipher suites cannot be pickled, so each process creates its own. It receives the secrets through a
pipe. A process ends when its parent dies, because it has a key in memory.
"""

import hmac
import os
import signal
import threading
from collections.abc import Callable
from enum import IntEnum
from multiprocessing import parent_process
from multiprocessing.process import BaseProcess
from typing import NamedTuple, TypeVar

from mixtally.device.wire.envelope import KeyDomain, Opener, Sealer
from mixtally.device.wire.suite import SUITES

T = TypeVar("T")


class Secrets(NamedTuple):
    """Keys of a round, and the data needed to open envelopes. Its repr shows no secret."""

    suite: int
    private: bytes
    """Private bytes of this role's key for the round."""
    sheet: bytes
    """SHA-256 of the sheet."""
    position: int
    """Position of this role from 1; the collector follows the last hop."""
    sort_key: bytes = b""
    """Key with which a mix sorts outgoing messages; empty at the collector."""
    following: tuple[bytes, ...] = ()
    """Key configurations of the later hops and of the collector."""

    def __repr__(self) -> str:
        return f"Secrets(position={self.position})"


class Kind(IntEnum):
    """The kind of a received envelope; ``FAKE`` is for messages that this mix adds."""

    GOOD = 0
    """A message."""
    UNOPENED = 1
    """The envelope cannot be opened, because it was not sealed for this round, hop and part."""
    MALFORMED = 2
    """The content of the envelope has a wrong length."""
    FAKE = 3
    """A message that this mix adds."""
    PADDING = 4
    COPY = 5
    """A copy of another envelope, which was not opened."""


class OpenedEnvelopes(NamedTuple):
    """Contents of some envelopes."""

    messages: bytes
    """Concatenated messages."""
    sort_keys: bytes
    """Concatenated sort keys of 32 bytes; empty without ``Secrets.sort_key``."""
    kinds: bytes
    """The ``Kind`` of each envelope, one byte each. ``messages`` has only the ``GOOD`` ones."""


class EnvelopeWorker:
    """Opens and seals envelopes in the current process."""

    def __init__(self, secrets: Secrets) -> None:
        suite = SUITES[secrets.suite]
        self._opener = Opener(suite, secrets.private, secrets.sheet, secrets.position)
        self._sealer = Sealer(suite, secrets.following, secrets.sheet, first=secrets.position + 1)
        self._secret = secrets.sort_key
        self._drops_padding = secrets.position == 1

    def open(self, part: int, envelopes: bytes, size: int, expected: int) -> OpenedEnvelopes:
        """Open concatenated envelopes of ``size`` bytes, with messages of ``expected`` bytes.

        Contents of another length are ``MALFORMED``.
        """
        sealed = [envelopes[i : i + size] for i in range(0, len(envelopes), size)]
        inside = self.open_each(part, sealed)
        kinds = bytes(self.kind_of(one, expected) for one in inside)
        good = [
            one
            for one, kind in zip(inside, kinds, strict=True)
            if one is not None and kind == Kind.GOOD
        ]
        order = b"".join(self.ordering_keys(part, good))
        return OpenedEnvelopes(b"".join(good), order, kinds)

    def kind_of(self, inside: bytes | None, expected: int) -> Kind:
        """Return the kind of an envelope from its content, which is None if it cannot be opened.

        At the first hop, a content of zeros is padding. The first hop drops padding, so later hops
        never receive it.
        """
        if inside is None:
            return Kind.UNOPENED
        if len(inside) != expected:
            return Kind.MALFORMED
        return Kind.PADDING if self._drops_padding and not any(inside) else Kind.GOOD

    def open_each(self, part: int, envelopes: list[bytes]) -> list[bytes | None]:
        """Return the content of each envelope; None for one that cannot be opened."""
        opened = self._opener.open
        return [opened(one, part) for one in envelopes]

    def seal(self, part: int, messages: bytes, size: int) -> bytes:
        """Seal concatenated messages of ``size`` bytes for all later roles."""
        seal = self._sealer.seal
        return b"".join(seal(messages[i : i + size], part) for i in range(0, len(messages), size))

    def order(self, part: int, messages: bytes, size: int) -> OpenedEnvelopes:
        """Return concatenated messages unchanged, together with their sort keys."""
        some = [messages[i : i + size] for i in range(0, len(messages), size)]
        return OpenedEnvelopes(messages, b"".join(self.ordering_keys(part, some)), b"")

    def ordering_keys(self, part: int, messages: list[bytes]) -> list[bytes]:
        """Return a sort key of 32 bytes per message, or [] without ``Secrets.sort_key``."""
        if not self._secret:
            return []
        key = hmac.digest(self._secret, KeyDomain.ORDER.value + part.to_bytes(2), "sha256")
        return [hmac.digest(key, message, "sha256") for message in messages]


_process_worker: list[EnvelopeWorker] = []
"""The worker of this process, if the process belongs to a pool."""


def start_worker(secrets: Secrets) -> None:
    """Create the worker of a new process, which ignores Ctrl-C and ends with its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_end_with_parent, args=(parent,), daemon=True).start()
    _process_worker[:] = [EnvelopeWorker(secrets)]


def _end_with_parent(parent: BaseProcess) -> None:
    parent.join()
    # ``sys.exit`` would end only this thread, not the process.
    os._exit(1)


def call_worker(work: Callable[..., T], *arguments: object) -> T:
    """Call a method of the ``EnvelopeWorker`` of this process, which belongs to a pool."""
    return work(_process_worker[0], *arguments)
