"""A crowd whose records are sets, played through real messages, and the sets found frequent."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from mixtally.data.population import Population
from mixtally.encode.bits import rows_of
from mixtally.errors import DataError, PlanError
from mixtally.estimate.item_sets import (
    SetEstimate,
    estimate_sets,
    patterns_of_pairs,
    set_significance,
)
from mixtally.estimate.significant import checked_rate
from mixtally.ground.bits import Rows, spans
from mixtally.ground.chance import Chance
from mixtally.ground.flips import flip
from mixtally.ground.memo import Memo
from mixtally.mixing import shuffle
from mixtally.mixing.shuffle import room_for
from mixtally.privacy.certify import verify
from mixtally.records.mechanism import BitFlips
from mixtally.records.plan import Plan
from mixtally.records.question import Kind, Question
from mixtally.simulation.simulate import MOST_BATCH_BYTES
from mixtally.tally.fold import tally_messages
from mixtally.tally.patterns import pair_counts, pattern_counts

_SPAN_BYTES = 1 << 22
_MEMO_BYTES = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Baskets:
    """Everybody's set.

    where
      members   shape (users, max_set), int64, bins of each person's set; -1 where there is none
    """

    question: Question
    members: NDArray[np.int64]

    def rows(self, span: slice) -> Rows:
        """The records of some people, packed, a bit an item."""
        members = self.members[span]
        person, slot = np.nonzero(members >= 0)
        return rows_of(person, members[person, slot], len(members), self.question.bins)

    def holders(self, sets: Sequence[tuple[int, ...]]) -> NDArray[np.int64]:
        """How many people hold all items of each set: the truth, shape (sets,)."""
        return np.array(
            [
                np.all([np.any(self.members == i, axis=1) for i in one], axis=0).sum()
                for one in sets
            ],
            dtype=np.int64,
        )

    def truly_frequent(self, size: int, least: int) -> dict[tuple[int, ...], int]:
        """Every set of ``size`` items that at least ``least`` people hold, with their number."""
        seen: dict[tuple[int, ...], int] = {}
        for members in self.members.tolist():
            for one in combinations(sorted({i for i in members if i >= 0}), size):
                seen[one] = seen.get(one, 0) + 1
        return {one: count for one, count in seen.items() if count >= least}


def baskets_of(name: str, sets: Sequence[Sequence[str]]) -> Baskets:
    """Baskets of named items; an item named twice in a basket counts once, a basket may be empty.

    Raises DataError for fewer than two distinct items or an empty name.
    """
    labels = sorted({item for one in sets for item in one})
    if len(labels) < 2 or "" in labels:
        raise DataError(
            name,
            wanted="two distinct items at least, each with a name",
            got=f"{len(labels)}" + ", one of them empty" * ("" in labels),
            do="check the baskets",
        )
    numbers = {label: i for i, label in enumerate(labels)}
    most = max(len(set(one)) for one in sets)
    members = np.full((len(sets), most), -1, dtype=np.int64)
    for row, one in enumerate(sets):
        bins = sorted({numbers[item] for item in one})
        members[row, : len(bins)] = bins
    question = Question(
        name=name, bins=len(labels), labels=tuple(labels), kind=Kind.SET, max_set=most
    )
    return Baskets(question, members)


def in_a_row(population: Population, size: int) -> Baskets:
    """Baskets of ``size`` successive rows of a column; a last one that is not full is left out."""
    labels, codes = population.question.labels or (), population.codes
    whole = len(codes) // size * size
    groups = codes[:whole].reshape(-1, size).tolist()
    return baskets_of(population.question.name, [[labels[c] for c in one] for one in groups])


@dataclass(frozen=True, slots=True)
class ItemSet:
    """A set that more than ``support`` people hold, by the test.

    where
      count      unbiased, in people
      together   people expected to hold all its items if these had nothing to do with each other
    """

    items: tuple[int, ...]
    count: float
    standard_error: float
    together: float

    @property
    def lift(self) -> float:
        """How many times as often as by accident."""
        return self.count / self.together if self.together > 0.0 else float("inf")


@dataclass(frozen=True, slots=True, eq=False)
class SetStudy:
    """The messages' frequent sets by size, and the counts of single items."""

    plan: Plan
    messages: int
    items: NDArray[np.float64]
    item_error: float
    frequent: dict[int, tuple[ItemSet, ...]] = field(default_factory=dict)


