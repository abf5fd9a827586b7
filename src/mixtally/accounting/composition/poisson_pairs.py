"""Privacy losses of one additional or missing message among a Poisson number of others.

``set_in_clear`` composes these losses over the members of a set. A bin contains X ~ Poisson(mean)
messages of others. If the person's set contains the bin, 1 + X messages are counted there, and
otherwise X. Seen from the set with the bin, the loss at a count c >= 1 is ln(c / mean). Seen from
the other set it is -ln(c / mean), and it is infinite at c = 0, which only the other set allows.

*Rounding to a lattice.* Consider an outcome with the probabilities (p, q) whose loss ln(p/q) lies
between two lattice points l0 and l1. It becomes two outcomes with these losses and with masses a,
b, where a + b = p and a e^-l0 + b e^-l1 = q. Merging the two gives the outcome back. So the losses
on the lattice dominate in both directions, and a loss moves by less than a step. Counts outside all
but ``CUT_TAIL`` of the probability are treated as an infinite loss.

Source: Connect the Dots (2022), section 4, for both masses; proved here.
"""

import math

import numpy as np

from mixtally.accounting.composition.losses import LossDistribution
from mixtally.accounting.numerics.poissonized import poisson_pmf, poisson_window
from mixtally.primitives import tails


def gain_and_loss_of_message(mean: float, step: float) -> tuple[LossDistribution, LossDistribution]:
    """Return the loss distributions of one bin for both orders of the neighbors.

    One neighbor sends a message to the bin, and the other does not. The first distribution has the
    losses of sending against not sending, and the second has those of not sending against sending.
    The bin contains ``mean`` > 0 messages of others on average. ``step`` is the step of the
    lattice, a power of two.
    """
    first, last = poisson_window(mean)
    without = poisson_pmf(mean)
    none = float(without[0]) if first == 0 else 0.0
    counts = np.arange(max(first, 1), last + 1, dtype=np.float64)
    shares = (counts - mean) / mean
    with_message = without[-len(counts) :] * (1.0 + shares)
    losses = np.log1p(shares)
    below = np.floor(losses / step).astype(np.int64)
    part = np.clip(losses - below * step, 0.0, step)
    up = with_message * (np.expm1(-part) / math.expm1(-step))
    low = int(below[0])
    size = int(below[-1]) - low + 2
    chances = np.bincount(below - low, weights=with_message - up, minlength=size).astype(np.float64)
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
