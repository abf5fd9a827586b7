"""Fakes drawn by a mix: for every bin a number of its own, from a table of integers over 2^64."""

from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from mixtally.model.layout import Layout
from mixtally.primitives.bits import Rows
from mixtally.primitives.chance import Chance
from mixtally.primitives.draw import from_table


def shaped_fakes(weights: tuple[int, ...], layout: Layout, chance: Chance) -> Rows:
    """Fakes in clear, k of them in a bin with probability weights[k] / 2^64, bins independent.

    How many fell in which bin is the mix's secret: it must not be told to the collector.
    """
    return layout.rows(np.repeat(np.arange(layout.bins), numbers_of(weights, layout.bins, chance)))


def numbers_of(weights: tuple[int, ...], bins: int, chance: Chance) -> NDArray[np.int64]:
    """How many fakes fall in each bin, shape (bins,)."""
    cumulative = np.array(list(accumulate(weights[:-1])), dtype=np.uint64)
    return from_table(chance, cumulative, bins)
