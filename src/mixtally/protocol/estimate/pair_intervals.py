"""Intervals for pairs of bits: how many people have both, their table and their correlation.

``conclude.pairs`` calls this module. A message shows one of four *patterns* of two bits: neither is
set, the first, the second, or both. The estimate of each number is a sum, over messages, of a value
that depends on the shown pattern. Conditionally on the true bits, messages are independent. So the
cumulants of the estimate are sums of the cumulants of single messages, and ``cornish_fisher_ends``
computes intervals from them.

A pair that nobody has is shown only because of flips, and the expected number of such messages may
be below one. The count of such a pair has the tails of a Poisson variable. For example, among 3,000
messages flipped with q = .014 half a message is expected for each pair. Among 1,770 such pairs,
some pair is almost certainly shown four times. The normal approximation would expect this in one of
10,000 collections. Cornish-Fisher ends, rounded outwards to whole people, cover at every mean and
for tails down to 1e-9.
"""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mixtally.model.mechanism import Shuffled
from mixtally.primitives.tails import Floats
from mixtally.protocol.estimate.cumulants import cornish_fisher_ends
from mixtally.protocol.estimate.item_sets import flip_matrices
from mixtally.protocol.estimate.two_by_two import TwoByTwo

_Ends = tuple[Floats, Floats]
_CELLS = (3, 1, 2, 0)
"""The indices of the patterns in the order of a table's cells: both bits, only the first, only the
second, neither."""
# Pairs whose cumulants are computed at a time, to limit memory.
_SPAN = 1 << 16


class PairIntervals:
    """Intervals for pairs of bits, from the number of messages with each pattern.

    ``patterns`` has these numbers, shape (pairs, 4). ``people`` is the number of people who sent
    messages. The error probability 1 - ``level`` is divided among ``among`` intervals (Bonferroni).
    """

    def __init__(
        self,
        mechanism: Shuffled,
        patterns: NDArray[np.int64],
        *,
        people: int,
        level: float,
        among: int = 1,
    ) -> None:
        self._mechanism, self._patterns, self._people = mechanism, patterns, people
        self._show, self._invert = flip_matrices(mechanism, patterns)
        self._tail = (1.0 - level) / 2.0 / among

    def both(self) -> _Ends:
        """Return the ends for the number of people with both bits, each of shape (pairs,)."""
        return self._count_ends(self._unbiased_patterns[:, -1], self._invert[-1])

    def tables(self, found: TwoByTwo) -> _Ends:
        """Return the interval ends of the four cells, each of shape (pairs, 4)."""
        counts = found.counts * self._mechanism.repeats
        cells = [
            self._count_ends(counts[:, cell], self._invert[pattern])
            for cell, pattern in enumerate(_CELLS)
        ]
        lower, upper = (np.stack(each, axis=1) for each in zip(*cells, strict=True))
        return lower, upper

    def correlations(self, found: TwoByTwo) -> _Ends:
        """Return the interval ends of the correlations, each of shape (pairs,)."""
        one, two = (self._invert[single] + self._invert[-1] for single in (1, 2))
        least, most = self._find_deviations(found.slopes @ np.array([self._invert[-1], one, two]))
        lower, upper = found.correlations - most, found.correlations - least
        return np.clip(lower, -1.0, 1.0), np.clip(upper, -1.0, 1.0)

    @cached_property
    def _unbiased_patterns(self) -> Floats:
        """The unbiased number of messages that have each pattern, shape (pairs, 4)."""
        unbiased: Floats = self._patterns @ self._invert.T
        return unbiased

    def _count_ends(self, counts: Floats, values: Floats) -> _Ends:
        """Return the interval ends, as numbers of people, around ``counts``.

        A count is the sum over messages of ``values``, which has a value for each shown pattern.
        """
        least, most = self._find_deviations(values)
        times = self._mechanism.repeats
        lower = np.floor((counts - most) / times)
        upper = np.ceil((counts - least) / times)
        return np.clip(lower, 0.0, self._people), np.clip(upper, 0.0, self._people)

    def _find_deviations(self, values: Floats) -> _Ends:
        """Return the lower and the upper quantile of the deviation of a sum from its mean.

        The sum is over messages, each of which adds the value of the pattern that it shows.

        ``values`` has the value of each shown pattern, shape (4,), or (pairs, 4) if pairs differ.
        """
        clipped, sums = np.maximum(self._unbiased_patterns, 0.0), [np.zeros((3, 0))]
        for begin in range(0, len(clipped), _SPAN):
            span = slice(begin, begin + _SPAN)
            cumulants = self._message_cumulants(values if values.ndim == 1 else values[span])
            sums.append(np.sum(clipped[span] * cumulants.reshape(3, -1, 4), axis=-1))
        second, third, fourth = np.concatenate(sums, axis=1)
        return cornish_fisher_ends(second, third, fourth, self._tail)

    def _message_cumulants(self, values: Floats) -> Floats:
        """Return the second to fourth cumulant of a message's value, for each true pattern.

        The value of a message is that of the pattern that it shows. The result has shape (3, 4) or
        (3, pairs, 4).
        """
        away = values[..., :, None] - (values @ self._show)[..., None, :]
        second, third, fourth = (np.sum(away**order * self._show, axis=-2) for order in (2, 3, 4))
        return np.stack([second, third, fourth - 3.0 * second**2])
