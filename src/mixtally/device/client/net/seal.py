"""Sealing of an answer: from a value to the bundle of a round, and the time at which it is sent.

Random words are used in the order that SPEC.md fixes: numbers of fakes, messages, order, and then
the time. All bundles of a contract have the same length. Padding fills the slots of fakes that were
not drawn.
"""

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import NamedTuple

from mixtally.device.client.draw import RandomWords
from mixtally.device.client.encode import Value
from mixtally.device.client.messages import messages
from mixtally.device.client.net.trust import OpenRound
from mixtally.device.contract.part import ContractPart
from mixtally.device.wire.bundle import write_bundle
from mixtally.device.wire.envelope import Sealer

TAG_BYTES = 8


class SealedBundle(NamedTuple):
    """A bundle that is ready to be sent.

    Attributes
    ----------
    bundle : bytes
        The body of the request.
    tags : bytes
        The first 8 bytes of the SHA-256 of each outer envelope, padding included. Hashes of inner
        envelopes are not stored: with them, a stolen diary would undo the mixing.
    due : int
        When it is sent, seconds since 1970.
    """

    bundle: bytes
    tags: bytes
    due: int


def seal_answer(
    given: OpenRound,
    value: Value,
    words: Callable[[int], bytes],
    now: int,
    *,
    at_once: bool = False,
) -> SealedBundle:
    """Return the bundle of a person who answers ``value`` in a round.

    Raise RefusedError if the question does not have this value, and AccountingError if the random
    words are invalid. With ``at_once`` the bundle is due now.
    """
    contract, sheet = given.contract, given.sheet
    drawn = messages(contract.plan, value, words, prefixes=sheet.prefixes, closing=sheet.closing)
    several = zip(contract.plan.parts, drawn, strict=True)
    parts = [
        seal_part(given.sealer, place, part, some) for place, (part, some) in enumerate(several)
    ]
    tags = b"".join(sha256(one).digest()[:TAG_BYTES] for part in parts for one in part)
    due = now if at_once else draw_due_time(RandomWords(words), now, sheet.closes)
    return SealedBundle(write_bundle(parts), tags, due)


def seal_part(
    sealer: Sealer, place: int, part: ContractPart, several: Sequence[bytes]
) -> list[bytes]:
    """Seal the messages of the part at ``place``, and padding for each unused slot."""
    left = part.most - len(several)
    padding = [sealer.padding(part.layout.message_bytes, place) for _ in range(left)]
    return [*(sealer.seal(one, place) for one in several), *padding]


def draw_due_time(words: RandomWords, now: int, closes: int) -> int:
    """Draw a uniform second between ``now`` and the close of the round."""
    return now + words.uniform(closes - now)
