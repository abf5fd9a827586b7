"""Exact draws from uniform words: integers below a bound, permutations, tables of integers."""

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import AccountingError
from mixtally.primitives.chance import Chance, Words

Integers = NDArray[np.int64]
_MOST_TIES, _MOST_KEYS = 64, 4096
"""Draws of keys, or keys where few are drawn at a time, before randomness is taken to be broken."""


def draw_below(chance: Chance, bound: int, count: int) -> Integers:
    """``count`` independent uniform integers in [0, bound), bound in [1, 2^63); no modulo bias.

    A word at or above the largest multiple of ``bound`` is drawn again.
    """
    limit = (1 << 64) // bound * bound  # 2^64 itself when the bound divides it: nothing is rejected
    words = chance.words(count)
    if limit < 1 << 64:
        while (rejected := np.flatnonzero(words >= np.uint64(limit))).size:
            words[rejected] = chance.words(rejected.size)
    return (words % np.uint64(bound)).astype(np.int64)


def draw_permutation(chance: Chance, count: int) -> NDArray[np.intp]:
    """A uniform permutation of 0..count-1: the order of ``count`` distinct uniform keys.

    Given that the keys are distinct every order is equally likely, so a tie (chance below
    count^2 / 2^65) throws all keys away. Raises AccountingError when ties come again and again:
    below 2^32 keys true randomness does that with a chance of at most 2^-64.
    """
    most = max(_MOST_TIES, _MOST_KEYS // max(1, count))
    for _ in range(most):
        if (order := _order_keys(chance.words(count))) is not None:
            return order
    raise AccountingError(
        f"permutation: {most:,} draws of {count:,} keys all had two alike: the words of its chance "
        "repeat, so they hide nothing, and nothing may be promised"
    )


def _order_keys(keys: Words) -> NDArray[np.intp] | None:
    """The order of ``keys``; None where two are alike.

    Keys are sorted with their low bits replaced by their places, in a quarter of the time that
    ``argsort`` takes; then those few that only the low bits tell apart are put right.
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
    """Order what stands at ``places`` by whole keys, in place; whether no two of these are alike.

    Runs of keys with the same top bits stand where they belong, each in the order it came in.
    """
    some = order[places]
    some = some[np.argsort(keys[some])]
    order[places] = some
    ranked = keys[some]
    return not np.any(ranked[1:] == ranked[:-1])


def draw_from_table(chance: Chance, cumulative: Words, count: int) -> Integers:
    """``count`` draws of k with probability (cumulative[k] - cumulative[k-1]) / 2^64.

    ``cumulative`` is ascending and leaves out its last entry, which is 2^64.
    """
    return np.searchsorted(cumulative, chance.words(count), side="right").astype(np.int64)
