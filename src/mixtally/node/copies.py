"""Which of many ciphertexts came before, by the SHA-256 of each as a whole."""

from collections.abc import Iterator
from hashlib import sha256
from itertools import islice

import numpy as np
from numpy.typing import NDArray

HASH_BYTES = 32
_AT_ONCE = 10_000
Kept = NDArray[np.bool_]
"""Which ones are not copies of an earlier one."""


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
    while digested := b"".join([sha256(one).digest() for one in islice(some, _AT_ONCE)]):
        held += digested
    return held
