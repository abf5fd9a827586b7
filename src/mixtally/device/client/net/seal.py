"""Sealing of an answer: from a value to the bundle of a round, and the time at which it is sent.

Random words are used in the order that SPEC.md fixes: for the numbers of fakes, the messages, their
order, and then the time. All bundles of a contract have the same length. Padding fills the slots of
a bundle that are reserved for fakes and not used.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from mixtally.device.client.draw import RandomWords
from mixtally.device.client.encode import Value
from mixtally.device.client.messages import messages
from mixtally.device.client.net.trust import OpenRound
from mixtally.device.contract.part import ContractPart
from mixtally.device.wire.arrivals import TAG_BYTES, make_tagger
from mixtally.device.wire.bundle import write_bundle
from mixtally.device.wire.codes import check_code
from mixtally.device.wire.envelope import Sealer

_PART_BYTES = 2


class WatchedMessage(NamedTuple):
    """The number of a message's part, and the tags of the message's envelopes at later roles.

    A tag is a short hash of the bytes that a role receives. ``tags`` has one for hop 2 and each
    role after it.
    """

    part: int
    tags: tuple[bytes, ...]


class SealedBundle(NamedTuple):
    """A bundle that is ready to be sent.

    Attributes
    ----------
    bundle : bytes
        The body of the request.
    tags : bytes
        The tag of the bundle at hop 1. If the device will look for its messages (``net.watch``),
        their tags at each later role follow (``write_watched``).
    due : int
        When it is to be sent, seconds since 1970.
    code : str or None
        The one-time code with which it is sent.
    """

    bundle: bytes
    tags: bytes
    due: int
    code: str | None = None


def seal_answer(
    given: OpenRound,
    value: Value,
    words: Callable[[int], bytes],
    now: int,
    *,
    at_once: bool = False,
    watch: bool = False,
    code: str | None = None,
) -> SealedBundle:
    """Return the bundle of a person who answers ``value`` in a round.

    ``words`` returns 8 * count random bytes for a count, and ``now`` is the time in seconds since
    1970. With ``at_once`` the bundle is due now, and otherwise at a random time in the round. With
    ``watch`` the tags of all messages are returned: anyone who has them can follow the messages
    through the mixes. Raise RefusedError if the question does not have this value or the contract
    does not accept this code, and AccountingError if the random words are invalid.
    """
    contract, sheet = given.contract, given.sheet
    code = check_code(contract.admission, code)
    drawn = messages(contract.plan, value, words, prefixes=sheet.prefixes, closing=sheet.closing)
    parts, watched = list[list[bytes]](), list[WatchedMessage]()
    for place, (part, some) in enumerate(zip(contract.plan.parts, drawn, strict=True)):
        layers: list[list[bytes]] = []
        parts.append(seal_part(given.sealer, place, part, some, layers))
        watched += (make_watched(given.digest, place, one) for one in layers)
    bundle = write_bundle(parts)
    tags = write_watched(make_tagger(given.digest, 1)(bundle), watched if watch else [])
    due = now if at_once else draw_due_time(RandomWords(words), now, sheet.closes)
    return SealedBundle(bundle, tags, due, code)


def seal_part(
    sealer: Sealer,
    place: int,
    part: ContractPart,
    several: Sequence[bytes],
    layers: list[list[bytes]] | None = None,
) -> list[bytes]:
    """Seal the messages of a part, and padding for each unused slot.

    Parameters
    ----------
    sealer : Sealer
        Encrypts for the hops and the collector.
    place : int
        The number of the part, from 0.
    part : ContractPart
        The part, which determines the number of slots.
    several : sequence of bytes
        The messages of the device in this part.
    layers : list of lists of bytes, optional
        If given, the list is extended by one list per message, which has the envelopes that each
        role receives, the last role's first.
    """
    sealed = [sealer.layers(one, place) for one in several]
    if layers is not None:
        layers += sealed
    unused = part.most - len(several)
    padding = [sealer.padding(part.layout.message_bytes, place) for _ in range(unused)]
    return [*(one[-1] for one in sealed), *padding]


def make_watched(sheet: bytes, place: int, layers: Sequence[bytes]) -> WatchedMessage:
    """Return a watched message: its part, and the tags of its envelopes at hop 2 and later.

    ``sheet`` is the SHA-256 of the round's sheet, and ``place`` is the number of the part.
    ``layers`` are the envelopes that each role receives, the last role's first.
    """
    inner = enumerate(reversed(layers[:-1]), start=2)
    return WatchedMessage(place, tuple(make_tagger(sheet, hop, place)(one) for hop, one in inner))


def write_watched(bundle: bytes, messages: Sequence[WatchedMessage]) -> bytes:
    """Return the tag ``bundle`` of a bundle and the tags of its messages, in a diary's format."""
    rows = [one.part.to_bytes(_PART_BYTES) + b"".join(one.tags) for one in messages]
    return bundle + b"".join(rows)


def read_watched(tags: bytes, hops: int) -> list[WatchedMessage]:
    """Return the messages in ``tags``, which ``write_watched`` has written.

    ``hops`` is the number of hops of the contract.
    """
    size = _PART_BYTES + TAG_BYTES * hops
    rows = [tags[start : start + size] for start in range(TAG_BYTES, len(tags), size)]
    return [
        WatchedMessage(
            int.from_bytes(row[:_PART_BYTES]),
            tuple(row[at : at + TAG_BYTES] for at in range(_PART_BYTES, size, TAG_BYTES)),
        )
        for row in rows
    ]


def draw_due_time(words: RandomWords, now: int, closes: int) -> int:
    """Draw a uniform second between ``now`` and the close of the round."""
    return now + words.uniform(closes - now)
