"""Multinomial counts of many runs at once, drawn from the distribution.

Games call ``Binomials`` to draw counts of messages instead of messages. The counts of the kinds of
n independent messages are multinomial. They are drawn one kind after the other as binomials, each
among the messages that are of no earlier kind. Runs can have different n. If n_0 is the smallest n,
Bin(n, p) is drawn as Bin(n_0, p) plus a sum of Bin(2^i, p) over the binary digits 2^i of n - n_0.
So the same few tables serve all runs. One random 64-bit word selects a value from a table. The
probabilities of a table have an error of about 1e-12, far below what any number of runs can detect.
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
"""The memory limit of all tables together, in bytes."""


@dataclass(frozen=True, slots=True)
class _Table:
    """A binomial distribution: the least value that is drawn, and cumulative probabilities.

    ``cumulative`` has the cumulative probabilities times 2^64 of all drawn values but the last,
    whose entry would be 2^64.
    """

    first: int
    cumulative: Words

    @property
    def nbytes(self) -> int:
        return self.cumulative.nbytes


class Binomials:
    """Binomial draws from a random source, with a cache of tables.

    The tables are discarded together with this object, unless the caller passes a cache.
    """

    def __init__(self, chance: Chance, tables: Memo | None = None) -> None:
        self._chance = chance
        self._tables = Memo(MOST_BYTES) if tables is None else tables

    def __call__(self, trials: Counts, probability: float) -> Counts:
        """Return one draw of Bin(trials[i], probability) for every i."""
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
        """The random source of all draws."""
        return self._chance

    def draw_multinomial(self, trials: int | Counts, pmf: Floats, runs: int) -> Counts:
        """Return the number of messages of each kind, shape (runs, kinds).

        ``trials`` is the number of messages of every run, or has a number for each run.
        """
        counts = np.zeros((runs, len(pmf)), dtype=np.int64)
        # Frequent kinds come first, so that few messages are left for the rest.
        order = np.argsort(-pmf, kind="stable")
        ranked = pmf[order]
        rest = np.cumsum(ranked[::-1])[::-1]
        remaining = np.broadcast_to(np.asarray(trials, dtype=np.int64), runs)
        for place, kind in enumerate(order[:-1]):
            if rest[place] <= 0.0 or not remaining.any():
                break
            counts[:, kind] = self(remaining, float(ranked[place] / rest[place]))
            remaining = remaining - counts[:, kind]
        counts[:, order[-1]] += remaining
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
    # The tails of the distribution were cut off, so its probabilities are scaled to the sum 1.
    cumulative /= cumulative[-1]
    # 2^64 itself does not fit in 64 bits.
    edge = np.nextafter(float(SCALE), 0.0)
    return _Table(first, np.minimum(cumulative[:-1] * SCALE, edge).astype(np.uint64))
