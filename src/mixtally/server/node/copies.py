"""Which of many ciphertexts came before, by the SHA-256 of each as a whole."""

from collections.abc import Iterator
from hashlib import sha256
from itertools import islice

import numpy as np
from numpy.typing import NDArray

HASH_BYTES = 32
_AT_ONCE = 10_000
_DIGEST = f"S{HASH_BYTES}"
"""NumPy ignores zero bytes at the end of values of this type. All digests have one length, so two
are equal if and only if their values are."""
Kept = NDArray[np.bool_]
"""Which ones are not copies of an earlier one."""


def first_occurrences(digests: bytes | bytearray) -> Kept:
    """Which digests of 32 bytes stand there for the first time, one after the other."""
    rows = np.frombuffer(digests, dtype="<u8").reshape(-1, 4)
    order = np.lexsort(rows.T)
    kept = np.ones(len(rows), dtype=bool)
    ordered = rows[order]
    kept[order[1:]] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return kept


class Digests:
    """A set of digests of 32 bytes, given one after the other, that is held as a sorted array."""

    def __init__(self, some: bytes | bytearray) -> None:
        self._sorted = np.sort(np.frombuffer(some, dtype=_DIGEST))

    def __len__(self) -> int:
        return len(self._sorted)

    def contains_each(self, some: bytes | bytearray) -> Kept:
        """Return for each of some digests, one after the other, whether it is in the set."""
        asked = np.frombuffer(some, dtype=_DIGEST)
        if not len(self):
            return np.zeros(len(asked), dtype=bool)
        place = np.minimum(np.searchsorted(self._sorted, asked), len(self) - 1)
        return np.asarray(self._sorted[place] == asked)


def hash_each(some: Iterator[bytes]) -> bytearray:
    """SHA-256 of each, one after the other."""
    held = bytearray()
    while digested := b"".join([sha256(one).digest() for one in islice(some, _AT_ONCE)]):
        held += digested
    return held
