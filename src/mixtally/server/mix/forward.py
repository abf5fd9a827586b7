"""What leaves goes to the next role: each piece under its hash, those it has already not again."""

from pathlib import Path

from mixtally.device.wire.manifest import Manifest
from mixtally.model.roles import Role
from mixtally.server.node import disk
from mixtally.server.node.peers import Peers


def delivered(peers: Peers, role: Role, folder: Path, manifest: Manifest, now: int) -> bool:
    """Send all pieces that the role does not have; whether it has all."""
    for part in manifest.parts:
        for piece in part.pieces:
            path = f"/pieces/{piece.sha256}"
            there = peers.send(role, "HEAD", path, b"", now)
            if there is None:
                return False
            if there.good:
                continue
            data = disk.read(folder / f"out-{piece.sha256}", "a piece")
            answer = peers.send(role, "PUT", path, data, now)
            if answer is None or not answer.good:
                return False
    return True
