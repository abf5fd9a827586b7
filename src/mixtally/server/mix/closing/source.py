"""Received envelopes as streams: from bundles at the first hop, from pieces at later hops.

Memory contains only data about copies: 32 bytes per item during the comparison, and one byte per
item afterwards.
"""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import compress, islice
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from mixtally.device.wire.bundle import PartShape, part_envelopes, split_bundles
from mixtally.device.wire.manifest import Manifest
from mixtally.errors import DataError
from mixtally.server.mix.intake import read_bodies
from mixtally.server.node import disk
from mixtally.server.node.copies import Digests, first_occurrences, hash_each

_BUNDLES_AT_ONCE = 4096
"""Number of bundles whose digests are in memory at the same time."""
_BAD = 1 << 32
"""Marker for a bad bundle; a number greater than the slots of any part."""


class Source(Protocol):
    """The received envelopes of a round, by part."""

    @property
    def is_distinct(self) -> bool:
        """Whether the source guarantees that no envelope occurs twice."""
        ...

    def envelopes(self, part: int) -> Iterator[bytes]:
        """Yield the envelopes of a part, in the same order at every call."""
        ...


class OpenedPart(NamedTuple):
    """Envelopes of a part that the first hop does not pass on."""

    bad: bytes
    """Concatenated SHA-256 of the envelopes that did not open to an envelope for the next hop."""
    padding: bytes
    """Concatenated SHA-256 of the envelopes that were padding."""


class BundleSource:
    """Bundles received by the first hop; a bundle received twice counts once."""

    def __init__(self, folder: Path, shapes: Sequence[PartShape]) -> None:
        self._folder, self._shapes = folder, shapes
        self._kept = first_occurrences(hash_each(self._bundles()))

    @property
    def bundles(self) -> int:
        """Number of different bundles that are counted."""
        return int(self._kept.sum())

    def leave_out(self, opened: Sequence[OpenedPart]) -> list[int]:
        """Leave out bundles with a bad envelope, or with more padding than a part may have.

        A copy of padding in the same part is padding. The same bytes may be valid in another part,
        so bundles that contain them there are counted.

        Returns
        -------
        list of int
            For each part, how many slots of the counted bundles contain padding.
        """
        found = [
            self._padding(part, one) if one.bad or one.padding else None
            for part, one in enumerate(opened)
        ]
        for shape, slots in zip(self._shapes, found, strict=True):
            if slots is not None:
                self._kept &= slots <= shape.most_padding
        return [0 if slots is None else int(slots[self._kept].sum()) for slots in found]

    def _padding(self, part: int, opened: OpenedPart) -> NDArray[np.int64]:
        """Return the number of padding slots of a part in each bundle, or _BAD for a bad bundle."""
        slots = self._shapes[part].slots
        bad, padding = Digests(opened.bad), Digests(opened.padding)
        counts = []
        bundles = self._bundles()
        while some := list(islice(bundles, _BUNDLES_AT_ONCE)):
            sealed = (one for bundle in some for one in part_envelopes(bundle, self._shapes, part))
            held = hash_each(sealed)
            row = padding.contains_each(held).reshape(-1, slots).sum(axis=1)
            row[bad.contains_each(held).reshape(-1, slots).any(axis=1)] = _BAD
            counts.append(row)
        return np.concatenate(counts) if counts else np.zeros(0, dtype=np.int64)

    @property
    def is_distinct(self) -> bool:
        """Whether each bundle has one envelope; different bundles then have different envelopes."""
        return [shape.slots for shape in self._shapes] == [1]

    def envelopes(self, part: int) -> Iterator[bytes]:
        """Yield the envelopes of a part."""
        for bundle in compress(self._bundles(), self._kept.tolist()):
            yield from part_envelopes(bundle, self._shapes, part)

    def _bundles(self) -> Iterator[bytes]:
        """Yield all received bundles, whose lengths were checked when they arrived."""
        for body in read_bodies(self._folder):
            yield from split_bundles(body, self._shapes)


class PieceSource:
    """Pieces received from the preceding hop."""

    def __init__(self, folder: Path, manifest: Manifest, sizes: Sequence[int]) -> None:
        self._folder, self._manifest, self._sizes = folder, manifest, sizes

    @property
    def is_distinct(self) -> bool:
        """Whether no envelope occurs twice: False, because a hop may send a message twice."""
        return False

    def envelopes(self, part: int) -> Iterator[bytes]:
        """Yield the envelopes of a part."""
        size = self._sizes[part]
        for piece in self._manifest.parts[part].pieces:
            data = disk.read_file(self._folder / f"in-{piece.sha256}", "a piece")
            if sha256(data).hexdigest() != piece.sha256:
                raise DataError(
                    f"piece {piece.sha256}",
                    expected="the bytes that were received",
                    got="others",
                    do="check the disk, which has changed or lost them",
                )
            for start in range(0, len(data), size):
                yield data[start : start + size]
