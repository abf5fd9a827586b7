"""Options of an estimation: the level of intervals, and what is derived in addition to counts.

The command line and Python build an ``Analysis`` from a user's request, and ``conclude`` reads it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import ParameterError, not_one_of, not_together
from mixtally.model.estimates import Tally
from mixtally.model.question import Kind, Question
from mixtally.model.word_list import WordList
from mixtally.protocol.estimate.intervals import check_level


def nearest_histogram(counts: NDArray[np.float64], total: float) -> NDArray[np.float64]:
    """Return the point of {x >= 0, sum x = total} that is nearest to ``counts``, shape (bins,).

    The distance is Euclidean. This projection (norm-sub) subtracts the same amount from all counts,
    and sets those to zero that would become negative. The result is biased, because small counts
    move to zero. The projection is therefore shown next to the unbiased estimate and never replaces
    it.

    Source: Wang et al., Locally Differentially Private Frequency Estimation with Consistency
    (2020), section 4.4.
    """
    falling = np.sort(counts)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(counts) + 1)
    kept = int(np.flatnonzero(falling > excess)[-1])
    nearest: NDArray[np.float64] = np.maximum(counts - excess[kept], 0.0)
    return nearest


MOST_COMPARED = 40
"""The largest number of labels whose counts are compared with each other."""
Projection = Callable[[NDArray[np.float64], float], NDArray[np.float64]]
"""A function of counts and their known sum that returns projected counts, shape (bins,)."""
Groups = Sequence[tuple[str, Sequence[str]]]
"""For each group of labels whose counts are added up: the name of the group, and its labels."""
PointingCounts = tuple[NDArray[np.int64], float]
"""Two results of counting messages that name planes. A message points at every word in its plane.
The first is the number of messages that point at each word. The second is the sum, over messages,
of the squared number of words at which a message points."""
MapPieces = Callable[[Callable[[Tally], PointingCounts], Sequence[Tally]], Iterable[PointingCounts]]
"""A function like ``map``: it applies a function to pieces of a tally and keeps their order."""
PROJECTIONS: dict[str, Projection] = {"simplex": nearest_histogram}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Analysis:
    """The options of one estimation, or of every estimation in a series of collections.

    Raises ParameterError for a level outside (0, 1), for an unknown projection, and for a
    projection of raw counts.

    Attributes
    ----------
    level : float
        The confidence level of all intervals, in (0, 1).
    projection : str or None
        With "simplex", the result also has the nearest histogram (``nearest_histogram``).
    raw : bool
        Whether estimates ignore the number of people, even if it is the known sum of the counts.
    listed : WordList or None
        The words to look for, if the question has an open domain.
    across : callable
        A function that is called like ``map``, with a function and pieces of a tally. It may
        distribute the calls over several processes.
    shares : bool
        Whether counts are also shown as shares of the people who took part.
    pairs : bool
        Whether to count how many people have both of two bits.
    compared : tuple of str
        The labels whose counts are compared with each other, in pairs.
    totals : tuple
        For each group of labels whose counts are added up: its name and its labels. No label is in
        two groups.
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
            raise not_together(
                "projection",
                "--project",
                ["--no-project"],
                "leave one of them out: a projection needs the sum that raw counts leave out",
            )

    def check_sums(self, question: Question) -> None:
        """Raise ParameterError if a projection is requested and the counts have no known sum."""
        summed = question.kind is Kind.ONE or question.attributes is not None
        if self.projection and not summed:
            raise ParameterError(
                "projection",
                expected="counts that add up to the crowd",
                got=f"records of kind {question.kind}",
                do="leave it out: a person may be in any number of these bins",
            )

    def check_listed(self, question: Question) -> None:
        """Raise ParameterError if the question is open and no words are listed."""
        if question.hashed is not None and self.listed is None:
            raise ParameterError(
                "words to look for",
                expected="a list of them, as the question is open",
                got="none",
                do="list words, one a line: the same messages answer any list",
            )

    def check_compared(self, question: Question) -> None:
        """Raise ParameterError if the question lacks one of the labels to compare or to add up."""
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
        """Project the counts of each attribute; return None if no projection is requested.

        Raises ParameterError as ``check_sums`` does.
        """
        if self.projection is None:
            return None
        self.check_sums(question)
        project, ends = PROJECTIONS[self.projection], np.cumsum(question.attributes or ())[:-1]
        pieces = np.split(counts, ends.tolist())
        return np.concatenate([project(piece, float(people)) for piece in pieces])


def places_of(every: Sequence[str], labels: Sequence[str]) -> list[int]:
    """Return the number of the bin of each of ``labels``. ``every`` has the labels of all bins.

    Raises ParameterError for an unknown or repeated label, and for fewer than 2 or more than 40
    labels.
    """
    if len(labels) != len(set(labels)) or not 2 <= len(labels) <= MOST_COMPARED:
        raise ParameterError(
            "labels to compare",
            expected=f"from 2 to {MOST_COMPARED} different ones",
            got=", ".join(labels[:3]) + ", .." * (len(labels) > 3),
            do="name each of them once",
        )
    known = {label: place for place, label in enumerate(every)}
    spelled = [normalize("NFC", label) for label in labels]  # the form of a question's labels
    for label in spelled:
        if label not in known:
            raise not_one_of("labels to compare", label, every[:MOST_COMPARED])
    return [known[label] for label in spelled]


def bins_of_groups(every: Sequence[str], groups: Groups) -> list[list[int]]:
    """Return, for each group of labels, the numbers of its bins.

    ``every`` has the labels of all bins, and ``groups`` the name and the labels of each group.
    Raises ParameterError for an unknown label, a label in two places, and an empty group.
    """
    known = {label: place for place, label in enumerate(every)}
    group_of: dict[str, str] = {}
    found = []
    for name, labels in groups:
        if not labels:
            raise _totals_error("a label in each group", f"none in {name!r}", "leave the group out")
        spelled = [normalize("NFC", label) for label in labels]  # the form of a question's labels
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


# The default options: counts with 95 % intervals, and nothing else.
COUNTS_ALONE = Analysis()
