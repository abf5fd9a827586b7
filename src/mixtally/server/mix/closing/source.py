"""What came, as streams of envelopes: out of bundles at the first hop, out of pieces at others.

Nothing is held but what says which ones are copies: 32 bytes for each while they are compared, one
byte for each afterwards.
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
_BAD = 1 << 32
"""More than any part has slots."""


class Source(Protocol):
    """All envelopes that came, part by part."""

    @property
    def is_distinct(self) -> bool:
        """Whether no envelope can have come twice."""
        ...

    def envelopes(self, part: int) -> Iterator[bytes]:
        """Those of a part, one by one, in the same order every time."""
        ...


class OpenedPart(NamedTuple):
    """The envelopes of a part that hop 1 does not pass on.

    where
      bad       SHA-256 of each that did not open to an envelope for the next hop
      padding   SHA-256 of each that was padding
    """

    bad: bytes
    padding: bytes


class BundleSource:
    """What people sent to the first hop; a bundle that came twice counts once."""

    def __init__(self, folder: Path, shapes: Sequence[PartShape]) -> None:
        self._folder, self._shapes = folder, shapes
        self._kept = first_occurrences(hash_each(self._bundles()))

    @property
    def bundles(self) -> int:
        """Different bundles."""
        return int(self._kept.sum())

    def leave_out(self, opened: Sequence[OpenedPart]) -> list[int]:
        """Count no bundle with a bad envelope, and none with more padding than its part may have.

        A copy of padding in the same part is padding. The same bytes may open in another part:
        bundles that hold them there count.

        Returns
        -------
        list[int]
            For each part, how many slots of the bundles that still count are padding.
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
        """Count the slots of a part that are padding, for each bundle; _BAD where one is bad."""
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
        """Whether no envelope can have come twice: different bundles hold one each."""
        return [shape.slots for shape in self._shapes] == [1]

    def envelopes(self, part: int) -> Iterator[bytes]:
        """Those of a part, one by one."""
        for bundle in compress(self._bundles(), self._kept.tolist()):
            yield from part_envelopes(bundle, self._shapes, part)

    def _bundles(self) -> Iterator[bytes]:
        """All that were taken; the intake has looked at their lengths."""
        for body in read_bodies(self._folder):
            yield from split_bundles(body, self._shapes)


class PieceSource:
    """What the preceding hop sent."""

    def __init__(self, folder: Path, manifest: Manifest, sizes: Sequence[int]) -> None:
        self._folder, self._manifest, self._sizes = folder, manifest, sizes

    @property
    def is_distinct(self) -> bool:
        """Whoever sends pieces may repeat what is in them."""
        return False

    def envelopes(self, part: int) -> Iterator[bytes]:
        """Those of a part, one by one."""
        size = self._sizes[part]
        for piece in self._manifest.parts[part].pieces:
            data = disk.read_file(self._folder / f"in-{piece.sha256}", "a piece")
            if sha256(data).hexdigest() != piece.sha256:
                raise DataError(
                    f"piece {piece.sha256}",
                    expected="the bytes that came",
                    got="others",
                    do="the disk has lost them: look at it",
                )
            for start in range(0, len(data), size):
                yield data[start : start + size]
