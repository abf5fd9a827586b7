"""Consistency of notes: a sheet with its contract, and manifests with the sheet and each other.

Other modules verify the signatures of a note, and then its format. These functions check whether
notes agree with each other. Roles, devices and anyone else who verifies a round call them.
"""

from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

from mixtally.device.contract.fields import make_refusal
from mixtally.device.wire.arrivals import check_lists
from mixtally.device.wire.manifest import MOST_PIECE_BYTES, Manifest, Piece, Receipt
from mixtally.device.wire.sheet import Sheet
from mixtally.device.wire.suite import SUITES

MOST_WAIT = 10**7
"""The maximum number of seconds from the close of a round to its expiry. When a round expires, its
keys are destroyed."""


class Frame(NamedTuple):
    """The numbers of a contract with which the notes of its rounds must agree.

    Attributes
    ----------
    contract : str
        The fingerprint of the contract.
    rounds : int
        The maximum number of rounds.
    open_seconds : int
        How long a round is open.
    hops : int
        The number of hops, without the collector.
    suite : int
        The number of the HPKE suite.
    parts : int
        The number of streams of messages.
    minimum_crowd : int
        The least number of bundles. A round with fewer bundles is destroyed.
    most_bundles : int
        The maximum number of bundles that the first hop accepts in a round.
    most_messages : tuple of tuples of int
        For each part, the maximum number of messages that leave each hop. This is the number of
        slots in ``most_bundles`` bundles, plus the maximum numbers of fakes that this hop and all
        hops before it add.
    """

    contract: str
    rounds: int
    open_seconds: int
    hops: int
    suite: int
    parts: int
    minimum_crowd: int
    most_bundles: int
    most_messages: tuple[tuple[int, ...], ...]


def check_sheet(sheet: Sheet, frame: Frame) -> None:
    """Raise RefusedError for a sheet that does not belong to the contract or violates it.

    Parameters
    ----------
    sheet : Sheet
        The sheet of a round, which has its times and keys.
    frame : Frame
        The numbers of the contract with which the sheet must agree.
    """
    if sheet.contract != frame.contract:
        raise make_refusal("other-contract", "sheet.contract", frame.contract, sheet.contract)
    if sheet.round > frame.rounds:
        expected = f"at most {frame.rounds}"
        raise make_refusal("round-out-of-range", "sheet.round", expected, sheet.round)
    if sheet.closes - sheet.opens != frame.open_seconds:
        expected = f"{frame.open_seconds:,} seconds after it opens"
        raise make_refusal("times-out-of-range", "sheet.closes", expected, sheet.closes)
    if sheet.expires - sheet.closes > MOST_WAIT:
        expected = f"at most {MOST_WAIT:,} seconds after it closes"
        raise make_refusal("times-out-of-range", "sheet.expires", expected, sheet.expires)
    if len(sheet.keys) != frame.hops + 1:
        raise make_refusal("keys-miscounted", "sheet.keys", f"{frame.hops + 1}", len(sheet.keys))
    for key in sheet.keys:
        SUITES[frame.suite].key(key)  # raises for a key that cannot be used
    if len(set(sheet.keys)) < len(sheet.keys):
        raise make_refusal(
            "key-twice", "sheet.keys", "another key for every role", "one of two roles"
        )


def check_manifests(manifests: Sequence[tuple[str, Manifest]], sheet: str, frame: Frame) -> None:
    """Raise RefusedError unless manifests are those of hop 1, hop 2, .. of a round and agree.

    Each hop must have received what the previous hop sent.

    Parameters
    ----------
    manifests : sequence of tuple
        The manifest of each hop, with its SHA-256.
    sheet : str
        The SHA-256 of the sheet.
    frame : Frame
        The numbers of the contract that manifests must agree with.
    """
    before: tuple[str, Manifest] | None = None
    for place, (digest, manifest) in enumerate(manifests, start=1):
        if manifest.sheet != sheet:
            raise make_refusal("other-sheet", "manifest.sheet", sheet, manifest.sheet)
        if manifest.hop != place or place > frame.hops:
            raise make_refusal("other-hop", "manifest.hop", f"{place}", manifest.hop)
        check_manifest(manifest, frame)
        if before:
            _check_after(manifest, *before)
        before = digest, manifest


