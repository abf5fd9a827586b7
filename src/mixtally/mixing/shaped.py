"""Fakes drawn by a mix: for every bin a number of its own, from a table of integers over 2^64."""

from itertools import accumulate

import numpy as np

from mixtally.ground.bits import Rows
from mixtally.ground.chance import Chance
from mixtally.ground.draw import from_table
from mixtally.records.layout import Layout


def shaped_fakes(weights: tuple[int, ...], layout: Layout, chance: Chance) -> Rows:
    """Fakes in clear, k of them in a bin with probability weights[k] / 2^64, bins independent.

    How many fell in which bin is the mix's secret: it must not be told to the collector.
    """
    last = max(k for k, weight in enumerate(weights) if weight)
    cumulative = np.array(list(accumulate(weights[:last])), dtype=np.uint64)
    numbers = from_table(chance, cumulative, layout.bins)
    return layout.rows(np.repeat(np.arange(layout.bins), numbers))
