"""The bin of a word in one round of a prefix search: a published prefix and the symbols after it.

The search for frequent words in ``lab.simulation`` calls this module for every round. A round
publishes m prefixes of equal length over an alphabet of A symbols, and asks for the next L symbols.
These L symbols are the digits of a number s in base A, the most significant first. Bin i A^L + s
contains the words that begin with prefix i and continue with the L symbols of s. The last bin
contains all other words. The number of bins is the same in all rounds: if fewer than the maximum
number of prefixes are published, some bins stay empty. In a *closing* round, bin i A^L + s contains
only words that end after the L symbols. Longer words are in the last bin.
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
    """Return the number of the bin of every word, shape (words,).

    Parameters
    ----------
    symbols : array of uint8
        The spelled words, shape (words, length). The length is at least depth + level, or at least
        depth + level + 1 if ``closing``.
    prefixes : array of uint8
        The published prefixes, shape (m, depth). They are all different and contain no end symbol.
    size : int
        The number of symbols of the alphabet.
    bins : int
        The number of bins of the round, more than m * size^level.
    level : int
        The number of symbols that the round asks for.
    closing : bool
        Whether only words that end after these symbols are counted.
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
    """Return the rows as byte strings, so that whole rows can be compared.

    NumPy drops trailing zero bytes of such strings. No prefix contains a zero, the symbol that ends
    a word, so different prefixes keep different strings.
    """
    return np.ascontiguousarray(symbols).view(f"S{symbols.shape[1]}").reshape(-1)


def extend_prefixes(
    prefixes: Symbols, bins: NDArray[np.int64], size: int, level: int = 1
) -> Symbols:
    """Return, for each bin, its prefix extended by the symbols that the bin stands for.

    The result has shape (bins, depth + level).

    Parameters
    ----------
    prefixes : Symbols
        The prefixes as symbols, shape (prefixes, depth).
    bins : ndarray of int64
        The numbers of the bins, as ``extension_bins`` returns them, without the last bin.
    size : int
        The number of symbols of the alphabet.
    level : int
        The number of symbols that are added.
    """
    parent, followed = np.divmod(bins, size**level)
    symbols = [(followed // size**place % size).astype(np.uint8) for place in range(level)]
    return np.column_stack([prefixes[parent], *reversed(symbols)])
