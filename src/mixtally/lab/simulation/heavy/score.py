"""How good a list of words is, against the truth that only the lab knows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


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


def score(found: Sequence[str], held: Mapping[str, int], top: int) -> Score:
    """Return the score of ``found`` for the ``top`` most frequent words that anybody holds.

    ``held`` says how many people hold each word.

    Words that tie with the last of the true top are right as well, and as many as fit are wanted.
    """
    first = sorted((count for count in held.values() if count), reverse=True)[:top]
    wanted, least = len(first), first[-1]
    right = sum(held.get(word, 0) >= least for word in found[:top])
    ghosts = sum(held.get(word, 0) == 0 for word in found)
    return Score(
        recall=min(1.0, right / wanted),
        precision=right / len(found[:top]) if found else 0.0,
        ghosts=ghosts,
    )
