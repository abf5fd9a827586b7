"""Intervals of what pairs of bits say: how many people have both, their table, their correlation.

Each of these numbers is a sum, over messages, of a value of the pattern (neither, one, the other,
both) that a message shows. Given the truth, messages are independent: the cumulants of the sum are
sums of a message's, and ``cumulants.ends`` knows its tails.

A pair that nobody has is made by few flips, often fewer than one, so that its count has a Poisson
number's tails: of 3,000 messages flipped with q = .014 half a pair is made by chance, and of 1,770
pairs some is made four times, which to the normal approximation is one collection in 10,000. The
bent one with ends rounded outwards, to whole people, holds at every mean, at tails down to 1e-9.
"""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mixtally.model.mechanism import Shuffled
from mixtally.protocol.estimate.cumulants import cornish_fisher_ends
from mixtally.protocol.estimate.item_sets import flip_matrices
from mixtally.protocol.estimate.two_by_two import TwoByTwo

_Floats = NDArray[np.float64]
_Ends = tuple[_Floats, _Floats]
_CELLS = (3, 1, 2, 0)
"""The patterns of a table's cells: both, only the first, only the second, neither."""
_SPAN = 1 << 16


class PairIntervals:
    """Those of the pairs whose ``patterns`` were counted, shape (pairs, 4).

    where
      people   who sent messages
      level    the confidence, in (0, 1)
      among    how many numbers share the error allowed (Bonferroni); 1 gives each the whole of it
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
        """Ends of how many people have both, whole numbers, shape (pairs,) each."""
        return self._count_ends(self._unbiased_patterns[:, -1], self._invert[-1])

    def tables(self, found: TwoByTwo) -> _Ends:
        """Ends of the four cells, shape (pairs, 4) each."""
        counts = found.counts * self._mechanism.repeats
        cells = [
            self._count_ends(counts[:, cell], self._invert[pattern])
            for cell, pattern in enumerate(_CELLS)
        ]
        lower, upper = (np.stack(each, axis=1) for each in zip(*cells, strict=True))
        return lower, upper

    def correlations(self, found: TwoByTwo) -> _Ends:
        """Ends of the correlations, shape (pairs,) each."""
        one, two = (self._invert[single] + self._invert[-1] for single in (1, 2))
        least, most = self._find_deviations(found.slopes @ np.array([self._invert[-1], one, two]))
        lower, upper = found.correlations - most, found.correlations - least
        return np.clip(lower, -1.0, 1.0), np.clip(upper, -1.0, 1.0)

    @cached_property
    def _unbiased_patterns(self) -> _Floats:
        """Messages holding each pattern, unbiased, shape (pairs, 4)."""
        held: _Floats = self._patterns @ self._invert.T
        return held

    def _count_ends(self, counts: _Floats, values: _Floats) -> _Ends:
        """Whole numbers of people around ``counts`` of messages that sum such ``values``."""
        least, most = self._find_deviations(values)
        times = self._mechanism.repeats
        lower = np.floor((counts - most) / times)
        upper = np.ceil((counts - least) / times)
        return np.clip(lower, 0.0, self._people), np.clip(upper, 0.0, self._people)

    def _find_deviations(self, values: _Floats) -> _Ends:
        """What a sum of ``values`` of shown patterns exceeds its mean by at least and at most.

        ``values`` are those of the patterns, shape (4,), or (pairs, 4) where pairs differ.
        """
        held, sums = np.maximum(self._unbiased_patterns, 0.0), [np.zeros((3, 0))]
        for begin in range(0, len(held), _SPAN):
            span = slice(begin, begin + _SPAN)
            cumulants = self._message_cumulants(values if values.ndim == 1 else values[span])
            sums.append(np.sum(held[span] * cumulants.reshape(3, -1, 4), axis=-1))
        second, third, fourth = np.concatenate(sums, axis=1)
        return cornish_fisher_ends(second, third, fourth, self._tail)

    def _message_cumulants(self, values: _Floats) -> _Floats:
        """The second to fourth cumulant of the value it shows, by the pattern it holds.

        Shape (3, 4), or (3, pairs, 4).
        """
        away = values[..., :, None] - (values @ self._show)[..., None, :]
        second, third, fourth = (np.sum(away**order * self._show, axis=-2) for order in (2, 3, 4))
        return np.stack([second, third, fourth - 3.0 * second**2])
