"""Privacy losses of one message more, or one less, in a cell with a Poisson number of others.

With X ~ Poisson(mean) messages of others, the cell of a member counts 1 + X where the member is held
and X where it is not. Seen from one side the loss is ln(c / mean) at a count c >= 1, seen from the
other its negative, and infinite at c = 0, which only the second has.

Losses are put on a lattice: an outcome of probabilities (p, q), whose loss ln(p/q) lies between two
points, becomes two outcomes at these, a + b = p and a e^-l0 + b e^-l1 = q. Merging them again gives
the outcome back, so what is on the lattice dominates in both directions. A loss moves by less than
a step, up or down. What lies outside of all but ``CUT_TAIL`` of the counts is taken for infinite.

Source: Connect the Dots (2022), section 4, for both masses; proved here.
"""  # noqa: E501

import math

import numpy as np

from mixtally.accounting.composition.losses import LossDistribution
from mixtally.accounting.numerics.poissonized import poisson_pmf, poisson_window
from mixtally.primitives import tails


def gain_and_loss_of_message(mean: float, step: float) -> tuple[LossDistribution, LossDistribution]:
    """Where the cell holds one message more, against not; and the other way round.

    where
      mean   of the messages of others in the cell, above 0
      step   of the lattice, a power of two
    """
    first, last = poisson_window(mean)
    without = poisson_pmf(mean)
    none = float(without[0]) if first == 0 else 0.0
    counts = np.arange(max(first, 1), last + 1, dtype=np.float64)
    shares = (counts - mean) / mean
    held = without[-len(counts) :] * (1.0 + shares)
    losses = np.log1p(shares)
    below = np.floor(losses / step).astype(np.int64)
    part = np.clip(losses - below * step, 0.0, step)
    up = held * (np.expm1(-part) / math.expm1(-step))
    low = int(below[0])
    size = int(below[-1]) - low + 2
    chances = np.bincount(below - low, weights=held - up, minlength=size).astype(np.float64)
    chances[1:] += np.bincount(below - low, weights=up, minlength=size - 1)
    places = low + np.arange(len(chances))
    zero = float(chances[places == 0].sum())
    gains = places > 0
    falls = (places < 0) & (chances > 0.0)
    cut = 2.0 * tails.CUT_TAIL
    gained = LossDistribution(step, places[gains], chances[gains], zero, cut)
    seen = chances[falls] * np.exp(-places[falls] * step)
    lost = LossDistribution(step, -places[falls][::-1], seen[::-1], zero, none + cut)
    return (
        LossDistribution(step, gained.places, gained.chances, zero, gained.infinite, other=lost),
        LossDistribution(step, lost.places, lost.chances, zero, lost.infinite, other=gained),
    )
