"""What came, as streams of envelopes: out of bundles at the first hop, out of pieces at others.

Nothing is held but what says which ones are copies: 32 bytes for each while they are compared, one
byte for each afterwards.
"""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import compress, islice
from pathlib import Path
from typing import Protocol

from mixtally.errors import DataError
from mixtally.mixnode.intake import taken_bodies
from mixtally.node import disk
from mixtally.node.copies import HASH_BYTES, digests, not_copies
from mixtally.wire.bundle import COUNT_BYTES, PartShape, envelopes, split
from mixtally.wire.manifest import Manifest


class Source(Protocol):
    """All envelopes that came, part by part."""

    @property
    def distinct(self) -> bool:
        """Whether no envelope can have come twice."""
        ...

    def envelopes(self, part: int) -> Iterator[bytes]:
        """Those of a part, one by one, in the same order every time."""
        ...


class FromBundles:
    """What people sent to the first hop; a bundle that came twice counts once."""

    def __init__(self, folder: Path, shapes: Sequence[PartShape]) -> None:
        self._folder, self._shapes = folder, shapes
        self._fixed = all(shape.least == shape.most for shape in shapes)
        self._length = sum(COUNT_BYTES + shape.most * shape.envelope_bytes for shape in shapes)
        self._kept = not_copies(digests(self._bundles()))

    @property
    def bundles(self) -> int:
        """Different bundles."""
        return int(self._kept.sum())

    def leave_out(self, bad: Sequence[bytes]) -> None:
        """Count no bundle with a bad envelope.

        ``bad`` has the SHA-256 of all of them one after the other, for each part: the same bytes
        may open in another part, and whoever sent them there lost nothing by a stranger's copy.
        """
        known = [{one[i : i + HASH_BYTES] for i in range(0, len(one), HASH_BYTES)} for one in bad]
        for place, bundle in enumerate(self._bundles()):
            parts = zip(envelopes(bundle, self._shapes), known, strict=True)
            if any(sha256(one).digest() in found for held, found in parts for one in held):
                self._kept[place] = False

    @property
    def distinct(self) -> bool:
        """Whether no envelope can have come twice: different bundles hold one each."""
        return self._fixed and [shape.most for shape in self._shapes] == [1]

    def envelopes(self, part: int) -> Iterator[bytes]:
        """Those of a part, one by one."""
        bundles = compress(self._bundles(), self._kept.tolist())
        if self.distinct:
            for bundle in bundles:
                yield bundle[COUNT_BYTES:]
            return
        for bundle in bundles:
            yield from next(islice(envelopes(bundle, self._shapes), part, None))

    def _bundles(self) -> Iterator[bytes]:
        """All that were taken; the intake has looked at their lengths."""
        length = self._length
        for body in taken_bodies(self._folder):
            if not self._fixed:
                yield from split(body, self._shapes).bundles
            elif len(body) == length:
                yield body
            else:
                for start in range(0, len(body), length):
                    yield body[start : start + length]


class FromPieces:
    """What the preceding hop sent."""

    def __init__(self, folder: Path, manifest: Manifest, sizes: Sequence[int]) -> None:
        self._folder, self._manifest, self._sizes = folder, manifest, sizes

    @property
    def distinct(self) -> bool:
        """Whoever sends pieces may repeat what is in them."""
        return False

    def envelopes(self, part: int) -> Iterator[bytes]:
        """Those of a part, one by one."""
        size = self._sizes[part]
        for piece in self._manifest.parts[part].pieces:
            data = disk.read(self._folder / f"in-{piece.sha256}", "a piece")
            if sha256(data).hexdigest() != piece.sha256:
                raise DataError(
                    f"piece {piece.sha256}",
                    wanted="the bytes that came",
                    got="others",
                    do="the disk has lost them: look at it",
                )
            for start in range(0, len(data), size):
                yield data[start : start + size]
