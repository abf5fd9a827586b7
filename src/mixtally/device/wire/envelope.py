"""Envelopes: a message encrypted for the collector, then for the last hop, and so on to the first.

    envelope_h = HPKE(key of hop h, info_h, envelope_{h+1});  hop number hops + 1 is the collector
    info_h = LABEL, SHA-256 of the sheet's text (32 bytes), h (1 byte), part (2 bytes)

The innermost content is the message. Every layer adds the same number of bytes, so all envelopes of
a part that a hop receives have the same length. An envelope that was sealed for another round, hop
or part cannot be opened.

Padding has the length of an envelope, and fills a slot of a bundle in which no message is sent:

    padding = HPKE(key of hop 1, info_1, zeros)      as many zeros as bytes of an envelope at hop 2

Zeros are never a valid envelope. The key share of an envelope is, or ends with, a public key of
X25519, and no private key has the public key 0, which is a point of small order.

Source: RFC 9180, single-shot encryption in base mode, no additional data.
"""

from collections.abc import Sequence
from enum import Enum

from cryptography.exceptions import InvalidTag

from mixtally.device.wire.suite import HpkeSuite


class KeyDomain(bytes, Enum):
    """Domain separation prefixes: the first bytes of each string from which keys are derived.

    Each use of keys has a prefix of its own.
    """

    ENVELOPE = b"mixtally envelope 1"
    ORDER = b"mixtally order 1"


def info(sheet: bytes, hop: int, part: int) -> bytes:
    """Return the HPKE info of an envelope.

    ``sheet`` is the SHA-256 of the round's sheet. ``hop`` is counted from 1 and ``part`` from 0.
    """
    return KeyDomain.ENVELOPE.value + sheet + hop.to_bytes(1) + part.to_bytes(2)


class Sealer:
    """Encrypts messages for the hops from ``first`` on and for the collector.

    ``keys`` are the key configurations of these roles, in order. ``sheet`` is the SHA-256 of the
    round's sheet. Raises RefusedError for a key of another suite.
    """

    def __init__(
        self, suite: HpkeSuite, keys: Sequence[bytes], sheet: bytes, *, first: int = 1
    ) -> None:
        self._suite, self._layer_bytes = suite.create_suite(), suite.layer_bytes
        self._keys = [suite.key(key) for key in keys]
        self._sheet, self._first = sheet, first

    def seal(self, message: bytes, part: int) -> bytes:
        """Return the envelope of ``message``, with one layer for every key."""
        return self.layers(message, part)[-1]

    def layers(self, message: bytes, part: int) -> list[bytes]:
        """Return the envelope of a message that each role receives, the last role's first."""
        hop, made = self._first + len(self._keys), []
        for key in reversed(self._keys):
            hop -= 1
            message = self._suite.encrypt(message, key, info(self._sheet, hop, part))
            made.append(message)
        return made

    def padding(self, message_bytes: int, part: int) -> bytes:
        """Return padding as long as the envelope of a message of ``message_bytes`` bytes."""
        inside = bytes(message_bytes + self._layer_bytes * (len(self._keys) - 1))
        return self._suite.encrypt(inside, self._keys[0], info(self._sheet, self._first, part))


class Opener:
    """Removes the layer of one hop, or of the collector, in one round.

    ``private`` are the bytes of the secret key. ``sheet`` is the SHA-256 of the round's sheet.
    ``hop`` is the position of the role, counted from 1. The position of the collector is the number
    of hops plus 1.
    """

    def __init__(self, suite: HpkeSuite, private: bytes, sheet: bytes, hop: int) -> None:
        self._suite, self._key = suite.create_suite(), suite.private(private)
        self._sheet, self._hop = sheet, hop

    def open(self, envelope: bytes, part: int) -> bytes | None:
        """Return the content of an envelope; None if it cannot be opened."""
        try:
            return self._suite.decrypt(envelope, self._key, info(self._sheet, self._hop, part))
        except (InvalidTag, ValueError):
            return None
