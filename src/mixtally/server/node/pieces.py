"""The pieces that came for a round: files that their SHA-256 names, checked before they have it."""

import threading
from hashlib import sha256
from pathlib import Path

from mixtally.device.wire.manifest import Manifest
from mixtally.device.wire.problem import Problem
from mixtally.server.node import disk
from mixtally.server.node.disk import Step, no_step
from mixtally.server.node.refusal import ProblemError


class Pieces:
    """The pieces that may come, and those that came; threads may share them.

    Several rounds may name the same: whoever reads a manifest can name its pieces in one of
    another contract, and must not turn them aside by that.
    """

    def __init__(self, folder: Path, step: Step = no_step) -> None:
        self._folder, self._step = folder, step
        self._named: dict[str, dict[str, int]] = {}
        """SHA-256 -> round -> bytes that it names."""
        self._missing: dict[str, set[str]] = {}
        """Round -> those that have not come."""
        self._turn = threading.Lock()

    def expect(self, round_id: str, manifest: Manifest, sizes: list[int]) -> None:
        """Take what a manifest names; ``sizes`` are those of envelopes, a part each."""
        disk.make_folder(self._folder / round_id)
        there = {path.name.removeprefix("in-") for path in (self._folder / round_id).glob("in-*")}
        named = {piece.sha256 for part in manifest.parts for piece in part.pieces}
        with self._turn:
            self._missing[round_id] = named - there
            for part, size in zip(manifest.parts, sizes, strict=True):
                for piece in part.pieces:
                    known = self._named.get(piece.sha256, {})
                    self._named[piece.sha256] = known | {round_id: piece.messages * size}

    def forget(self, round_id: str) -> None:
        """Take no more for a round; what was being written is there when this returns."""
        with self._turn:
            left = {
                name: {one: size for one, size in rounds.items() if one != round_id}
                for name, rounds in self._named.items()
            }
            self._named = {name: rounds for name, rounds in left.items() if rounds}
            self._missing.pop(round_id, None)

    def max_bytes(self, name: str) -> int | None:
        """Bytes of a piece at most; None for one that nobody named."""
        rounds = self._named.get(name)
        return None if rounds is None else max(rounds.values())

    def has_piece(self, name: str) -> bool:
        """Whether a piece came, to all who named it."""
        rounds = self._named.get(name, {})
        return bool(rounds) and all(self.path(one, name).exists() for one in rounds)

    def count_missing(self, round_id: str, manifest: Manifest) -> int:
        """How many pieces that a manifest names have yet to come."""
        missing = self._missing.get(round_id)
        if missing is not None:
            return len(missing)
        return sum(
            not self.path(round_id, piece.sha256).exists()
            for part in manifest.parts
            for piece in part.pieces
        )

    def put(self, name: str, data: bytes) -> None:
        """Keep a piece, on the disk.

        Raises ProblemError for one that nobody named and for bytes that its name is not of.
        """
        right = sha256(data).hexdigest() == name
        with self._turn:
            named = self._named.get(name)
            if named is None:
                raise ProblemError(Problem.NOT_NAMED)
            rounds = [one for one, size in named.items() if size == len(data)]
            if not right or not rounds:
                raise ProblemError(Problem.WRONG_DIGEST, "the name of a piece is its SHA-256")
            for one in rounds:
                disk.put(self.path(one, name), data, "a piece")
                self._missing[one].discard(name)
        self._step("after piece in")

    def path(self, round_id: str, name: str) -> Path:
        """Where a piece that came lies."""
        return self._folder / round_id / f"in-{name}"
