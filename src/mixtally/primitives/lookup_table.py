"""A lookup table that replaces binary search among sorted 64-bit boundaries.

The first twelve bits of a word select a bucket, which rarely contains more than one boundary. Among
a thousand boundaries this takes an eighth of the time of ``np.searchsorted``.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from mixtally.primitives.chance import Words

_BITS = 12
_SHIFT = np.uint64(64 - _BITS)
_LARGEST = np.uint64(0xFFFF_FFFF_FFFF_FFFF)


@dataclass(frozen=True, slots=True, eq=False)
class LookupTable:
    """A table of 2^12 buckets. The bucket of a word is the number in its top twelve bits.

    Attributes
    ----------
    boundaries : array of uint64
        The boundaries, ascending, followed by the largest word as a sentinel.
    boundaries_below : array of int, shape (4096,)
        The number of boundaries in lower buckets.
    crowded : array of bool, shape (4096,)
        The buckets that need a binary search: those with several boundaries, and the last bucket,
        because its largest word equals the sentinel.
    """

    boundaries: Words
    boundaries_below: NDArray[np.int64]
    crowded: NDArray[np.bool_]

    @classmethod
    def from_boundaries(cls, boundaries: Words) -> Self:
        """Build the table for ascending ``boundaries``, shape (boundaries,)."""
        within = np.bincount(_buckets(boundaries), minlength=1 << _BITS)
        crowded = within > 1
        crowded[-1] = True
        padded = np.append(boundaries, _LARGEST)
        return cls(padded, np.cumsum(within) - within, crowded)

    def count_passed(self, words: Words) -> NDArray[np.int64]:
        """Return the number of boundaries at or below each word, as ``searchsorted`` does."""
        buckets = _buckets(words)
        passed = self.boundaries_below.take(
            buckets, mode="clip"
        )  # all in range, and "clip" is the fastest
        passed += self.boundaries.take(passed, mode="clip") <= words
        (unresolved,) = self.crowded.take(buckets, mode="clip").nonzero()
        passed[unresolved] = np.searchsorted(self.boundaries[:-1], words[unresolved], side="right")
        return passed


def _buckets(words: Words) -> NDArray[np.intp]:
    return (words >> _SHIFT).astype(np.intp)
