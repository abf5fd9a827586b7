"""From a person's word to its bin in one round: which extension of a published prefix it is.

With m prefixes of equal length, an alphabet of A symbols and L of them asked for, bin i A^L + s is
prefix i followed by the symbols that are the digits of s, the first the most significant; the last
bin is everything else. A round has the same number of bins whatever the prefixes are; bins of
prefixes that are not there belong to nobody. A round that *closes* the words puts into bin
i A^L + s only those that end after these symbols; longer ones are everything else.
"""

import numpy as np
from numpy.typing import NDArray

from mixtally.device.contract.spelling import END
from mixtally.protocol.encode.spelling import Symbols


def extension_bins(
    symbols: Symbols,
    prefixes: Symbols,
    size: int,
    bins: int,
    *,
    level: int = 1,
    closing: bool = False,
) -> NDArray[np.int64]:
    """The bin of every word, shape (words,).

    where
      symbols    shape (words, at least depth + level, one more when closing), as spelled
      prefixes   shape (m, depth), distinct, none of them ended
      size       symbols of the alphabet
      bins       bins of the round, more than m * size^level
      level      symbols that are asked for
    """
    depth = prefixes.shape[1]
    weights = size ** np.arange(level - 1, -1, -1, dtype=np.int64)
    followed = symbols[:, depth : depth + level].astype(np.int64) @ weights
    counted = symbols[:, depth + level] == END if closing else np.ones(len(symbols), dtype=bool)
    if depth == 0:
        return np.where(counted, followed, bins - 1)
    known, words = _keys(prefixes), _keys(symbols[:, :depth])
    order = np.argsort(known)
    place = np.minimum(np.searchsorted(known[order], words), len(known) - 1)
    found = order[place]
    counted &= known[found] == words
    return np.where(counted, found * size**level + followed, bins - 1)


def _keys(symbols: Symbols) -> NDArray[np.bytes_]:
    """Rows as byte strings. These drop ends at their end, which no prefix has, so none collide."""
    return np.ascontiguousarray(symbols).view(f"S{symbols.shape[1]}").reshape(-1)


def extend_prefixes(
    prefixes: Symbols, bins: NDArray[np.int64], size: int, level: int = 1
) -> Symbols:
    """The extensions that are the given ``bins``, shape (bins, depth + level)."""
    parent, followed = np.divmod(bins, size**level)
    symbols = [(followed // size**place % size).astype(np.uint8) for place in range(level)]
    return np.column_stack([prefixes[parent], *reversed(symbols)])
