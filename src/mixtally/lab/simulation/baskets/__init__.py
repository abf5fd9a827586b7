"""Frequent item sets and association rules in a crowd whose records are sets of items."""

from mixtally.lab.simulation.baskets.find import find_sets
from mixtally.lab.simulation.baskets.result import BasketResult
from mixtally.lab.simulation.baskets.true_counts import (
    build_baskets,
    count_holders,
    count_pairs,
    group_rows,
)

__all__ = [
    "BasketResult",
    "build_baskets",
    "count_holders",
    "count_pairs",
    "find_sets",
    "group_rows",
]
