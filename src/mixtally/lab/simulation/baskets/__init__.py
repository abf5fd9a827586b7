"""A crowd whose records are sets of items: which are held together, and by whom."""

from mixtally.lab.simulation.baskets.find import find_sets
from mixtally.lab.simulation.baskets.found import Found
from mixtally.lab.simulation.baskets.held import baskets_of, holders, in_a_row, pairs_held

__all__ = ["Found", "baskets_of", "find_sets", "holders", "in_a_row", "pairs_held"]
