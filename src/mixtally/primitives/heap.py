"""What the allocator does with freed memory."""

import numpy as np

_BYTES = 16_000_000


def keep_freed() -> None:
    """Keeps freed arrays of this process for the next ones, up to some 30 MB.

    glibc gives memory back to the system above a limit that follows the largest block that was ever
    freed. Where arrays of some hundred kilobytes come and go, that costs more than computing with
    them. No page of this block is ever touched; other allocators do not mind.
    """
    np.empty(_BYTES, dtype=np.uint8)
