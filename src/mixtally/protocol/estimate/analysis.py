"""What is expected of tallies: the level of intervals, and what is derived beside the counts."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import ParameterError, not_one_of
from mixtally.model.estimates import Tally
from mixtally.model.question import Kind, Question
from mixtally.model.word_list import WordList
from mixtally.protocol.estimate.intervals import check_level


def nearest_histogram(counts: NDArray[np.float64], total: float) -> NDArray[np.float64]:
    """The point of {x >= 0, sum x = total} nearest to ``counts`` (norm-sub), shape (bins,).

    All counts give up the same amount and those that would fall below zero become zero. Biased:
    small counts are pulled to zero, so it stands beside the unbiased estimate.

    Source: Wang et al., Locally Differentially Private Frequency Estimation with Consistency
    (2020), section 4.4.
    """
    falling = np.sort(counts)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(counts) + 1)
    kept = int(np.flatnonzero(falling > excess)[-1])
    nearest: NDArray[np.float64] = np.maximum(counts - excess[kept], 0.0)
    return nearest


MOST_COMPARED = 40
"""Labels that are compared with each other at once."""
Projection = Callable[[NDArray[np.float64], float], NDArray[np.float64]]
Groups = Sequence[tuple[str, Sequence[str]]]
"""A name and its labels for each group whose counts are added up."""
PointingCounts = tuple[NDArray[np.int64], float]
"""How many messages point at each word, and the sum of the squares of how many words each names."""
MapPieces = Callable[[Callable[[Tally], PointingCounts], Sequence[Tally]], Iterable[PointingCounts]]
"""Applies a function to pieces of a tally and keeps their order, as ``map`` does."""
PROJECTIONS: dict[str, Projection] = {"simplex": nearest_histogram}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Analysis:
    """What is expected of one collection, or of each of several.

    where
      level        confidence level of all intervals, in (0, 1)
      projection   None, or "simplex" for the nearest histogram, beside the unbiased counts
      raw          whether counts are shown that do not use how many people there are
      listed       words that are looked for, where the question is open; None for none
      across       counts the words in pieces of the tally: ``map``, or other processes as well
      shares       whether counts are also shown as shares of the people who took part
      pairs        whether messages are counted for how many people have both of two bits
      compared     labels whose counts are compared with each other
      totals       groups whose counts are added up: a name and its labels, no label in two groups

    Raises ParameterError for a level outside (0, 1) or an unknown projection.
    """

    level: float = 0.95
    projection: str | None = None
    raw: bool = False
    listed: WordList | None = None
    across: MapPieces = map
    shares: bool = False
    pairs: bool = False
    compared: tuple[str, ...] = ()
    totals: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def __post_init__(self) -> None:
        check_level(self.level)
        if self.projection is not None and self.projection not in PROJECTIONS:
            unbiased = "leave it out for the unbiased counts"
            raise not_one_of("projection", self.projection, list(PROJECTIONS), unbiased)
        if self.projection is not None and self.raw:
            raise ParameterError(
                "projection",
                expected="one of --project and --no-project",
                got="both",
                do="leave one of them out: a projection needs the sum that raw counts leave out",
            )

    def check_sums(self, question: Question) -> None:
        """Raises ParameterError for a projection of counts that have no known sum."""
        summed = question.kind is Kind.ONE or question.attributes is not None
        if self.projection and not summed:
            raise ParameterError(
                "projection",
                expected="counts that add up to the crowd",
                got=f"records of kind {question.kind}",
                do="leave it out: a person may be in any number of these bins",
            )

    def check_listed(self, question: Question) -> None:
        """Raises ParameterError where words are not listed though the question is open."""
        if question.hashed is not None and self.listed is None:
            raise ParameterError(
                "words to look for",
                expected="a list of them, as the question is open",
                got="none",
                do="list words, one a line: the same messages answer any list",
            )

    def check_compared(self, question: Question) -> None:
        """Raise ParameterError for labels to compare or add up that the question does not have."""
        if not self.compared and not self.totals:
            return
        if question.hashed is None:
            every = [question.label(place) for place in range(question.bins)]
        else:
            every = list(self.listed.labels) if self.listed is not None else []
        if self.compared:
            places_of(every, self.compared)
        bins_of_groups(every, self.totals)

    def project_counts(
        self, question: Question, counts: NDArray[np.float64], people: int
    ) -> NDArray[np.float64] | None:
        """``counts`` projected, every attribute by itself; None where that is not expected.

        Raises as ``check_sums``.
        """
        if self.projection is None:
            return None
        self.check_sums(question)
        project, ends = PROJECTIONS[self.projection], np.cumsum(question.attributes or ())[:-1]
        pieces = np.split(counts, ends.tolist())
        return np.concatenate([project(piece, float(people)) for piece in pieces])


def places_of(every: Sequence[str], labels: Sequence[str]) -> list[int]:
    """The bins of ``labels`` among those of ``every`` bin.

    Raises ParameterError for a label there is not, one that is named twice, one alone or too many.
    """
    if len(labels) != len(set(labels)) or not 2 <= len(labels) <= MOST_COMPARED:
        raise ParameterError(
            "labels to compare",
            expected=f"from 2 to {MOST_COMPARED} different ones",
            got=", ".join(labels[:3]) + ", .." * (len(labels) > 3),
            do="name each of them once",
        )
    known = {label: place for place, label in enumerate(every)}
    spelled = [normalize("NFC", label) for label in labels]  # as labels are
    for label in spelled:
        if label not in known:
            raise not_one_of("labels to compare", label, every[:MOST_COMPARED])
    return [known[label] for label in spelled]


def bins_of_groups(every: Sequence[str], groups: Groups) -> list[list[int]]:
    """Return the bins of each group among those of ``every`` bin.

    Raises ParameterError for a label there is not, one that is named twice, and an empty group.
    """
    known = {label: place for place, label in enumerate(every)}
    group_of: dict[str, str] = {}
    found = []
    for name, labels in groups:
        if not labels:
            raise _totals_error("a label in each group", f"none in {name!r}", "leave the group out")
        spelled = [normalize("NFC", label) for label in labels]  # as labels are
        for label in spelled:
            if label not in known:
                raise not_one_of("labels of totals", label, every[:MOST_COMPARED])
            if label in group_of:
                both = f"{label!r} in {group_of[label]!r} and in {name!r}"
                raise _totals_error("each label once, in one group", both, "remove one of the two")
            group_of[label] = name
        found.append([known[label] for label in spelled])
    return found


def _totals_error(expected: str, got: str, do: str) -> ParameterError:
    return ParameterError("labels of totals", expected=expected, got=got, do=do)


COUNTS_ALONE = Analysis()
