"""How good a list of words is, against the truth that only the lab knows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Score:
    """Shares in [0, 1].

    where
      recall      of the true top words, those that were found among the first ``top``
      precision   of the words found, those that are true top words (ties at the end all count)
      ghosts      words found that nobody holds
    """

    recall: float
    precision: float
    ghosts: int


def score(
    found: Sequence[str], vocabulary: Sequence[str], truth: NDArray[np.int64], top: int
) -> Score:
    """The score of ``found`` for the ``top`` most frequent words that anybody holds.

    Words that tie with the last of the true top are right as well, and as many as fit are wanted.
    """
    held = int((truth > 0).sum())
    wanted = min(top, held)
    least = int(np.sort(truth)[::-1][wanted - 1])
    counts = dict(zip(vocabulary, truth.tolist(), strict=True))
    right = sum(counts.get(word, 0) >= least for word in found[:top])
    ghosts = sum(counts.get(word, 0) == 0 for word in found)
    return Score(
        recall=min(1.0, right / wanted),
        precision=right / len(found[:top]) if found else 0.0,
        ghosts=ghosts,
    )
