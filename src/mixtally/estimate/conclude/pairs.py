"""Pairs of bits of one message: how many people have both, tables and correlations."""

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from mixtally.estimate.joint import Joint, joint_counts
from mixtally.estimate.two_by_two import TwoByTwo, two_by_two
from mixtally.records.mechanism import BitFlips, Shuffled
from mixtally.records.question import Kind, Question
from mixtally.records.results import Figures, Row, Tally

MOST_ROWS = 1000
_CELLS = 4
_LEFT_OUT = (
    "The others have a bit that nearly nobody or everybody has, as far as the noise can tell. "
)
_Integers = NDArray[np.int64]


def pairs_and_tables(
    question: Question, mechanism: Shuffled, tally: Tally, level: float
) -> list[Figures]:
    """How many people have both of two bits, correlations, and of bits the 2 x 2 tables as well.

    At most a thousand rows each, the largest first. Correlations and tables are left out where the
    noise leaves none to be estimated.
    """
    if not isinstance(mechanism, BitFlips) or tally.pairs is None:
        raise TypeError(f"{mechanism.name}: wanted messages of bits whose pairs were counted")
    first, second = pairs_of(question)
    found = two_by_two(mechanism, tally.pairs, tally.messages, first, second, level=level)
    derived = [_correlations(question, found, first, second)]
    if question.kind is Kind.BITS:
        derived.append(_tables(question, found, first, second))
    joint = joint_counts(mechanism, tally.pairs, tally.messages, level)
    return [_pairs(question, joint, level), *(one for one in derived if one.rows)]


def pairs_of(question: Question) -> tuple[_Integers, _Integers]:
    """Bins i < j that one person can have: of two attributes, where there are attributes."""
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


def _both(question: Question, i: int, j: int) -> str:
    return f"{question.label(i)} & {question.label(j)}"


def _ends(value: float, half: float) -> tuple[float, float]:
    return value - half, value + half


def _pairs(question: Question, joint: Joint, level: float) -> Figures:
    """The pairs that most people have by the estimates."""
    first, second = pairs_of(question)
    order = np.argsort(-joint.counts[first, second], kind="stable")[:MOST_ROWS]
    distinct = joint.counts - joint.width_all * joint.errors > 0.0
    rows, about = [], []
    for i, j in zip(first[order].tolist(), second[order].tolist(), strict=True):
        count, error = float(joint.counts[i, j]), float(joint.errors[i, j])
        half, all_half = joint.width * error, joint.width_all * error
        ends, all_ends = _ends(count, half), _ends(count, all_half)
        rows.append(Row(_both(question, i, j), count, *ends, error, *all_ends))
        about.append((i, j))
    return Figures(
        "pairs",
        f"{question.name}: how many people have both",
        f"{len(first):,} pairs, {100 * level:g} % for each alone by the normal law. Counting all "
        f"pairs at once, {int(distinct[first, second].sum()):,} are distinguishable from zero.",
        tuple(rows),
        tuple(about),
    )


def _correlations(
    question: Question, found: TwoByTwo, first: _Integers, second: _Integers
) -> Figures:
    order = np.argsort(-np.abs(found.correlations), kind="stable")  # NaN goes last
    order = order[~np.isnan(found.correlations[order])]
    rows, about = [], []
    for k in order[:MOST_ROWS].tolist():
        i, j = int(first[k]), int(second[k])
        phi, error = float(found.correlations[k]), float(found.correlation_errors[k])
        low, high, low_all, high_all = (
            min(1.0, max(-1.0, phi + width * error))
            for width in (-found.width, found.width, -found.width_all, found.width_all)
        )
        rows.append(Row(_both(question, i, j), phi, low, high, error, low_all, high_all))
        about.append((i, j))
    sure = np.abs(found.correlations) > found.width_all * found.correlation_errors
    return Figures(
        "correlations",
        f"{question.name}: how far two of them go together",
        f"Correlations (phi) of {len(order):,} of {len(first):,} pairs. "
        + _LEFT_OUT * (len(order) < len(first))
        + f"Counting all pairs at once, {int(sure.sum()):,} are distinguishable from zero.",
        tuple(rows),
        tuple(about),
    )


def _tables(question: Question, found: TwoByTwo, first: _Integers, second: _Integers) -> Figures:
    order = np.argsort(-found.counts[:, 0], kind="stable")
    rows, about = [], []
    for k in order[: MOST_ROWS // _CELLS].tolist():
        i, j = int(first[k]), int(second[k])
        a, b = question.label(i), question.label(j)
        names = (f"{a} & {b}", f"{a} & not {b}", f"not {a} & {b}", f"neither {a} nor {b}")
        cells = zip(names, found.counts[k].tolist(), found.errors[k].tolist(), strict=True)
        for name, count, error in cells:
            rows.append(Row(name, count, *_ends(count, found.width * error), error))
            about.append((i, j))
    return Figures(
        "tables",
        f"{question.name}: two answers at a time",
        "Four counts of every pair, which add up to the people; intervals are for each alone by "
        "the normal law.",
        tuple(rows),
        tuple(about),
    )
