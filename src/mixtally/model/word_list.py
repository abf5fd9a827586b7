"""The words that are looked up in an open domain, each with the point that the hash gives it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import DataError

_NAMED = 3
"""The maximum number of words that the label of a line shows."""


@dataclass(frozen=True, slots=True, eq=False)
class WordList:
    """The words to look up in an open domain, each with its point.

    Words that share a point form one *line*. The count of a line is the number of people who have
    any of its words.

    Raises DataError if the words have fewer than two points.

    Attributes
    ----------
    words : tuple of str
        Distinct words with at least two different points.
    points : array of int, shape (words,)
        The point of each word.
    """

    words: tuple[str, ...]
    points: NDArray[np.int64]

    def __post_init__(self) -> None:
        if len(self.lines) < 2:
            raise DataError(
                "words to look for",
                expected="at least two",
                got=f"{len(self.words):,}",
                do="look for one word more",
            )

    @property
    def lines(self) -> NDArray[np.int64]:
        """The distinct points, in the order in which their first words stand in ``words``."""
        points, first = np.unique(self.points, return_index=True)
        return points[np.argsort(first)]  # np.unique sorts by point; restore the given order

    @property
    def line_of(self) -> NDArray[np.int64]:
        """The index of the line of each word, shape (words,)."""
        place = {point: line for line, point in enumerate(self.lines.tolist())}
        return np.array([place[point] for point in self.points.tolist()], dtype=np.int64)

    @property
    def labels(self) -> tuple[str, ...]:
        """The label of each line: its word, or some of the words that share its point."""
        meeting: list[list[str]] = [[] for _ in self.lines]
        for word, line in zip(self.words, self.line_of.tolist(), strict=True):
            meeting[line].append(word)
        return tuple(map(_join_words, meeting))


def _join_words(words: Sequence[str]) -> str:
    more = len(words) - _NAMED
    return " + ".join(words[:_NAMED]) + (f" + {more} more" if more > 0 else "")
