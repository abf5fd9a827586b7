"""Detection of copies among ciphertexts, in memory that hardly grows with their number.

A mix removes copies, because an attacker could copy a person's envelope and recognize its message
by the number of copies. Each search draws a key and computes a digest of every item under this key.
Equal items are adjacent when digests are sorted. Senders do not know the key, so they cannot
construct a collision. The probability that any two of n different items have equal digests is below
n^2 / 2^129, which is 2^-62 for 10^10 items.

The search needs one byte of memory per item, and at most ``most`` bytes for digests.

Source: RFC 7693, keyed BLAKE2b.
"""

from collections.abc import Iterator
from hashlib import blake2b
from itertools import chain, islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mixtally.primitives.chance import Chance
from mixtally.server.engine.sorting import MOST_HELD_BYTES, Sorter
from mixtally.server.node.wrapping import secret_bytes

POSITION_BYTES = 8
"""Length of a stored position."""
_DIGEST_BYTES = 16
_AT_ONCE = 10_000
Mask = NDArray[np.bool_]
Positions = NDArray[np.int64]


class Copies:
    """The copies in a sequence of byte strings.

    The attribute ``first`` is a mask that is True for each item that is not a copy of an earlier
    one. If digests need more than ``most`` bytes, they are written to ``folder``, encrypted with a
    key from ``chance``.
    """

    def __init__(
        self, items: Iterator[bytes], folder: Path, chance: Chance, most: int = MOST_HELD_BYTES
    ) -> None:
        keyed = blake2b(digest_size=_DIGEST_BYTES, key=secret_bytes(chance, 32))
        sorter = Sorter(folder, POSITION_BYTES, chance, most, _DIGEST_BYTES)
        count = 0
        # In chunks, so that only some of the digest objects of a large batch exist at a time.
        while digests := b"".join([_digest(keyed, one) for one in islice(items, _AT_ONCE)]):
            end = count + len(digests) // _DIGEST_BYTES
            sorter.add(digests, pack_positions(np.arange(count, end)))
            count = end
        self.first: Mask = np.ones(count, dtype=bool)
        for copies, _ in _find_pairs(sorter):
            self.first[copies] = False
        # Without copies the digests are no longer needed.
        self._sorters = [] if self.first.all() else [sorter]

    def pairs(self) -> Iterator[tuple[Positions, Positions]]:
        """Yield the positions of copies and of their first occurrences, many at a time."""
        return chain.from_iterable(map(_find_pairs, self._sorters))


def _find_pairs(sorter: Sorter) -> Iterator[tuple[Positions, Positions]]:
    for rows, order in sorter.ordered_buckets(keep=True):
        words = rows[order, :_DIGEST_BYTES].view("<u8")
        is_copy = np.zeros(len(order), dtype=bool)
        is_copy[1:] = (words[1:] == words[:-1]).all(axis=1)
        copies = np.flatnonzero(is_copy)
        if len(copies):
            # Sorting keeps the order of equal digests, so the first of them is the original.
            starts = np.maximum.accumulate(np.where(is_copy, 0, np.arange(len(order))))
            places = unpack_positions(rows[order, _DIGEST_BYTES:])
            yield places[copies], places[starts[copies]]


def pack_positions(positions: Positions) -> bytes:
    """Return positions as concatenated bytes."""
    return positions.astype("<i8", copy=False).tobytes()


def unpack_positions(rows: NDArray[np.uint8]) -> Positions:
    """Return the positions in the rows of an array, each row being the bytes of one position."""
    return np.ascontiguousarray(rows).view("<i8").reshape(-1).astype(np.int64, copy=False)


def _digest(keyed: blake2b, item: bytes) -> bytes:
    one = keyed.copy()
    one.update(item)
    return one.digest()
