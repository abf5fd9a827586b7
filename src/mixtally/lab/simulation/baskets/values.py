"""Item sets as values: every item, pair and larger set in a basket is one value of a record.

``app.baskets`` uses this encoding where it is possible. A basket of at most k items contains at
most C(k, 1) + .. + C(k, L) sets of up to L items. A record is itself a set, and the number of
members that it can send is limited. If the number of sets does not exceed this limit, all sets of a
basket are sent as the members of its record. A set of items is then counted like a single value,
and its error does not depend on the other items in a basket.

Sets are numbered by size, smaller sizes first. Among the sets of i items out of d bins, the set a_1
< .. < a_i has the number C(a_i, i) + .. + C(a_1, 1).

Source: Knuth, The Art of Computer Programming 4A (2011), section 7.2.1.3, theorem L (combinatorial
number system).
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from mixtally.lab.data.population import Population
from mixtally.lab.simulation.baskets.result import BasketResult, ItemSet, check_limits
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.play import play
from mixtally.lab.simulation.run import check_crowd
from mixtally.model.contract import Plan
from mixtally.model.estimates import Estimate, Intervals
from mixtally.model.question import MOST_BINS, MOST_SET, Kind, Question
from mixtally.model.result import Result
from mixtally.primitives.bits import spans
from mixtally.protocol.estimate.analysis import Analysis
from mixtally.protocol.estimate.conclude import conclude
from mixtally.protocol.estimate.rules import BoundedEstimate, Items

_SPAN = 1 << 16
"""Number of baskets that are encoded at a time."""
_MOST_NAMED = 100_000
"""Largest number of values for which a question has labels. Larger questions have numbers only."""


def question_of_sets(item_question: Question, largest: int) -> Question | None:
    """Return the question whose values are the sets of up to ``largest`` items.

    Returns None if a basket contains more such sets than can be sent in one record, or if there are
    more such sets than a question can have bins.
    """
    sizes = range(1, min(largest, item_question.max_set) + 1)
    sets_per_basket = sum(math.comb(item_question.max_set, size) for size in sizes)
    bins = sum(math.comb(item_question.bins, size) for size in sizes)
    if not 1 < sets_per_basket <= MOST_SET or bins > MOST_BINS:
        return None
    labels = None
    if item_question.labels is not None and bins <= _MOST_NAMED:
        labels = tuple(
            " + ".join(item_question.labels[item] for item in one)
            for one in _iterate_sets(item_question.bins, sizes)
        )
        # Labels that contain " + " can make two sets look the same.
        labels = labels if len(set(labels)) == bins else None
    return Question(
        name=item_question.name, bins=bins, labels=labels, kind=Kind.SET, max_set=sets_per_basket
    )


def find_values(
    plan: Plan, baskets: Population, lab: Lab, *, support: int, level: float, largest: int
) -> BasketResult:
    """Find frequent sets with a plan for the values of `question_of_sets`.

    All intervals are valid simultaneously, including those of single items and of sets that nobody
    holds. The question of ``plan`` must be ``question_of_sets(baskets.question, largest)``. All
    other parameters are those of `baskets.find.find_sets`.

    Returns
    -------
    BasketResult
        The counts of items, the sets of each size, and their rules.

    Raises
    ------
    PlanError
        If the plan is for another question or a larger crowd, or has a false certificate.
    ParameterError
        If ``support`` or ``largest`` is out of range.
    """
    check_limits(support, largest, baskets)
    asked, analysis = question_of_sets(baskets.question, largest), Analysis(level=level)
    assert asked is not None
    check_crowd(plan, asked, baskets.users, lab.planner.accountant, analysis)
    most = min(largest, baskets.question.max_set)
    played = play(plan, [encode_baskets(baskets, most)], lab.chance, lab.progress)
    result = conclude(plan, played.tallies, analysis, received=played.received)
    # The intervals of all sets are simultaneous, so a set whose lower end is above the support
    # needs no further test.
    sets = _significant_sets(result.estimate, baskets.question.bins, most, support)
    items = _item_result(result, baskets.question)
    simultaneous = items.estimate.simultaneous
    every = zip(items.estimate.counts, simultaneous.lower, simultaneous.upper, strict=True)
    ends = [BoundedEstimate(*map(float, each)) for each in every]
    return BasketResult.of(items, ends, sets, baskets.users, support=support, level=level)


def encode_baskets(baskets: Population, largest: int) -> NDArray[np.int64]:
    """Return the values of every basket, shape (users, n), padded with -1.

    n is the largest number of values that a basket can have.
    """
    question, found = baskets.question, list[NDArray[np.int64]]()
    for span in spans(baskets.users, _SPAN):
        rows = baskets.records[span].astype(np.uint8, copy=False)
        items = _list_items(rows, question.bins, question.max_set)
        first, columns = 0, list[NDArray[np.int64]]()
        for size in range(1, largest + 1):
            for chosen in combinations(range(question.max_set), size):
                own = items[:, chosen]
                rank = first + sum(_binomial_coefficient(own[:, i], i + 1) for i in range(size))
                # The padding of a basket comes last. So a selection contains padding exactly if
                # its last entry is padding.
                columns.append(np.where(own[:, -1] < 0, -1, rank))
            first += math.comb(question.bins, size)
        found.append(np.stack(columns, axis=1))
    return np.concatenate(found)


def _list_items(rows: NDArray[np.uint8], bins: int, most: int) -> NDArray[np.int64]:
    """Return the items of each basket in rising order, shape (baskets, most), padded with -1."""
    bits = np.unpackbits(rows, axis=1, count=bins, bitorder="little")
    person, item = np.nonzero(bits)
    place = np.arange(len(person)) - np.searchsorted(person, person)
    out = np.full((len(rows), most), -1, dtype=np.int64)
    out[person, place] = item
    return out


def _binomial_coefficient(item: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Return C(item, size)."""
    out = np.ones_like(item)
    for i in range(size):
        # After each step the product is a binomial coefficient, so that the division is exact.
        out = out * (item - i) // (i + 1)
    return out


