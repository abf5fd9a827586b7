"""Frequent item sets in a crowd that is simulated with real messages.

``app.baskets`` calls `find_sets` if the sets of a basket cannot be encoded as values.
"""

import math
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import PlanError
from mixtally.lab.data.population import Population
from mixtally.lab.simulation.baskets.result import BasketResult, ItemSet, check_limits
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.play import play
from mixtally.lab.simulation.run import check_population
from mixtally.model.contract import Plan
from mixtally.model.estimates import Tally
from mixtally.model.layout import Layout
from mixtally.model.mechanism import Shuffled
from mixtally.primitives.bits import Rows
from mixtally.protocol.estimate.analysis import Analysis
from mixtally.protocol.estimate.conclude import conclude
from mixtally.protocol.estimate.intervals import intervals
from mixtally.protocol.estimate.item_sets import (
    estimate_sets,
    patterns_of_pairs,
    set_intervals,
    set_significance,
)
from mixtally.protocol.estimate.received import reconcile_parts
from mixtally.protocol.estimate.rules import BoundedEstimate, Items
from mixtally.protocol.tally.patterns import count_patterns


def find_sets(
    plan: Plan,
    baskets: Population,
    lab: Lab,
    *,
    support: int = 0,
    level: float = 0.95,
    largest: int = 3,
) -> BasketResult:
    """Find the pairs and larger sets that more than ``support`` people hold, and their rules.

    A set of three or more items is tested only if all its subsets with one item less were found,
    because no more people hold a set than hold one of its subsets.

    Half of the error probability 1 - level is used for the counts of single items. The other half
    is divided among the sizes of sets, and within a size among all sets, tested or not. Untested
    sets need a share because the same messages decide which sets are tested.

    Parameters
    ----------
    plan : Plan
        A plan with the protocol flip-blank, which sends a whole set in one message.
    baskets : Population
        The true baskets; the bins are the items.
    lab : Lab
        The randomness, the planner and the progress of the simulation.
    support : int
        The number of people that must be exceeded, in [0, people - 1].
    level : float
        The least probability, in (0, 1), that all intervals cover the true numbers and no set is
        found wrongly.
    largest : int
        The largest number of items in a set, in [2, 8].

    Returns
    -------
    BasketResult
        The counts of items, the sets of each size, and their rules.

    Raises
    ------
    PlanError
        If the plan is for another crowd, has another protocol, or has a false certificate.
    ParameterError
        If ``support`` or ``largest`` is out of range.
    """
    check_limits(support, largest, baskets)
    analysis = Analysis(level=level)
    whole = replace(analysis, pairs=True)
    if plan.name != "flip-blank":
        raise PlanError(
            "plan", expected="flip-blank, which sends whole sets", got=plan.name, do="plan again"
        )
    check_population(plan, baskets, whole, lab.planner.accountant)
    kept: list[Rows] = []
    # The messages are kept to count larger sets in them, because a tally has only the counts of
    # bits and of pairs.
    played = play(plan, [baskets.records], lab.chance, lab.progress, pairs=True, watch=kept.append)
    (tally,) = played.tallies
    # Without pairs, conclude() computes no figures of pairs, for which this search has its own
    # intervals.
    items = conclude(plan, [replace(tally, pairs=None)], analysis, received=played.received)
    (received,) = reconcile_parts(plan, played.received)
    layout = plan.parts[0].layout
    search = _SetSearch(received.mechanism, layout, tally, kept, baskets.users, support, level)
    sets = search.find_sets_by_size(min(largest, baskets.question.max_set))
    return BasketResult.of(
        items, search.estimate_items(), sets, baskets.users, support=support, level=level
    )


@dataclass(frozen=True, slots=True, eq=False)
class _SetSearch:
    """A search for frequent sets in the shuffled messages of a collection.

    ``rows`` are the messages, in several arrays. ``tally`` has the counts of their bits and pairs.
    """

    mechanism: Shuffled
    layout: Layout
    tally: Tally
    rows: list[Rows]
    users: int
    support: int
    level: float

    @property
    def error_rate(self) -> float:
        """Half of the error probability: one half is for all single items, one for all sets."""
        return (1.0 - self.level) / 2.0

    def estimate_items(self) -> list[BoundedEstimate]:
        """Return every item's count with an interval; all intervals are valid simultaneously."""
        bins = self.mechanism.bins
        found = intervals(self.mechanism, self.tally, 1.0 - self.error_rate, simultaneous_over=bins)
        counts = self.mechanism.debias_counts(self.tally.counts, self.tally.messages)
        return [
            BoundedEstimate(*map(float, ends))
            for ends in zip(counts, found.lower, found.upper, strict=True)
        ]

    def find_sets_by_size(self, largest: int) -> dict[int, tuple[ItemSet, ...]]:
        """Return a dict from each size, 2 to ``largest``, to the significant sets of this size."""
        found: dict[int, tuple[ItemSet, ...]] = {}
        for size in range(2, largest + 1):
            if size == 2:
                sets, patterns = self._pair_patterns()
            else:
                sets, patterns = self._extend_sets({one.items for one in found[size - 1]}, size)
            found[size] = self._select_significant(sets, patterns, self.error_rate / (largest - 1))
        return found

    def _pair_patterns(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        both = self.tally.pairs
        assert both is not None
        sets = np.argwhere(np.triu(np.ones(both.shape, dtype=bool), 1))
        return sets, patterns_of_pairs(both, sets, self.tally.messages)

    def _extend_sets(
        self, parts: set[Items], size: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the sets of ``size`` items to test, and their pattern counts.

        These are the sets whose subsets with ``size - 1`` items are all in ``parts``. The pattern
        counts have shape (sets, 2^size). For each set, they are the numbers of messages with each
        combination of the bits of its items.
        """
        items = sorted({item for one in parts for item in one})
        grown = {(*one, item) for one in parts for item in items if item > one[-1]}
        sets = sorted(one for one in grown if parts.issuperset(combinations(one, size - 1)))
        patterns = np.zeros((len(sets), 1 << size), dtype=np.int64)
        for rows in self.rows if sets else []:
            patterns += count_patterns(self.layout, rows, sets)
        return np.array(sets, dtype=np.int64).reshape(-1, size), patterns

    def _select_significant(
        self, sets: NDArray[np.int64], patterns: NDArray[np.int64], rate: float
    ) -> tuple[ItemSet, ...]:
        """Return the sets that significantly more than ``support`` people hold.

        ``rate`` is the error probability for all sets of this size together. The most frequent sets
        come first.
        """
        if not len(sets):
            return ()
        among = math.comb(self.mechanism.bins, sets.shape[1])
        # The test is one-sided, so it uses half of the rate of the two-sided intervals below.
        significant = set_significance(
            self.mechanism, patterns, support=self.support, rate=rate / 2.0, among=among
        )
        sets, patterns = sets[significant], patterns[significant]
        found = estimate_sets(self.mechanism, patterns)
        # The error probability is divided among all sets of this size, not only the tested ones,
        # because the messages decide which sets are tested.
        lower, upper = set_intervals(
            self.mechanism, patterns, people=self.users, rate=rate, among=among
        )
        return tuple(
            ItemSet(
                tuple(sets[i].tolist()),
                float(found.counts[i]),
                float(found.standard_error[i]),
                int(lower[i]),
                int(upper[i]),
            )
            for i in np.argsort(-found.counts, kind="stable")
        )
