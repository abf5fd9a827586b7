"""Exact draws from uniform words: bounded integers, permutations and tabulated distributions."""

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import AccountingError
from mixtally.primitives.chance import Chance, Words

Integers = NDArray[np.int64]
# All keys are drawn again while two of them are equal. If every draw has equal keys, the source of
# randomness is broken. The first number is the least number of draws before this is concluded. If
# the keys are few, there are as many draws as give about the second number of keys in total.
_MOST_TIES, _MOST_KEYS = 64, 4096


def draw_below(chance: Chance, bound: int, count: int) -> Integers:
    """Draw ``count`` independent uniform integers in [0, bound), for a bound in [1, 2^63).

    A word at or above the largest multiple of ``bound`` is drawn again, so there is no modulo bias.
    """
    limit = (1 << 64) // bound * bound  # 2^64 itself when the bound divides it: nothing is rejected
    words = chance.words(count)
    if limit < 1 << 64:
        while (rejected := np.flatnonzero(words >= np.uint64(limit))).size:
            words[rejected] = chance.words(rejected.size)
    return (words % np.uint64(bound)).astype(np.int64)


def draw_permutation(chance: Chance, count: int) -> NDArray[np.intp]:
    """Draw a uniform permutation of 0..count-1, as the order of ``count`` distinct uniform keys.

    If the keys are distinct, every order is equally likely. If two are equal (probability below
    count^2 / 2^65), all keys are drawn again. Raise AccountingError if every draw has ties. With
    true randomness and fewer than 2^32 keys this happens with probability at most 2^-64.
    """
    most = max(_MOST_TIES, _MOST_KEYS // max(1, count))
    for _ in range(most):
        if (order := _order_keys(chance.words(count))) is not None:
            return order
    raise AccountingError(
        f"permutation: expected distinct random keys, got two equal ones in each of {most:,} draws "
        f"of {count:,} keys. The random source repeats itself, so no privacy can be promised."
    )


def _order_keys(keys: Words) -> NDArray[np.intp] | None:
    """Return the order of ``keys``, or None if two of them are equal.

    Sorting keys whose low bits are replaced by their index takes a quarter of the time of
    ``argsort``. Afterwards the few keys that differ only in their low bits are sorted again.
    """
    low = np.uint64((1 << max(1, (len(keys) - 1).bit_length())) - 1)
    placed = keys & ~low
    placed |= np.arange(len(keys), dtype=np.uint64)
    placed.sort()
    (alike,) = (placed[1:] ^ placed[:-1] <= low).nonzero()
    placed &= low
    order = placed.astype(np.intp)
    if alike.size and not _sort_ties(order, np.union1d(alike, alike + 1), keys):
        return None
    return order


def _sort_ties(order: NDArray[np.intp], places: NDArray[np.intp], keys: Words) -> bool:
    """Sort the entries at ``places`` by their whole keys, in place; return whether the keys differ.

    ``order`` is already sorted by the top bits of the keys. Keys with equal top bits are still in
    their original order, and ``places`` are their places in ``order``.
    """
    some = order[places]
    some = some[np.argsort(keys[some])]
    order[places] = some
    ranked = keys[some]
    return not np.any(ranked[1:] == ranked[:-1])


def draw_from_table(chance: Chance, cumulative: Words, count: int) -> Integers:
    """Draw ``count`` values from a tabulated distribution.

    Parameters
    ----------
    chance : Chance
        The source of random words.
    cumulative : array of uint64
        Cumulative probabilities times 2^64, ascending: value k has probability
        (cumulative[k] - cumulative[k-1]) / 2^64. The last entry, 2^64, is left out because it does
        not fit into a word.
    count : int
        The number of independent draws.
    """
    return np.searchsorted(cumulative, chance.words(count), side="right").astype(np.int64)
