"""Manifests and receipts: statements of a hop about the batch that it sends.

A manifest names the pieces of every part by their SHA-256, so that anyone can transport them. It
states how many messages were received, dropped for each reason, and added. The collector needs
these numbers for the estimate. In the manifest of a destroyed round, all numbers of the parts are
0. A receipt states that the next role has all pieces.
"""

import re
from typing import NamedTuple

from mixtally.device.contract.fields import Fields, make_refusal, text
from mixtally.device.wire.sheet import note_fields, read_digest, write_note

MOST_PIECE_BYTES = 1 << 24
MOST_PIECES = 1 << 16
MOST_MESSAGES = 1 << 40
MOST_HOPS = 5
_MANIFEST = "version kind sheet hop bundles left_out destroyed before parts overruled"
_PART = "received copies unopened malformed added pieces"
_PIECE = "sha256 messages"
_RECEIPT = "version kind manifest hop"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,99}")
TOO_FEW, EXPIRED = "too-few", "expired"


class Piece(NamedTuple):
    """Consecutive messages of a part, in a file named by its hash."""

    sha256: str
    messages: int


class PartManifest(NamedTuple):
    """A part in the batch of a hop.

    Attributes
    ----------
    received : int
        The number of envelopes received.
    copies : int
        Envelopes that are equal to an earlier one.
    unopened : int
        Envelopes that were not sealed for this round, hop and part.
    malformed : int
        Opened messages with a wrong length.
    added : int
        Fakes of this hop.
    pieces : tuple of Piece
        The messages that are sent, in order.
    """

    received: int
    copies: int = 0
    unopened: int = 0
    malformed: int = 0
    added: int = 0
    pieces: tuple[Piece, ...] = ()

    @property
    def sent_count(self) -> int:
        """The number of messages that are sent."""
        return self.received - self.copies - self.unopened - self.malformed + self.added


class Manifest(NamedTuple):
    """The statement of a hop about a round.

    Attributes
    ----------
    sheet : str
        The SHA-256 of the sheet.
    hop : int
        The position of the hop, from 1.
    bundles : int
        The distinct bundles whose envelopes all opened at the first hop.
    left_out : int
        The distinct bundles that were dropped because an envelope did not open.
    destroyed : str or None
        Why nothing is sent ("too-few", "expired"); None if something is sent.
    before : str or None
        The SHA-256 of the previous hop's manifest. None at the first hop, and if the round expired
        before one arrived.
    overruled : tuple of str
        Roles that were silent when this hop started, and were not waited for.
    """

    sheet: str
    hop: int
    bundles: int
    left_out: int
    destroyed: str | None
    before: str | None
    parts: tuple[PartManifest, ...]
    overruled: tuple[str, ...] = ()


class Receipt(NamedTuple):
    """The statement of the next hop, or of the collector, that it has all pieces of a manifest.

    ``manifest`` is the SHA-256 of the manifest. ``hop`` is the position of the role that signs the
    receipt, which is the position of the manifest's hop plus 1.
    """

    manifest: str
    hop: int


def write_manifest(manifest: Manifest) -> bytes:
    """Return the text to be signed."""
    parts = [
        {**part._asdict(), "pieces": [piece._asdict() for piece in part.pieces]}
        for part in manifest.parts
    ]
    return write_note("manifest", {**manifest._asdict(), "parts": parts})


def read_manifest(data: bytes) -> Manifest:
    """Read the manifest in ``data``; raise RefusedError if it is invalid or its sums are wrong."""
    held = note_fields(data, "manifest", _MANIFEST)
    destroyed = None
    if held.values["destroyed"] is not None:
        destroyed = held.choice("destroyed", f"{TOO_FEW}|{EXPIRED}", "unknown-end")
    parts = tuple(_read_part(one, f"part {place}") for place, one in enumerate(held.items("parts")))
    if destroyed and any(part.pieces or part.added for part in parts):
        raise make_refusal(
            "destroyed-with-pieces", "manifest", "no pieces of a destroyed round", "some"
        )
    if not destroyed:
        _check_sums(parts)
    hop = held.whole("hop", 1, MOST_HOPS, "hop-out-of-range")
    before = None if held.values["before"] is None else read_digest(held, "before")
    if (hop == 1 and before) or (hop > 1 and not before and destroyed != EXPIRED):
        expected = "the manifest of the hop before, where there is one"
        raise make_refusal("before-unfit", held.at("before"), expected, before)
    return Manifest(
        read_digest(held, "sheet"),
        hop,
        held.whole("bundles", 0, MOST_MESSAGES, "messages-out-of-range"),
        held.whole("left_out", 0, MOST_MESSAGES, "messages-out-of-range"),
        destroyed,
        before,
        parts,
        _read_overruled(held),
    )


def write_receipt(receipt: Receipt) -> bytes:
    """Return the text to be signed."""
    return write_note("receipt", receipt._asdict())


def read_receipt(data: bytes) -> Receipt:
    """Read the receipt in ``data``, or raise RefusedError."""
    held = note_fields(data, "receipt", _RECEIPT)
    hop = held.whole("hop", 2, MOST_HOPS + 1, "hop-out-of-range")
    return Receipt(read_digest(held, "manifest"), hop)


def _read_overruled(fields: Fields) -> tuple[str, ...]:
    place = fields.at("overruled")
    names = tuple(text(one, place) for one in fields.items("overruled"))
    if bad := [name for name in names if not _NAME.fullmatch(name)]:
        raise make_refusal("role-name-malformed", place, "names of roles", bad[0])
    if len(set(names)) < len(names) or len(names) > MOST_HOPS:
        raise make_refusal("overruled-unfit", place, "every other role at most once", len(names))
    return names


def _read_part(value: object, place: str) -> PartManifest:
    held = Fields(value, place, _PART)
    received, copies, unopened, malformed, added = (
        held.whole(name, 0, MOST_MESSAGES, "messages-out-of-range")
        for name in _PART.split()
        if name != "pieces"
    )
    pieces = held.items("pieces")
    if len(pieces) > MOST_PIECES:
        raise make_refusal("too-many-pieces", place, f"at most {MOST_PIECES:,}", len(pieces))
    named = tuple(_read_piece(one, place) for one in pieces)
    return PartManifest(received, copies, unopened, malformed, added, named)


def _read_piece(value: object, place: str) -> Piece:
    held = Fields(value, f"piece of {place}", _PIECE)
    most = held.whole("messages", 1, MOST_PIECE_BYTES, "messages-out-of-range")
    return Piece(read_digest(held, "sha256"), most)


def _check_sums(parts: tuple[PartManifest, ...]) -> None:
    for place, part in enumerate(parts):
        listed = sum(piece.messages for piece in part.pieces)
        if part.sent_count != listed or part.sent_count < part.added:
            expected = f"pieces of {part.sent_count:,} messages, the sum of its numbers"
            raise make_refusal("false-sum", f"part {place}", expected, f"of {listed:,}")
    named = [piece.sha256 for part in parts for piece in part.pieces]
    if len(set(named)) < len(named):
        raise make_refusal("piece-twice", "manifest", "every piece once", "one twice")
