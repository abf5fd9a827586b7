"""Manifests with invented arrival lists, of as many tags as their numbers say."""

from hashlib import sha256

from mixtally.device.wire.arrivals import MOST_LISTED, ListFile


def invented(counts):
    """Files of lists with so many tags each."""
    return tuple(
        tuple(
            ListFile(
                sha256(f"list {number} from {start}".encode()).hexdigest(),
                min(MOST_LISTED, count - start),
            )
            for start in range(0, count, MOST_LISTED)
        )
        for number, count in enumerate(counts)
    )


def listed(manifest):
    """The manifest with lists that fit its numbers."""
    return manifest._replace(arrivals=invented(manifest.received_counts))
