"""From a person's value to the one bundle of a round, and the moment at which it leaves.

Words are used in the order of SPEC.md: coins, messages, order; then one for the moment. All bundles
of a contract have the same length: padding fills the slots for fakes that a coin did not give.
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
    """What is sent.

    where
      bundle   the body of the request
      tags     the first 8 bytes of SHA-256 of each envelope as it leaves, one after the other,
               padding included.
               Those of inner envelopes are not kept: with them a stolen diary would undo mixes
      due      when it leaves
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
    """The bundle of a person who answers ``value`` in a round.

    Raises RefusedError for a value without an answer, AccountingError for bad words.
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
    """Seal the messages of the part at ``place``, and padding for each slot that is left."""
    left = part.most - len(several)
    padding = [sealer.padding(part.layout.message_bytes, place) for _ in range(left)]
    return [*(sealer.seal(one, place) for one in several), *padding]


def draw_due_time(words: RandomWords, now: int, closes: int) -> int:
    """A uniform second of what is left of the window."""
    return now + words.uniform(closes - now)
