"""What the manifest of a hop says of its batch."""

from enum import StrEnum

from mixtally.device.wire.manifest import Manifest


class Batch(StrEnum):
    """Whether a batch comes."""

    NONE = "none"
    """There is no manifest yet."""
    PIECES = "pieces"
    DESTROYED = "destroyed"


def said(manifest: tuple[str, Manifest] | None) -> Batch:
    """By a manifest and its SHA-256, or none."""
    if manifest is None:
        return Batch.NONE
    return Batch.PIECES if manifest[1].destroyed is None else Batch.DESTROYED
