"""Counts of many runs at once, drawn from their distribution instead of message by message.

How many of n independent messages are of which kind is multinomial: a chain of binomials, each
among what the ones before left. Bin(n, p) is drawn as a sum of Bin(2^i, p) over the binary digits
of what n exceeds the least n by, so that a few tables serve every run. A table is inverted by one
64-bit word; its chances are known to about 1e-12, far below what any number of runs can see.
"""

from dataclasses import dataclass

import numpy as np

from mixtally.primitives.bits import Counts
from mixtally.primitives.chance import Chance, Words
from mixtally.primitives.draw import draw_from_table
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.memo import Memo
from mixtally.primitives.tails import Floats, pmf, window

MOST_BYTES = 32_000_000
"""Of the tables that several draw from."""


@dataclass(frozen=True, slots=True)
class _Table:
    """The least value that may come, and the cumulative chances over 2^64 of all but the last."""

    first: int
    cumulative: Words

    @property
    def nbytes(self) -> int:
        return self.cumulative.nbytes


class Binomials:
    """Draws from ``chance``; the ``tables`` it makes are kept there, or end with it."""

    def __init__(self, chance: Chance, tables: Memo | None = None) -> None:
        self._chance = chance
        self._tables = Memo(MOST_BYTES) if tables is None else tables

    def __call__(self, trials: Counts, probability: float) -> Counts:
        """One draw of Bin(trials[i], probability) for every i."""
        if probability <= 0.0 or not len(trials):
            return np.zeros_like(trials)
        if probability >= 1.0:
            return trials.copy()
        least = int(trials.min())
        total = self._draw_binomial(least, probability, len(trials))
        over = trials - least
        for digit in range(int(over.max(initial=0)).bit_length()):
            some = np.flatnonzero(over >> digit & 1)
            total[some] += self._draw_binomial(1 << digit, probability, len(some))
        return total

    @property
    def chance(self) -> Chance:
        """What all draws are made of."""
        return self._chance

    def draw_multinomial(self, trials: int | Counts, pmf: Floats, runs: int) -> Counts:
        """How many messages are of each kind, shape (runs, kinds), a run a row.

        Every run has ``trials`` messages, or each its own number of them, shape (runs,).
        """
        counts = np.zeros((runs, len(pmf)), dtype=np.int64)
        order = np.argsort(-pmf, kind="stable")
        ranked = pmf[order]
        rest = np.cumsum(ranked[::-1])[::-1]
        left = np.broadcast_to(np.asarray(trials, dtype=np.int64), runs)
        for place, kind in enumerate(order[:-1]):
            if rest[place] <= 0.0 or not left.any():
                break
            counts[:, kind] = self(left, float(ranked[place] / rest[place]))
            left = left - counts[:, kind]
        counts[:, order[-1]] += left
        return counts

    def _draw_binomial(self, trials: int, probability: float, count: int) -> Counts:
        if not trials:
            return np.zeros(count, dtype=np.int64)
        key = (trials, probability)
        table: _Table = self._tables.get(key, lambda: _build_table(trials, probability))
        return table.first + draw_from_table(self._chance, table.cumulative, count)


def _build_table(trials: int, probability: float) -> _Table:
    first, last = window(trials, probability)
    cumulative = np.cumsum(pmf(trials, probability, first, last))
    cumulative /= cumulative[-1]
    edge = np.nextafter(float(SCALE), 0.0)
    return _Table(first, np.minimum(cumulative[:-1] * SCALE, edge).astype(np.uint64))
