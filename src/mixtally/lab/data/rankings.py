"""Rankings that are read as sets, which forget the order of their labels.

``lab.data.forms.sets`` shows every text that it splits to ``RankingWatch`` and asks it for a
warning.
"""

import numpy as np
from numpy.typing import NDArray

_TEXTS = 10_000
"""Distinct texts whose order is looked at."""


class RankingWatch:
    """Whether all texts list equally many labels, and some list two labels in either order.

    Tools write the labels that somebody ticked in the order of the options, so that two labels
    occur in one order only. People who write a free list do not write equally many.
    """

    def __init__(self) -> None:
        self._size = 0
        self._looked_at = 0
        self._mixed = False
        self._pairs = np.zeros((0, 2), dtype=np.int64)

    def take(self, sizes: NDArray[np.int64], labels: NDArray[np.int32]) -> None:
        """Look at distinct texts: how many labels each has, and all labels one after the other."""
        if self._mixed or len(sizes) == 0:
            return
        first = self._size or int(sizes[0])
        self._mixed, self._size = bool((sizes != first).any()), first
        left = _TEXTS - self._looked_at
        if self._mixed or first < 2 or left <= 0:
            return
        rows = labels.reshape(-1, first)[:left].astype(np.int64)
        before, after = np.triu_indices(first, 1)
        pairs = np.stack([rows[:, before].ravel(), rows[:, after].ravel()], axis=1)
        self._pairs = np.unique(np.concatenate([self._pairs, pairs]), axis=0)
        self._looked_at += len(rows)

    def warning(self) -> str:
        """Return a warning where the texts look like rankings; empty otherwise."""
        if self._mixed or len(self._pairs) == 0:
            return ""
        first, second = self._pairs.T
        base = int(self._pairs.max()) + 1
        different = first != second
        forth, back = (first * base + second)[different], (second * base + first)[different]
        if not np.isin(forth, back).any():
            return ""
        return (
            f"all sets have {self._size} labels, in different orders: if they are rankings, a set "
            "forgets the order; count the first choices in a column of their own, or whole "
            "rankings as answers without --set"
        )
