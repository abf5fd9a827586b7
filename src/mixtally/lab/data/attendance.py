"""Attendance of people in epochs, one bit for each pair of a person and an epoch.

If only counts are needed, nothing else about people is kept in memory. Attendance shows whether a
person answers twice in an epoch, and how many people take part in 1, 2, .. epochs. The memory
depends on the number of people, not of rows.
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
    """The epochs in which each person answered; people and epochs are numbered as they are read."""

    def __init__(self) -> None:
        self._numbers: defaultdict[str, int] = defaultdict(count().__next__)
        self._seen = np.zeros((1, 1), dtype=np.uint8)

    def add(self, people: Sequence[str], epochs: NDArray[np.int32]) -> int | None:
        """Add rows, given the person and the epoch number of each.

        Returns
        -------
        int or None
            The first row, from 0, whose person already answered in that epoch. No row of the batch
            is added then.
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
        # Within one bit no two rows share a byte, so that no assignment overwrites another.
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

        The second number is the position of an epoch in which one person answered twice, under two
        names of the epoch. It is None if nobody did.

        Parameters
        ----------
        place : ndarray of int64
            The position in time of each epoch, by the number of the epoch. One moment in two time
            zones has two names, and so two numbers, but one position.
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
