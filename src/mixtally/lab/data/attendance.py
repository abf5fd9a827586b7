"""Attendance of people in epochs, one bit for each pair of a person and an epoch.

When only counts are needed, the readers keep these bits and no records of people in memory. The
bits show whether a person answers twice in an epoch, and how many people take part in 1, 2, ..
epochs. Their size depends on the numbers of people and epochs, not on the number of rows.
"""

from collections import defaultdict
from collections.abc import Sequence
from itertools import count

import numpy as np
from numpy.typing import NDArray

from mixtally.primitives.bits import spans

_AT_ONCE = 1 << 14
"""Number of people whose bits are counted at a time."""


class Attendance:
    """The epochs in which each person answered; people are numbered from 0 as they are read."""

    def __init__(self) -> None:
        self._numbers: defaultdict[str, int] = defaultdict(count().__next__)
        self._seen = np.zeros((1, 1), dtype=np.uint8)

    def add(self, people: Sequence[str], epochs: NDArray[np.int32]) -> int | None:
        """Record that person ``people[i]`` answered in epoch ``epochs[i]``, for every row i.

        Returns
        -------
        int or None
            The index of the first row whose person already answered in the epoch of the row. In
            this case no row is added. None if all rows were added.
        """
        if not len(epochs):
            return None
        who = np.array([*map(self._numbers.__getitem__, people)], dtype=np.int64)
        self._grow(len(self._numbers), int(epochs.max()) // 8 + 1)
        byte, bit = np.divmod(epochs, 8)
        again = (self._seen[who, byte] >> bit & 1).astype(np.bool_)
        # Two rows of this batch may also repeat each other, which the bits do not show yet.
        pairs = who * (int(epochs.max()) + 1) + epochs
        ordered = np.sort(pairs)
        if (ordered[1:] == ordered[:-1]).any():
            later = np.ones(len(pairs), dtype=np.bool_)
            later[np.unique(pairs, return_index=True)[1]] = False
            again |= later
        if again.any():
            return int(np.argmax(again))
        # NumPy applies only one of several updates of the same byte. Rows with the same bit number
        # are in different bytes, because no pair of person and epoch occurs twice.
        for one in np.unique(bit).tolist():
            in_bit = bit == one
            self._seen[who[in_bit], byte[in_bit]] |= np.uint8(1 << one)
        return None

    def _grow(self, people: int, width: int) -> None:
        rows, columns = self._seen.shape
        if people <= rows and width <= columns:
            return
        # Growing by a half keeps the number of copies logarithmic in the number of people.
        rows = rows if people <= rows else max(people, rows + rows // 2)
        grown = np.zeros((rows, max(width, columns)), dtype=np.uint8)
        grown[: self._seen.shape[0], :columns] = self._seen
        self._seen = grown

    def times(self, place: NDArray[np.int64]) -> tuple[dict[int, int], int | None]:
        """Return how many people took part in 1, 2, .. epochs, and an epoch with a second answer.

        Parameters
        ----------
        place : ndarray of int64
            The position in time of each epoch, indexed by the epoch numbers that ``add`` received.
            The same moment in two time zones has two names, so two numbers, but one position.

        Returns
        -------
        dict of int to int
            The number of people by the number of epochs in which they took part.
        int or None
            The position of an epoch in which a person answered twice, under two names of the epoch.
            None if there is no such epoch.
        """
        every = int(place.max(initial=-1)) + 1
        total, twice = np.zeros(every + 1, dtype=np.int64), None
        for some in spans(len(self._numbers), _AT_ONCE):
            bits = np.unpackbits(self._seen[some], axis=1, bitorder="little")[:, : len(place)]
            met = np.zeros((every, len(bits)), dtype=np.uint8)
            np.add.at(met, place[: bits.shape[1]], bits.T)
            many = (met > 1).any(axis=1)
            if twice is None and many.any():
                twice = int(np.argmax(many))
            total += np.bincount((met > 0).sum(axis=0), minlength=every + 1)
        return {k: many for k, many in enumerate(total.tolist()) if k and many}, twice
