"""What the manifest of a hop says of its batch."""

from enum import StrEnum

from mixtally.device.wire.manifest import Manifest


class BatchStatus(StrEnum):
    """Whether a batch comes."""

    NONE = "none"
    """There is no manifest yet."""
    PIECES = "pieces"
    DESTROYED = "destroyed"


def batch_status(manifest: tuple[str, Manifest] | None) -> BatchStatus:
    """By a manifest and its SHA-256, or none."""
    if manifest is None:
        return BatchStatus.NONE
    return BatchStatus.PIECES if manifest[1].destroyed is None else BatchStatus.DESTROYED
