"""Manifests and receipts: statements of a hop about the batch that it sends.

A *piece* is a file of messages. A manifest names the pieces of every part by their SHA-256, so that
anyone can transport them. It states how many messages were received, dropped for each reason, and
added. The collector needs these numbers for the estimate. In the manifest of a destroyed round, all
numbers of the parts are 0. A receipt states that the next role has all pieces. *Arrival lists*
(``device.wire.arrivals``) have a tag of everything that a role received. A manifest names the lists
of its hop, and the collector's receipt those of the collector.
"""

import re
from typing import NamedTuple

from mixtally.device.contract.fields import Fields, make_refusal, text
from mixtally.device.contract.roles import ROLE_NAME
from mixtally.device.wire.arrivals import ArrivalLists, check_lists, read_lists, write_lists
from mixtally.device.wire.sheet import note_fields, read_digest, write_note

MOST_PIECE_BYTES = 1 << 24
MOST_PIECES = 1 << 16
MOST_MESSAGES = 1 << 40
MOST_HOPS = 5
_MANIFEST = "version kind sheet hop bundles left_out destroyed before parts overruled arrivals"
_PART = "received copies unopened malformed added pieces"
_PIECE = "sha256 messages"
_RECEIPT = "version kind manifest hop arrivals"
TOO_FEW, EXPIRED, LOST, ENDED = "too-few", "expired", "lost", "ended"
_END = re.compile(f"{TOO_FEW}|{EXPIRED}|{LOST}|{ENDED}: [ -~]{{1,200}}")


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
        The number of distinct bundles whose messages the first hop passed on.
    left_out : int
        The number of distinct bundles that the first hop dropped, because an envelope could not be
        opened or a part had too much padding.
    destroyed : str or None
        Why the hop sends nothing; None if it sends messages. "too-few", "expired", "lost" (a hop
        was restored from a backup, without the round's key), or "ended: " and an operator's reason.
    before : str or None
        The SHA-256 of the previous hop's manifest. None at the first hop, and if the round expired,
        was lost or was ended before that manifest arrived.
    overruled : tuple of str
        The names of roles that were silent when this hop was started. The operator of this hop
        decided not to wait for them.
    arrivals : tuple of tuple of ListFile
        The arrival lists of what this hop received. There are none in a destroyed round.
    """

    sheet: str
    hop: int
    bundles: int
    left_out: int
    destroyed: str | None
    before: str | None
    parts: tuple[PartManifest, ...]
    overruled: tuple[str, ...] = ()
    arrivals: ArrivalLists = ()

    @property
    def received_counts(self) -> list[int]:
        """The number of tags in each arrival list of this hop."""
        if self.destroyed is not None:
            return []
        if self.hop == 1:
            return [self.bundles + self.left_out]
        return [part.received for part in self.parts]


class Receipt(NamedTuple):
    """The statement of the next hop, or of the collector, that it has all pieces of a manifest.

    ``manifest`` is the SHA-256 of the manifest. ``hop`` is the position of the role that signs the
    receipt: that of the manifest's hop plus 1. ``arrivals`` are the arrival lists of the collector.
    They are None in the receipt of a hop, because its own manifest names its lists.
    """

    manifest: str
    hop: int
    arrivals: ArrivalLists | None = None


def write_manifest(manifest: Manifest) -> bytes:
    """Return the text of a manifest, which its hop signs."""
    parts = [
        {**part._asdict(), "pieces": [piece._asdict() for piece in part.pieces]}
        for part in manifest.parts
    ]
    lists = write_lists(manifest.arrivals)
    return write_note("manifest", {**manifest._asdict(), "parts": parts, "arrivals": lists})


def read_manifest(data: bytes) -> Manifest:
    """Read the manifest in ``data``, or raise RefusedError.

    The numbers of messages received, dropped, added and sent must add up.
    """
    fields = note_fields(data, "manifest", _MANIFEST)
    destroyed = None
    if fields.values["destroyed"] is not None:
        destroyed = _read_end(fields)
    parts = tuple(
        _read_part(one, f"part {place}") for place, one in enumerate(fields.items("parts"))
    )
    if destroyed and any(part.pieces or part.added for part in parts):
        raise make_refusal(
            "destroyed-with-pieces", "manifest", "no pieces of a destroyed round", "some"
        )
    if not destroyed:
        _check_sums(parts)
    hop = fields.whole("hop", 1, MOST_HOPS, "hop-out-of-range")
    before = None if fields.values["before"] is None else read_digest(fields, "before")
    needs_before = hop > 1 and destroyed in (None, TOO_FEW)
    if (hop == 1 and before) or (needs_before and not before):
        expected = "the manifest of the hop before, where there is one"
        raise make_refusal("before-unfit", fields.at("before"), expected, before)
    manifest = Manifest(
        read_digest(fields, "sheet"),
        hop,
        fields.whole("bundles", 0, MOST_MESSAGES, "messages-out-of-range"),
        fields.whole("left_out", 0, MOST_MESSAGES, "messages-out-of-range"),
        destroyed,
        before,
        parts,
        _read_overruled(fields),
        read_lists(fields),
    )
    check_lists(manifest.arrivals, manifest.received_counts, fields.at("arrivals"))
    return manifest


def is_broken_off(end: str | None) -> bool:
    """Return whether a hop lost its data or an operator ended the round.

    ``end`` is a value of ``Manifest.destroyed``.
    """
    return end is not None and (end == LOST or end.startswith(f"{ENDED}: "))


def end_of(why: str) -> str | None:
    """Return the value of ``Manifest.destroyed`` for a round that an operator ends.

    ``why`` is the operator's reason. Return None if a manifest cannot contain it.
    """
    end = f"{ENDED}: {why}"
    return end if _END.fullmatch(end) else None


def write_receipt(receipt: Receipt) -> bytes:
    """Return the text of a receipt, which the role that has the pieces signs."""
    lists = None if receipt.arrivals is None else write_lists(receipt.arrivals)
    return write_note("receipt", {**receipt._asdict(), "arrivals": lists})


def read_receipt(data: bytes) -> Receipt:
    """Read the receipt in ``data``, or raise RefusedError."""
    fields = note_fields(data, "receipt", _RECEIPT)
    hop = fields.whole("hop", 2, MOST_HOPS + 1, "hop-out-of-range")
    lists = None if fields.values["arrivals"] is None else read_lists(fields)
    return Receipt(read_digest(fields, "manifest"), hop, lists)


def _read_end(fields: Fields) -> str:
    end = fields.text("destroyed")
    if not _END.fullmatch(end):
        expected = f"{TOO_FEW}, {EXPIRED}, {LOST}, or {ENDED}: and printable ASCII"
        raise make_refusal("unknown-end", fields.at("destroyed"), expected, end)
    return end


def _read_overruled(fields: Fields) -> tuple[str, ...]:
    place = fields.at("overruled")
    names = tuple(text(one, place) for one in fields.items("overruled"))
    if bad := [name for name in names if not ROLE_NAME.fullmatch(name)]:
        raise make_refusal("role-name-malformed", place, "names of roles", bad[0])
    if len(set(names)) < len(names) or len(names) > MOST_HOPS:
        raise make_refusal("overruled-unfit", place, "every other role at most once", len(names))
    return names


def _read_part(value: object, place: str) -> PartManifest:
    fields = Fields(value, place, _PART)
    received, copies, unopened, malformed, added = (
        fields.whole(name, 0, MOST_MESSAGES, "messages-out-of-range")
        for name in _PART.split()
        if name != "pieces"
    )
    pieces = fields.items("pieces")
    if len(pieces) > MOST_PIECES:
        raise make_refusal("too-many-pieces", place, f"at most {MOST_PIECES:,}", len(pieces))
    named = tuple(_read_piece(one, place) for one in pieces)
    return PartManifest(received, copies, unopened, malformed, added, named)


def _read_piece(value: object, place: str) -> Piece:
    fields = Fields(value, f"piece of {place}", _PIECE)
    most = fields.whole("messages", 1, MOST_PIECE_BYTES, "messages-out-of-range")
    return Piece(read_digest(fields, "sha256"), most)


def _check_sums(parts: tuple[PartManifest, ...]) -> None:
    for place, part in enumerate(parts):
        listed = sum(piece.messages for piece in part.pieces)
        if part.sent_count != listed or part.sent_count < part.added:
            expected = f"pieces of {part.sent_count:,} messages, the sum of its numbers"
            raise make_refusal("false-sum", f"part {place}", expected, f"of {listed:,}")
    named = [piece.sha256 for part in parts for piece in part.pieces]
    if len(set(named)) < len(named):
        raise make_refusal("piece-twice", "manifest", "every piece once", "one twice")
