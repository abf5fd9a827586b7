"""Counts of many runs at once, drawn from their law instead of message by message.

How many of n independent messages are of which kind is multinomial: a chain of binomials, each
among what the ones before left. Bin(n, p) is drawn as a sum of Bin(2^i, p) over the binary digits
of what n exceeds the least n by, so that a few tables serve every run. A table is inverted by one
64-bit word; its chances are known to about 1e-12, far below what any number of runs can see.
"""

from functools import lru_cache

import numpy as np

from mixtally.ground.bits import Counts
from mixtally.ground.chance import Chance, Words
from mixtally.ground.draw import from_table
from mixtally.ground.fixed import SCALE
from mixtally.ground.tails import Floats, pmf, window


def multinomials(chance: Chance, trials: int, law: Floats, runs: int) -> Counts:
    """How many of ``trials`` messages are of each kind, shape (runs, kinds), a run a row."""
    counts = np.zeros((runs, len(law)), dtype=np.int64)
    order = np.argsort(-law, kind="stable")
    ranked = law[order]
    rest = np.cumsum(ranked[::-1])[::-1]
    left = np.full(runs, trials, dtype=np.int64)
    for place, kind in enumerate(order[:-1]):
        if rest[place] <= 0.0:
            break
        counts[:, kind] = binomials(chance, left, float(ranked[place] / rest[place]))
        left = left - counts[:, kind]
    counts[:, order[-1]] += left
    return counts


def binomials(chance: Chance, trials: Counts, probability: float) -> Counts:
    """One draw of Bin(trials[i], probability) for every i."""
    if probability <= 0.0 or not len(trials):
        return np.zeros_like(trials)
    if probability >= 1.0:
        return trials.copy()
    least = int(trials.min())
    total = _drawn(chance, least, probability, len(trials))
    over = trials - least
    for digit in range(int(over.max(initial=0)).bit_length()):
        some = np.flatnonzero(over >> digit & 1)
        total[some] += _drawn(chance, 1 << digit, probability, len(some))
    return total


def _drawn(chance: Chance, trials: int, probability: float, count: int) -> Counts:
    if not trials:
        return np.zeros(count, dtype=np.int64)
    first, cumulative = _table(trials, probability)
    return first + from_table(chance, cumulative, count)


@lru_cache(maxsize=4096)
def _table(trials: int, probability: float) -> tuple[int, Words]:
    """The least value that may come, and the cumulative chances over 2^64 of all but the last."""
    first, last = window(trials, probability)
    cumulative = np.cumsum(pmf(trials, probability, first, last))
    cumulative /= cumulative[-1]
    edge = np.nextafter(float(SCALE), 0.0)
    return first, np.minimum(cumulative[:-1] * SCALE, edge).astype(np.uint64)
