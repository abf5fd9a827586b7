"""What is found in a collection of baskets: sets that many people hold, and rules between items."""

from collections.abc import Sequence
from dataclasses import dataclass

from mixtally.errors import ParameterError, in_range
from mixtally.lab.data.population import Population
from mixtally.model.result import Result
from mixtally.protocol.estimate.item_sets import MOST_SET_BITS
from mixtally.protocol.estimate.rules import BoundedEstimate, Items, Rule, derive_rules


@dataclass(frozen=True, slots=True)
class ItemSet:
    """A set that more than ``support`` people hold, by the test.

    where
      count          unbiased, in people
      lower, upper   of all sets and items at once
    """

    items: Items
    count: float
    standard_error: float
    lower: int
    upper: int


@dataclass(frozen=True, slots=True, eq=False)
class BasketResult:
    """What was found in a collection of baskets.

    where
      items     the counts of single items
      sets      by size, the most frequent first
      rules     of all sets, the surest first
      support   people that more than hold each set
      level     at which all sets and rules hold at once
    """

    items: Result
    sets: dict[int, tuple[ItemSet, ...]]
    rules: tuple[Rule, ...]
    support: int
    level: float

    @classmethod
    def of(
        cls,
        items: Result,
        ends: Sequence[BoundedEstimate],
        sets: dict[int, tuple[ItemSet, ...]],
        users: int,
        *,
        support: int,
        level: float,
    ) -> "BasketResult":
        """With the rules between ``items``, whose ``ends`` hold at once, that the sets give."""
        held: dict[Items, BoundedEstimate] = {(i,): own for i, own in enumerate(ends)}
        every = (one for alike in sets.values() for one in alike)
        held.update((one.items, BoundedEstimate(one.count, one.lower, one.upper)) for one in every)
        return cls(items, sets, tuple(derive_rules(held, users)), support, level)

    @property
    def all_sets(self) -> list[ItemSet]:
        """The sets of all sizes, small ones first."""
        return [one for size in sorted(self.sets) for one in self.sets[size]]


def check_limits(support: int, largest: int, baskets: Population) -> None:
    """Raises ParameterError for a support or a size that means nothing."""
    if not 0 <= support < baskets.users:
        raise ParameterError(
            "support",
            expected=f"a whole number in [0, {baskets.users - 1:,}]",
            got=f"{support:,}",
            do="sets that more people than this hold are found",
        )
    in_range(
        "largest", largest, 2, MOST_SET_BITS, "it is the most items of a set that is looked for"
    )
