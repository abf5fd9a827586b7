"""What came, as streams of envelopes: out of bundles at the first hop, out of pieces at others.

Nothing is held but what says which ones are copies: 32 bytes for each while they are compared, one
byte for each afterwards.
"""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import DataError
from mixtally.mixnode.intake import taken_bodies
from mixtally.node import disk
from mixtally.wire.bundle import PartShape, envelopes, split
from mixtally.wire.manifest import Manifest

Kept = NDArray[np.bool_]
"""Which ones are not copies of an earlier one."""


class Source(Protocol):
    """All envelopes that came, part by part."""

    def envelopes(self, part: int) -> Iterator[bytes]:
        """Those of a part, one by one, in the same order every time."""
        ...


def not_copies(digests: bytes | bytearray) -> Kept:
    """Which digests of 32 bytes stand there for the first time, one after the other."""
    rows = np.frombuffer(digests, dtype="<u8").reshape(-1, 4)
    order = np.lexsort(rows.T)
    kept = np.ones(len(rows), dtype=bool)
    ordered = rows[order]
    kept[order[1:]] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return kept


def digests(some: Iterator[bytes]) -> bytearray:
    """SHA-256 of each, one after the other."""
    held = bytearray()
    for one in some:
        held += sha256(one).digest()
    return held


class FromBundles:
    """What people sent to the first hop; a bundle that came twice counts once."""

    def __init__(self, folder: Path, shapes: Sequence[PartShape]) -> None:
        self._folder, self._shapes = folder, shapes
        self._kept = not_copies(digests(self._bundles()))

    @property
    def bundles(self) -> int:
        """Different bundles."""
        return int(self._kept.sum())

    def envelopes(self, part: int) -> Iterator[bytes]:
        """Those of a part, one by one."""
        if len(self._shapes) == 1:
            shape = self._shapes[0]
            if shape.least == shape.most == 1:
                for bundle, kept in zip(self._bundles(), self._kept.tolist(), strict=True):
                    if kept:
                        yield bundle[-shape.envelope_bytes :]
                return
        for bundle, kept in zip(self._bundles(), self._kept.tolist(), strict=True):
            if kept:
                for place, own in enumerate(envelopes(bundle, self._shapes)):
                    if place == part:
                        yield from own

    def _bundles(self) -> Iterator[bytes]:
        for body in taken_bodies(self._folder):
            yield from split(body, self._shapes).bundles


class FromPieces:
    """What the preceding hop sent."""

    def __init__(self, folder: Path, manifest: Manifest, sizes: Sequence[int]) -> None:
        self._folder, self._manifest, self._sizes = folder, manifest, sizes

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