def check_manifest(manifest: Manifest, frame: Frame) -> None:
    """Raise RefusedError for parts of another contract, too few bundles, or too many messages.

    A batch must have at least as many bundles as the minimum crowd, or be destroyed. Without the
    upper limits, a malicious hop could announce pieces that fill the disk of the next role, or
    arrival lists that no device can download completely.

    Parameters
    ----------
    manifest : Manifest
        The manifest of a hop, whose position is at most ``frame.hops``.
    frame : Frame
        The numbers of the contract that the manifest must agree with.
    """
    if len(manifest.parts) != frame.parts:
        got = len(manifest.parts)
        raise make_refusal("parts-miscounted", "manifest.parts", f"{frame.parts}", got)
    if not manifest.destroyed and manifest.bundles < frame.minimum_crowd:
        expected = f"at least {frame.minimum_crowd:,}, or a round that is destroyed"
        raise make_refusal("crowd-too-small", "manifest.bundles", expected, manifest.bundles)
    if (bundles := manifest.bundles + manifest.left_out) > frame.most_bundles:
        expected = f"at most the {frame.most_bundles:,} bundles of a round, with those left out"
        raise make_refusal("too-many-bundles", "manifest.bundles", expected, bundles)
    for place, (part, limits) in enumerate(zip(manifest.parts, frame.most_messages, strict=True)):
        if part.sent_count > (most := limits[manifest.hop - 1]):
            expected = f"at most the {most:,} messages that the contract can produce"
            raise make_refusal("too-many-messages", f"part {place}", expected, part.sent_count)


def _check_after(manifest: Manifest, digest: str, before: Manifest) -> None:
    if manifest.before is None:  # only possible if the round broke off before a manifest arrived
        return
    if manifest.before != digest:
        raise make_refusal("before-unfit", "manifest.before", digest, manifest.before)
    for name in ("bundles", "left_out"):
        expected, got = getattr(before, name), getattr(manifest, name)
        if got != expected:
            raise make_refusal("bundles-differ", f"manifest.{name}", f"{expected:,}", got)
    if before.destroyed and not manifest.destroyed:
        raise make_refusal("not-destroyed", "manifest.destroyed", before.destroyed, "a batch")
    for place, (part, sent) in enumerate(zip(manifest.parts, before.parts, strict=True)):
        if part.received != sent.sent_count and not manifest.destroyed:
            expected = f"{sent.sent_count:,} messages, as many as were sent"
            raise make_refusal("received-differs", f"part {place}", expected, part.received)


def check_receipt(receipt: Receipt, digest: str, manifest: Manifest, frame: Frame) -> None:
    """Raise RefusedError for a receipt that does not belong to a manifest and the role after it.

    ``digest`` is the SHA-256 of the manifest. The collector's receipt must have arrival lists with
    one tag for each message that was sent. The receipt of a hop must have no lists.
    """
    if receipt.manifest != digest:
        raise make_refusal("other-manifest", "receipt.manifest", digest, receipt.manifest)
    if receipt.hop != manifest.hop + 1:
        raise make_refusal("other-hop", "receipt.hop", f"{manifest.hop + 1}", receipt.hop)
    place, is_collector = "receipt.arrivals", receipt.hop == frame.hops + 1
    if is_collector != (receipt.arrivals is not None):
        expected = "the lists of the collector" if is_collector else "null, at a hop"
        raise make_refusal("arrivals-miscounted", place, expected, receipt.arrivals)
    if receipt.arrivals is not None:
        sent = [] if manifest.destroyed else [part.sent_count for part in manifest.parts]
        check_lists(receipt.arrivals, sent, place)


def check_piece(data: bytes, piece: Piece, message_bytes: int) -> None:
    """Raise RefusedError unless ``data`` has the hash and length of ``piece``."""
    if sha256(data).hexdigest() != piece.sha256:
        raise make_refusal("piece-differs", "piece", piece.sha256, sha256(data).hexdigest())
    expected = piece.messages * message_bytes
    if len(data) != expected or expected > MOST_PIECE_BYTES:
        raise make_refusal("piece-length", "piece", f"{expected:,} bytes", len(data))
