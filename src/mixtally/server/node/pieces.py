"""Pieces received for a round: files of messages, named by their verified SHA-256."""

import threading
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path

from mixtally.device.wire.manifest import Manifest, Piece
from mixtally.device.wire.problem import Problem
from mixtally.errors import DataError
from mixtally.server.node import disk
from mixtally.server.node.disk import Step, no_step
from mixtally.server.node.refusal import ProblemError


class Pieces:
    """The pieces that rounds expect and those received; threads may share an instance.

    Several rounds may expect the same piece, and a received piece is stored for all of them.
    Otherwise anyone could divert pieces, by copying their hashes into the manifest of another
    contract.
    """

    def __init__(self, folder: Path, step: Step = no_step) -> None:
        self._folder, self._step = folder, step
        self._named: dict[str, dict[str, int]] = {}
        """For each SHA-256 of a piece and each round that expects it, the length in bytes."""
        self._missing: dict[str, set[str]] = {}
        """For each round, the SHA-256 of the pieces that were not received yet."""
        self._turn = threading.Lock()

    def expect(self, round_id: str, manifest: Manifest, sizes: list[int]) -> None:
        """Accept the pieces that a manifest names.

        ``sizes`` contains the length of an envelope in bytes, for each part in the manifest.
        """
        disk.make_folder(self._folder / round_id)
        received = {
            path.name.removeprefix("in-") for path in (self._folder / round_id).glob("in-*")
        }
        named = {piece.sha256 for part in manifest.parts for piece in part.pieces}
        with self._turn:
            self._missing[round_id] = named - received
            for part, size in zip(manifest.parts, sizes, strict=True):
                for piece in part.pieces:
                    known = self._named.get(piece.sha256, {})
                    self._named[piece.sha256] = known | {round_id: piece.messages * size}

    def forget(self, round_id: str) -> None:
        """Accept no more pieces for a round.

        A piece that is being written is on disk when the method returns.
        """
        with self._turn:
            kept = {
                name: {one: size for one, size in rounds.items() if one != round_id}
                for name, rounds in self._named.items()
            }
            self._named = {name: rounds for name, rounds in kept.items() if rounds}
            self._missing.pop(round_id, None)

    def max_bytes(self, name: str) -> int | None:
        """Return the maximum size of a piece in bytes, or None if no manifest names it."""
        rounds = self._named.get(name)
        return None if rounds is None else max(rounds.values())

    def has_piece(self, name: str) -> bool:
        """Return whether every round that expects the piece has received it."""
        rounds = self._named.get(name, {})
        return bool(rounds) and all(self.path(one, name).exists() for one in rounds)

    def count_missing(self, round_id: str, manifest: Manifest) -> int:
        """Return how many pieces named by a manifest have not been received."""
        missing = self._missing.get(round_id)
        if missing is not None:
            return len(missing)
        return sum(
            not self.path(round_id, piece.sha256).exists()
            for part in manifest.parts
            for piece in part.pieces
        )

    def missing_bytes(self, except_round: str) -> int:
        """Return the total size in bytes of the pieces that other rounds have not yet received."""
        with self._turn:
            return sum(
                self._named[name][round_id]
                for round_id, names in self._missing.items()
                for name in names
                if round_id != except_round
            )

    def put(self, name: str, data: bytes) -> None:
        """Store a piece durably for every round that expects it.

        Raises ProblemError if no manifest names the piece, or its SHA-256 or length is wrong.
        """
        right = sha256(data).hexdigest() == name
        # Held while writing, so that ``forget`` returns only when no file of its round is being
        # written.
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
        """Return the path of a received piece."""
        return self._folder / round_id / f"in-{name}"


def read_envelopes(folder: Path, pieces: Iterable[Piece], size: int) -> Iterator[bytes]:
    """Yield the envelopes of ``size`` bytes in the received pieces of a round's folder.

    Raises DataError if the disk has lost or changed a piece.
    """
    for piece in pieces:
        data = disk.read_file(folder / f"in-{piece.sha256}", "a piece")
        if sha256(data).hexdigest() != piece.sha256 or len(data) != piece.messages * size:
            raise DataError(
                f"piece {piece.sha256}",
                expected="the bytes that were received",
                got="others",
                do="check the disk, which has changed or lost them",
            )
        for start in range(0, len(data), size):
            yield data[start : start + size]
