"""Received envelopes as streams: from bundles at the first hop, from pieces at later hops.

If one envelope of a bundle is invalid, no message of the bundle is sent. So the first hop opens all
envelopes of all parts, and then selects the messages to send.
"""

from collections.abc import Iterator, Sequence
from itertools import compress
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from mixtally.device.wire.bundle import PartShape, part_envelopes, split_bundles
from mixtally.device.wire.manifest import Manifest, PartManifest
from mixtally.primitives.chance import SecureChance
from mixtally.server.engine.copies import Copies, Mask
from mixtally.server.engine.envelope_worker import Kind
from mixtally.server.engine.mixing import Kinds, MixedPart
from mixtally.server.mix.intake import read_bodies
from mixtally.server.node.pieces import read_envelopes

_BUNDLES_AT_ONCE = 4096
"""Number of bundles whose envelopes are compared at the same time."""


class Source(Protocol):
    """The received envelopes of a round, by part."""

    @property
    def is_distinct(self) -> bool:
        """Whether the source guarantees that no envelope occurs twice."""
        ...

    def envelopes(self, part: int) -> Iterator[bytes]:
        """Yield the envelopes of a part, in the same order at every call."""
        ...


class Selection(NamedTuple):
    """The messages of a part that are sent."""

    sent: Mask | None
    """A mask of the envelopes whose messages are sent; None if all are."""
    manifest: PartManifest
    """The numbers of envelopes; fakes and pieces are added later."""


class BundleSource:
    """Bundles that the first hop received; a bundle that was received twice is used once.

    If the digests that detect copies need more than ``most_held`` bytes, they are written to
    ``folder``, encrypted.
    """

    def __init__(self, folder: Path, shapes: Sequence[PartShape], most_held: int) -> None:
        self._folder, self._shapes = folder, shapes
        # This randomness only detects copies and encrypts files, so it need not be that of fakes.
        self._first = Copies(self._bundles(), folder, SecureChance(), most_held).first
        self._kept = self._first.copy()

    @property
    def bundles(self) -> int:
        """The number of distinct bundles, without those that ``leave_out`` has dropped."""
        return int(self._kept.sum())

    def iterate_received(self) -> Iterator[bytes]:
        """Yield all distinct received bundles, also those that ``leave_out`` drops."""
        return compress(self._bundles(), self._first.data)

    def leave_out(self, parts: Sequence[MixedPart]) -> list[Selection]:
        """Drop invalid bundles, and return for each part the messages to send.

        A bundle is invalid if an envelope could not be opened or has a wrong length, or if a part
        has too much padding. A copy of an envelope in the same part has the kind of the original.
        The message of an envelope is sent once, if any valid bundle contains the envelope.
        """
        counted = np.ones(self.bundles, dtype=bool)
        for shape, part in zip(self._shapes, parts, strict=True):
            for copies, originals in part.pairs():
                part.kinds[copies] = part.kinds[originals]
            counted &= _find_counted(part.kinds, shape)
        self._kept[self._kept] = counted
        pairs = zip(self._shapes, parts, strict=True)
        return [_select(part, shape, counted) for shape, part in pairs]

    @property
    def is_distinct(self) -> bool:
        """Whether each bundle has only one envelope. Then no two bundles have equal envelopes."""
        return [shape.slots for shape in self._shapes] == [1]

    def envelopes(self, part: int) -> Iterator[bytes]:
        """Yield the envelopes of a part."""
        for bundle in compress(self._bundles(), self._kept.data):
            yield from part_envelopes(bundle, self._shapes, part)

    def _bundles(self) -> Iterator[bytes]:
        """Yield all received bundles, whose lengths were checked when they arrived."""
        for body in read_bodies(self._folder):
            yield from split_bundles(body, self._shapes)


class PieceSource:
    """Pieces that a later hop received from the preceding hop."""

    def __init__(self, folder: Path, manifest: Manifest, sizes: Sequence[int]) -> None:
        self._folder, self._manifest, self._sizes = folder, manifest, sizes

    @property
    def is_distinct(self) -> bool:
        """False, because a hop may send a message twice."""
        return False

    def envelopes(self, part: int) -> Iterator[bytes]:
        """Yield the envelopes of a part."""
        pieces = self._manifest.parts[part].pieces
        return read_envelopes(self._folder, pieces, self._sizes[part])


def _find_counted(kinds: Kinds, shape: PartShape) -> Mask:
    """Return a mask of the bundles that are valid in one part."""
    slots = kinds.reshape(-1, shape.slots)
    counted = np.empty(len(slots), dtype=bool)
    # In chunks, because the sums of all rows would need more memory than ``kinds``.
    for start in range(0, len(slots), _BUNDLES_AT_ONCE):
        some = slots[start : start + _BUNDLES_AT_ONCE]
        padding = some == Kind.PADDING
        whole = (padding | (some == Kind.GOOD)).all(axis=1)
        counted[start : start + len(some)] = whole & (padding.sum(axis=1) <= shape.most_padding)
    return counted


def _select(part: MixedPart, shape: PartShape, counted: Mask) -> Selection:
    sent = part.kinds == Kind.GOOD
    sent.reshape(-1, shape.slots)[~counted] = False
    received = int(np.count_nonzero(sent))
    for copies, originals in part.pairs():
        # Only the first of equal envelopes was opened, so its message is sent for a copy.
        sent[originals[sent[copies]]] = True
        sent[copies] = False
    return Selection(sent, PartManifest(received, received - int(np.count_nonzero(sent))))


def select_all(part: MixedPart) -> Selection:
    """Select all messages of a part, as later hops do."""
    copies, unopened, malformed = map(part.count_kind, (Kind.COPY, Kind.UNOPENED, Kind.MALFORMED))
    return Selection(None, PartManifest(len(part.kinds), copies, unopened, malformed))
