"""The pieces that came for a round: files that their SHA-256 names, checked before they have it."""

from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from mixtally.node import disk
from mixtally.node.disk import Step, no_step
from mixtally.node.refusal import ProblemError
from mixtally.wire.manifest import Manifest
from mixtally.wire.problem import Problem


class Named(NamedTuple):
    """A piece that the preceding hop's manifest names: whose, and how long."""

    round_id: str
    bytes: int


class Pieces:
    """The pieces that may come, and those that came."""

    def __init__(self, folder: Path, step: Step = no_step) -> None:
        self._folder, self._step = folder, step
        self._named: dict[str, Named] = {}

    def expect(self, round_id: str, manifest: Manifest, sizes: list[int]) -> None:
        """Take what a manifest names; ``sizes`` are those of envelopes, a part each."""
        disk.make_folder(self._folder / round_id)
        for part, size in zip(manifest.parts, sizes, strict=True):
            for piece in part.pieces:
                self._named[piece.sha256] = Named(round_id, piece.messages * size)

    def forget(self, round_id: str) -> None:
        """Take no more for a round."""
        self._named = {
            name: named for name, named in self._named.items() if named.round_id != round_id
        }

    def named(self, name: str) -> Named | None:
        """What is expected under a name."""
        return self._named.get(name)

    def there(self, name: str) -> bool:
        """Whether a piece came."""
        named = self._named.get(name)
        return named is not None and self.path(named.round_id, name).exists()

    def missing(self, round_id: str, manifest: Manifest) -> int:
        """How many pieces that a manifest names have yet to come."""
        return sum(
            not self.path(round_id, piece.sha256).exists()
            for part in manifest.parts
            for piece in part.pieces
        )

    def put(self, name: str, data: bytes) -> None:
        """Keep a piece, on the disk.

        Raises ProblemError for one that nobody named and for bytes that its name is not of.
        """
        named = self._named.get(name)
        if named is None:
            raise ProblemError(Problem.NOT_NAMED)
        if len(data) != named.bytes or sha256(data).hexdigest() != name:
            raise ProblemError(Problem.WRONG_DIGEST, "the name of a piece is its SHA-256")
        disk.put(self.path(named.round_id, name), data, "a piece")
        self._step("after piece in")

    def path(self, round_id: str, name: str) -> Path:
        """Where a piece that came lies."""
        return self._folder / round_id / f"in-{name}"