def _iterate_sets(bins: int, sizes: range) -> Iterator[Items]:
    """Yield all sets of these sizes in the order of their numbers."""
    for size in sizes:
        yield from sorted(combinations(range(bins), size), key=lambda one: one[::-1])


def decode_set(number: int, bins: int) -> Items:
    """Return the items of the set with this number."""
    size = 1
    while number >= math.comb(bins, size):
        number -= math.comb(bins, size)
        size += 1
    found: list[int] = []
    for i in range(size, 0, -1):
        low, high = i - 1, found[-1] if found else bins
        while high - low > 1:  # bisection for the largest item with C(item, i) <= number
            middle = (low + high) // 2
            low, high = (middle, high) if math.comb(middle, i) <= number else (low, middle)
        found.append(low)
        number -= math.comb(low, i)
    return tuple(reversed(found))


def _significant_sets(
    estimate: Estimate, bins: int, largest: int, support: int
) -> dict[int, tuple[ItemSet, ...]]:
    """Return a dict from each size to the significant sets of this size, most frequent first.

    A set is significant if the lower end of its interval exceeds ``support``.
    """
    found: dict[int, tuple[ItemSet, ...]] = {}
    first, lower, upper = bins, estimate.simultaneous.lower, estimate.simultaneous.upper
    for size in range(2, largest + 1):
        last = first + math.comb(bins, size)
        significant = first + np.flatnonzero(lower[first:last] > support)
        significant = significant[np.argsort(-estimate.counts[significant], kind="stable")]
        found[size] = tuple(
            ItemSet(
                decode_set(place, bins),
                float(estimate.counts[place]),
                estimate.error_of(place),
                int(lower[place]),
                int(upper[place]),
            )
            for place in significant.tolist()
        )
        first = last
    return found


def _item_result(result: Result, item_question: Question) -> Result:
    """Return the result for single items, which are the first bins of ``result``."""
    own, few = result.estimate, slice(item_question.bins)

    def cut(ends: Intervals) -> Intervals:
        return replace(ends, lower=ends.lower[few], upper=ends.upper[few])

    errors = None if own.errors is None else own.errors[few]
    estimate = Estimate(
        counts=own.counts[few],
        standard_error=own.standard_error if errors is None else float(errors.max()),
        individual=cut(own.individual),
        simultaneous=cut(own.simultaneous),
        errors=errors,
    )
    return replace(result, question=item_question, estimate=estimate, figures=())
