"""Result of a search for item sets: frequent sets, and rules between items."""

from collections.abc import Sequence
from dataclasses import dataclass

from mixtally.errors import ParameterError, in_range
from mixtally.lab.data.population import Population
from mixtally.model.result import Result
from mixtally.protocol.estimate.item_sets import MOST_SET_BITS
from mixtally.protocol.estimate.rules import BoundedEstimate, Items, Rule, derive_rules


@dataclass(frozen=True, slots=True)
class ItemSet:
    """A set that significantly more than ``support`` people hold.

    ``count`` is an unbiased estimate. ``lower`` and ``upper`` are the ends of its interval. The
    intervals of all sets and items are valid simultaneously.
    """

    items: Items
    count: float
    standard_error: float
    lower: int
    upper: int


@dataclass(frozen=True, slots=True, eq=False)
class BasketResult:
    """The sets and rules found in a collection of baskets.

    ``items`` has the counts of single items. ``sets`` has the sets of each size, most frequent
    first. ``rules`` is ordered by the lower bound of the confidence, highest first.

    The following is true with probability at least ``level``: more than ``support`` people hold
    every set in ``sets``, and all intervals of items, sets and rules cover the true numbers.
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
        """Return the result for frequent sets, with the rules that follow from the counts.

        ``ends`` has the estimate of each item and its interval. ``sets`` has the frequent sets of
        each size. All intervals are valid simultaneously with confidence ``level``. ``users`` is
        the number of people.
        """
        estimates: dict[Items, BoundedEstimate] = {(i,): own for i, own in enumerate(ends)}
        every = (one for alike in sets.values() for one in alike)
        estimates.update(
            (one.items, BoundedEstimate(one.count, one.lower, one.upper)) for one in every
        )
        return cls(items, sets, tuple(derive_rules(estimates, users)), support, level)

    @property
    def all_sets(self) -> list[ItemSet]:
        """The sets of all sizes, small ones first."""
        return [one for size in sorted(self.sets) for one in self.sets[size]]


def check_limits(support: int, largest: int, baskets: Population) -> None:
    """Raise ParameterError if ``support`` or ``largest`` is out of range."""
    if not 0 <= support < baskets.users:
        raise ParameterError(
            "support",
            expected=f"a whole number in [0, {baskets.users - 1:,}]",
            got=f"{support:,}",
            do="give the number of people that must be exceeded to find a set",
        )
    in_range("largest", largest, 2, MOST_SET_BITS, "it is the largest number of items in a set")
