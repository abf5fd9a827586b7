"""Figures of pairs of bits in one message: how many people have both, tables and correlations.

``conclude`` calls ``pairs_and_tables`` for tallies that count pairs.
"""

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from mixtally.model.estimates import Figures, Row, Tally
from mixtally.model.mechanism import Shuffled
from mixtally.model.question import Kind, Question
from mixtally.primitives.draw import Integers
from mixtally.primitives.tails import Floats
from mixtally.protocol.estimate.item_sets import patterns_of_pairs
from mixtally.protocol.estimate.pair_intervals import PairIntervals
from mixtally.protocol.estimate.two_by_two import TwoByTwo, joint_counts, two_by_two

# Rows of a figure; tables use ``_CELLS`` rows for each pair.
MOST_ROWS = 1000
_CELLS = 4
_LEFT_OUT = (
    "The others have a bit that, within the noise, nearly nobody or nearly everybody may have. "
)


def pairs_and_tables(
    question: Question, mechanism: Shuffled, tally: Tally, level: float
) -> list[Figures]:
    """Estimate joint counts, correlations and 2 x 2 tables of all pairs of bits.

    Each figure has at most a thousand rows. The pairs with the largest counts or the strongest
    correlations come first. The figures of correlations and of tables are omitted if the noise is
    too large to estimate any correlation.
    """
    if mechanism.flip_threshold is None or tally.pairs is None:
        raise TypeError(f"{mechanism.name}: expected messages of bits whose pairs were counted")
    seen = _CountedPairs(question, mechanism, tally, level, *list_pairs(question))
    derived = [_correlation_figures(seen)]
    if question.kind is Kind.BITS:
        derived.append(_table_figures(seen))
    return [_pair_figures(seen), *(one for one in derived if one.rows)]


@dataclass(frozen=True, slots=True, eq=False)
class _CountedPairs:
    """The pairs of bins (first[k], second[k]) of a question, and a tally with counts of pairs."""

    question: Question
    mechanism: Shuffled
    tally: Tally
    level: float
    first: Integers
    second: Integers

    @property
    def pair_counts(self) -> Integers:
        """The number of messages that set both bits of each pair, shape (bins, bins).

        The diagonal has the number of messages that set each single bit.
        """
        assert self.tally.pairs is not None
        return self.tally.pairs

    def select(self, places: Integers | slice) -> "_CountedPairs":
        """Return only the pairs with the indices ``places``."""
        return replace(self, first=self.first[places], second=self.second[places])

    def tables(self) -> TwoByTwo:
        """Return the tables and correlations of the pairs."""
        messages = self.tally.messages
        return two_by_two(self.mechanism, self.pair_counts, messages, self.first, self.second)

    def intervals(self, among: int = 1) -> PairIntervals:
        """Return confidence intervals that hold for each pair, or for several pairs simultaneously.

        ``among`` is the number of pairs for which the intervals hold simultaneously; 1 for
        individual intervals.
        """
        pairs, messages = np.column_stack([self.first, self.second]), self.tally.messages
        return PairIntervals(
            self.mechanism,
            patterns_of_pairs(self.pair_counts, pairs, messages),
            people=self.mechanism.people_among(messages),
            level=self.level,
            among=among,
        )

    def label(self, k: int) -> tuple[str, tuple[int, int]]:
        """Return the label of the row of pair ``k``, and the numbers of the pair's two bins."""
        i, j = int(self.first[k]), int(self.second[k])
        return f"{self.question.label(i)} & {self.question.label(j)}", (i, j)


def list_pairs(question: Question) -> tuple[Integers, Integers]:
    """Return the pairs of bins i < j that one person can have, as an array of i and an array of j.

    If the question has attributes, the bins of a pair belong to two attributes.
    """
    if question.attributes is None:
        first, second = np.triu_indices(question.bins, 1)
        return first.astype(np.int64), second.astype(np.int64)
    ends = np.cumsum([0, *question.attributes])
    grids = [
        np.meshgrid(np.arange(ends[a], ends[a + 1]), np.arange(ends[b], ends[b + 1]), indexing="ij")
        for a, b in combinations(range(len(question.attributes)), 2)
    ]
    return (
        np.concatenate([left.ravel() for left, _ in grids]),
        np.concatenate([right.ravel() for _, right in grids]),
    )


