"""Status of the batch that a hop announces in its manifest."""

from enum import StrEnum

from mixtally.device.wire.manifest import Manifest


class BatchStatus(StrEnum):
    """Whether a hop sends a batch in a round, according to its manifest."""

    NONE = "none"
    """There is no manifest of the hop yet."""
    PIECES = "pieces"
    DESTROYED = "destroyed"


def batch_status(manifest: tuple[str, Manifest] | None) -> BatchStatus:
    """Return the status of the batch that a manifest describes.

    ``manifest`` is the SHA-256 of the manifest's text and the manifest, or None.
    """
    if manifest is None:
        return BatchStatus.NONE
    return BatchStatus.PIECES if manifest[1].destroyed is None else BatchStatus.DESTROYED
