"""Detection of copies among ciphertexts, by their SHA-256.

A mix removes copies, because a copied envelope would let an attacker mark a person's message.
"""

from collections.abc import Iterator
from hashlib import sha256
from itertools import islice

import numpy as np
from numpy.typing import NDArray

HASH_BYTES = 32
_AT_ONCE = 10_000
_DIGEST = f"S{HASH_BYTES}"
"""NumPy type of a digest.

NumPy ignores zero bytes at the end of such values. All digests have one length, so two values are
equal if and only if the digests are.
"""
Kept = NDArray[np.bool_]
"""Array that is true where an item is not a copy of an earlier one."""


def first_occurrences(digests: bytes | bytearray) -> Kept:
    """Return for each digest whether it occurs for the first time.

    ``digests`` is the concatenation of digests of 32 bytes each.
    """
    rows = np.frombuffer(digests, dtype="<u8").reshape(-1, 4)
    # The sort is stable: among equal digests the first in the input stays the first.
    order = np.lexsort(rows.T)
    kept = np.ones(len(rows), dtype=bool)
    ordered = rows[order]
    kept[order[1:]] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return kept


class Digests:
    """A set of 32-byte digests, stored as a sorted array and built from their concatenation."""

    def __init__(self, some: bytes | bytearray) -> None:
        self._sorted = np.sort(np.frombuffer(some, dtype=_DIGEST))

    def __len__(self) -> int:
        return len(self._sorted)

    def contains_each(self, digests: bytes | bytearray) -> Kept:
        """Return for each digest in a concatenation whether it is in the set."""
        asked = np.frombuffer(digests, dtype=_DIGEST)
        if not len(self):
            return np.zeros(len(asked), dtype=bool)
        place = np.minimum(np.searchsorted(self._sorted, asked), len(self) - 1)
        return np.asarray(self._sorted[place] == asked)


def hash_each(items: Iterator[bytes]) -> bytearray:
    """Return the concatenated SHA-256 digests of some byte strings."""
    held = bytearray()
    # In chunks, so that the digest objects of a large batch never exist at the same time.
    while digested := b"".join([sha256(one).digest() for one in islice(items, _AT_ONCE)]):
        held += digested
    return held