def _pair_figures(seen: _CountedPairs) -> Figures:
    """Return the figure of the pairs of bits that the most people have, by the estimated counts."""
    every = len(seen.first)
    joint = joint_counts(seen.mechanism, seen.pair_counts, seen.tally.messages)
    counts = joint.counts[seen.first, seen.second]
    order = np.argsort(-counts, kind="stable")[:MOST_ROWS]
    low, high = seen.intervals(every).both()
    shown, counts = seen.select(order), counts[order]
    errors = joint.errors[shown.first, shown.second]
    ends = (*shown.intervals().both(), low[order], high[order])
    return Figures(
        "pairs",
        f"{seen.question.name}: how many people have both",
        f"{every:,} pairs, {100 * seen.level:g} % for each alone. Counting all pairs at once, "
        f"{int(np.count_nonzero(low)):,} are distinguishable from zero.",
        *_pair_rows(shown, counts, errors, ends),
    )


def _correlation_figures(seen: _CountedPairs) -> Figures:
    """Return the figure of the correlations that can be estimated, the strongest first."""
    every = len(seen.first)
    seen = seen.select(np.flatnonzero(~np.isnan(seen.tables().correlations)))
    estimable, found = len(seen.first), seen.tables()
    low, high = seen.intervals(every).correlations(found)
    order = np.argsort(-np.abs(found.correlations), kind="stable")[:MOST_ROWS]
    shown = seen.select(order)
    ends = (*shown.intervals().correlations(shown.tables()), low[order], high[order])
    values, errors = found.correlations[order], found.correlation_errors[order]
    return Figures(
        "correlations",
        f"{seen.question.name}: correlations of two answers",
        f"Correlations (phi) of {estimable:,} of {every:,} pairs. "
        + _LEFT_OUT * (estimable < every)
        + f"Counting all pairs at once, {int(((low > 0.0) | (high < 0.0)).sum()):,} are "
        "distinguishable from zero.",
        *_pair_rows(shown, values, errors, ends),
    )


def _pair_rows(
    shown: _CountedPairs, values: Floats, errors: Floats, ends: tuple[Floats, ...]
) -> tuple[tuple[Row, ...], tuple[tuple[int, ...], ...]]:
    """Return one row for each pair, with both intervals, and the bins of each row."""
    rows, about = [], []
    for k, numbers in enumerate(np.column_stack([values, errors, *ends]).tolist()):
        label, bins = shown.label(k)
        value, error, low, high, low_all, high_all = numbers
        rows.append(Row(label, value, low, high, error, low_all, high_all))
        about.append(bins)
    return tuple(rows), tuple(about)


def _table_figures(seen: _CountedPairs) -> Figures:
    """Return the figure of the 2 x 2 tables of the pairs that the most people have."""
    joint = joint_counts(seen.mechanism, seen.pair_counts, seen.tally.messages)
    order = np.argsort(-joint.counts[seen.first, seen.second], kind="stable")
    seen = seen.select(order[: MOST_ROWS // _CELLS])
    found = seen.tables()
    lower, upper = seen.intervals().tables(found)
    rows, about = [], []
    for k in range(len(seen.first)):
        _, (i, j) = seen.label(k)
        a, b = seen.question.label(i), seen.question.label(j)
        names = (f"{a} & {b}", f"{a} & not {b}", f"not {a} & {b}", f"neither {a} nor {b}")
        cells = zip(names, found.counts[k], found.errors[k], lower[k], upper[k], strict=True)
        for name, *numbers in cells:
            count, error, low, high = map(float, numbers)
            rows.append(Row(name, count, low, high, error))
            about.append((i, j))
    return Figures(
        "tables",
        f"{seen.question.name}: tables of two answers",
        "Four counts of every pair, which add up to the people. Intervals hold for each alone.",
        tuple(rows),
        tuple(about),
    )