def mixed_messages(mechanism: BitFlips, baskets: Baskets, chance: Chance) -> Rows:
    """Everybody's flipped record and all flipped blanks, in uniformly random order.

    Raises ParameterError when the batch does not fit the mix's memory.
    """
    users, size = len(baskets.members), mechanism.layout.message_bytes
    room_for(users + mechanism.fakes_promised, size, MOST_BATCH_BYTES)
    batch = np.zeros((users + mechanism.fakes_promised, size), dtype=np.uint8)
    for span in spans(users, max(1, _SPAN_BYTES // size)):
        batch[span] = baskets.rows(span)
    memo = Memo(_MEMO_BYTES)
    for span in spans(len(batch), max(1, _SPAN_BYTES // size)):
        batch[span] = flip(batch[span], mechanism.bins, mechanism.threshold, chance, memo)
    return shuffle(batch, chance)


def find_sets(
    plan: Plan,
    baskets: Baskets,
    chance: Chance,
    *,
    support: int = 0,
    rate: float = 0.05,
    largest: int = 3,
) -> SetStudy:
    """Pairs and larger sets that more than ``support`` people hold, wrong with chance ``rate``.

    Sets of three and more items are tried when all their parts were found: no set is more frequent
    than a part of it.

    Raises PlanError when the plan is for another crowd or not flip-blank, or its promise is false.
    """
    checked_rate(rate)
    mechanism = _checked(plan, baskets)
    rows = mixed_messages(mechanism, baskets, chance)
    layout, sizes = mechanism.layout, range(2, min(largest, baskets.question.max_set) + 1)
    tally = tally_messages(layout, rows)
    items = mechanism.unbiased(tally.counts, tally.messages)
    both = pair_counts(layout, rows)
    sets = np.argwhere(np.triu(np.ones_like(both), 1))
    patterns = patterns_of_pairs(both, sets, len(rows))
    frequent: dict[int, tuple[ItemSet, ...]] = {}
    for size in sizes:
        if size > 2:
            sets = np.array(_grown({one.items for one in frequent[size - 1]}, size))
            patterns = pattern_counts(layout, rows, [tuple(one) for one in sets.tolist()])
        if not len(sets):
            frequent.update((rest, ()) for rest in sizes[size - 2 :])
            break
        sure = set_significance(mechanism, patterns, support=support, rate=rate / len(sizes))
        found = estimate_sets(mechanism, patterns[sure])
        frequent[size] = _ranked(sets[sure], found, items, plan.users)
    error = mechanism.variance(tally.messages) ** 0.5
    return SetStudy(plan, tally.messages, items, error, frequent)


def _checked(plan: Plan, baskets: Baskets) -> BitFlips:
    """The mechanism of ``plan``, which is for these baskets and sends them whole."""
    if plan.question != baskets.question or plan.users != len(baskets.members):
        raise PlanError(
            "plan",
            wanted=f"a plan for these {len(baskets.members):,} baskets",
            got=f"one for {plan.users:,} records of {plan.question.name!r}",
            do="plan again",
        )
    mechanism = verify(plan)
    if not isinstance(mechanism, BitFlips) or mechanism.max_set is None:
        raise PlanError(
            "plan", wanted="flip-blank, which sends sets whole", got=mechanism.name, do="plan again"
        )
    return mechanism


def _ranked(
    sets: NDArray[np.int64], found: SetEstimate, items: NDArray[np.float64], users: int
) -> tuple[ItemSet, ...]:
    """The sets from the most frequent down."""
    by_accident = users * np.prod(np.maximum(items[sets], 0.0) / users, axis=1)
    return tuple(
        ItemSet(
            tuple(sets[i].tolist()),
            float(found.counts[i]),
            float(found.standard_error[i]),
            float(by_accident[i]),
        )
        for i in np.argsort(-found.counts, kind="stable")
    )


def _grown(smaller: set[tuple[int, ...]], size: int) -> list[tuple[int, ...]]:
    """Sets of ``size`` items all of whose subsets with one item less are in ``smaller``."""
    items = sorted({item for one in smaller for item in one})
    grown = {(*one, item) for one in smaller for item in items if item > one[-1]}
    return sorted(one for one in grown if all(s in smaller for s in combinations(one, size - 1)))
