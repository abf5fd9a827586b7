"""Detection of rankings that are read as sets.

A set forgets the order of its labels. ``lab.data.forms.sets`` passes every text that it splits to
`RankingWatch`, and asks it for a warning at the end.
"""

import numpy as np
from numpy.typing import NDArray

_TEXTS = 10_000
"""Number of distinct texts whose order is examined."""


class RankingWatch:
    """Evidence that the texts of a column are rankings.

    The texts look like rankings if all have the same number of labels, and if at least one pair of
    labels occurs in both orders. Survey tools write ticked labels in the order of the options, so
    two labels always occur in the same order. Lists that people write freely have different numbers
    of labels.
    """

    def __init__(self) -> None:
        self._size = 0
        self._looked_at = 0
        self._mixed = False
        self._pairs = np.zeros((0, 2), dtype=np.int64)

    def take(self, sizes: NDArray[np.int64], labels: NDArray[np.int32]) -> None:
        """Examine distinct texts.

        ``sizes`` has the number of labels of each text, and ``labels`` the label numbers of all
        texts, one text after the other.
        """
        if self._mixed or len(sizes) == 0:
            return
        first = self._size or int(sizes[0])
        self._mixed, self._size = bool((sizes != first).any()), first
        remaining = _TEXTS - self._looked_at
        if self._mixed or first < 2 or remaining <= 0:
            return
        rows = labels.reshape(-1, first)[:remaining].astype(np.int64)
        before, after = np.triu_indices(first, 1)
        pairs = np.stack([rows[:, before].ravel(), rows[:, after].ravel()], axis=1)
        self._pairs = np.unique(np.concatenate([self._pairs, pairs]), axis=0)
        self._looked_at += len(rows)

    def warning(self) -> str:
        """Return a warning if the texts look like rankings, otherwise an empty text."""
        if self._mixed or len(self._pairs) == 0:
            return ""
        first, second = self._pairs.T
        # Each ordered pair becomes one integer, so that reversed pairs are found by membership.
        base = int(self._pairs.max()) + 1
        different = first != second
        forth, back = (first * base + second)[different], (second * base + first)[different]
        if not np.isin(forth, back).any():
            return ""
        return (
            f"all sets have {self._size} labels, in different orders: if they are rankings, a set "
            "forgets the order; count the first choices in a separate column, or whole "
            "rankings as answers without --set"
        )
