"""Where words stand among ascending boundaries: a table by their top bits instead of a search.

A word's first twelve bits leave hardly ever more than one boundary to compare it with. Among a
thousand boundaries that takes an eighth of the time of a search, and gives the same.
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
    """A table of 2^12 buckets, the top bits of a word being the number of its bucket.

    where
      boundaries   ascending, and behind them the largest word, which only a word of the last
                   bucket could pass
      below        how many boundaries lie below each bucket
      crowded      which buckets are left to a search: those that hold several boundaries, and the
                   last
    """

    boundaries: Words
    below: NDArray[np.int64]
    crowded: NDArray[np.bool_]

    @classmethod
    def from_boundaries(cls, boundaries: Words) -> Self:
        """The table of ``boundaries``, ascending, shape (boundaries,)."""
        within = np.bincount(_buckets(boundaries), minlength=1 << _BITS)
        crowded = within > 1
        crowded[-1] = True
        padded = np.append(boundaries, _LARGEST)
        return cls(padded, np.cumsum(within) - within, crowded)

    def count_passed(self, words: Words) -> NDArray[np.int64]:
        """How many boundaries are at or below each of ``words``, as a search from the right."""
        buckets = _buckets(words)
        passed = self.below.take(buckets, mode="clip")  # nothing is out of range: clip is faster
        passed += self.boundaries.take(passed, mode="clip") <= words
        (left,) = self.crowded.take(buckets, mode="clip").nonzero()
        passed[left] = np.searchsorted(self.boundaries[:-1], words[left], side="right")
        return passed


def _buckets(words: Words) -> NDArray[np.intp]:
    return (words >> _SHIFT).astype(np.intp)
