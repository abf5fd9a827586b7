"""Privacy losses of a value in clear among fakes that a mix draws from a table.

``messages`` composes these losses. Let F(k) be the probability that the mix adds k fakes to a bin.
The two datasets differ in two bins, and fakes are independent from bin to bin, so the losses of
both bins add up. Each has the following loss with probability F(k):

    the bin that gained the record shows k + 1: loss ln F(k) / F(k+1), infinite past the table's end
    the bin that lost it shows k:               loss ln F(k) / F(k-1), infinite at k = 0

If the fakes of two bins are *paired*, both numbers of fakes add up to a fixed total. Then the count
of one bin determines the count of the other, and the loss of one bin is that of the record. The
table is symmetric, so exchanging the datasets gives the same losses.

Exchanging the bins exchanges the datasets, so the losses of the sum below zero mirror those above.
For a discrete Gaussian of mean s and variance v the losses are (2 (k - s) + 1) / (2 v) and -(2 (k -
s) - 1) / (2 v). The table consists of integers over 2^64, which differ from these formulas where
they are small. So the losses of the integers are used.

*Upper bound.* Each loss goes to the two lattice points around it, in the proportions that preserve
its probability and the mean of e^-loss. As a function of e^epsilon the new curve consists of chords
of the true one, which is convex, so it lies above. Losses beyond the lattice are treated as
infinite. Both steps only increase delta. They add at most a quarter of the squared step to a
variance.

*Lower bound.* A loss that is not beyond the lattice moves by less than a step. Consider t messages,
with 2t bins. Their delta at epsilon is at least that of the rounded losses at epsilon plus 2t
steps, minus the probability that some loss is beyond.

Source: Doroshenko, Ghazi, Kamath, Kumar, Manurangsi, Connect the Dots (2022), algorithm 1.
"""

import math
from collections.abc import Iterable
from functools import reduce
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from mixtally.accounting.composition.convolve import LossSum
from mixtally.accounting.composition.losses import LossDistribution
from mixtally.errors import AccountingError
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.tails import Floats

_FINE = 1.0 / 256.0
"""Largest step of the lattice, in standard deviations of a bin's loss."""
_LEAST_STEP = 2.0**-24
_MOST_PLACES = 1 << 13
"""Losses of this many steps or more are treated as infinite."""
_ROUNDING_SLACK = 1.0 + 1e-12


class _BinLosses(NamedTuple):
    """The distribution of the losses of one bin on a lattice.

    ``chances`` has the probabilities of the losses of ``first``, first + 1, .. steps. ``infinite``
    is the probability of an infinite loss.
    """

    first: int
    chances: Floats
    infinite: float


def losses_of(weights: tuple[int, ...], *, paired: bool = False) -> LossDistribution:
    """Return losses that dominate one record among fakes with P[k] = weights[k] / 2^64.

    If ``paired``, the fakes of the two bins add up to a fixed total. Raises AccountingError if the
    fakes are paired and the table is not symmetric.
    """
    bins = _bin_outcomes(weights, paired=paired)
    step = _step(bins[0])
    first, both, infinite = reduce(_add_losses, (_round_up_losses(cells, step) for cells in bins))
    places = np.arange(len(both), dtype=np.int64) + first
    above = (places > 0) & (both > 0.0)
    places, chances = places[above], both[above]
    seen = chances * (1.0 + np.exp(-places * step))
    zero = max(0.0, 1.0 - infinite - float(seen.sum()))
    return LossDistribution(step, places, chances, zero, infinite)


def lower_of(
    weights: tuple[int, ...], times: int, epsilon: float, *, paired: bool = False
) -> float:
    """Return a lower bound of delta(epsilon) of ``times`` messages among fakes of this table."""
    losses, bins = losses_of(weights, paired=paired), _bin_outcomes(weights, paired=paired)
    total = LossSum([(losses, times)])
    moved = len(bins) * losses.step + total.step * (total.step > losses.step)
    beyond = sum(
        here
        for cells in bins
        for here, there in cells
        if here and there and abs(_loss(here, there)) >= _MOST_PLACES * losses.step
    )
    return max(0.0, total.lower(epsilon + times * moved) - times * _ROUNDING_SLACK * beyond / SCALE)


def points_of(losses: LossDistribution) -> list[tuple[float, float]]:
    """Return points (epsilon, delta) of the curve, at the lattice step times powers of two."""
    most = int(losses.places[-1]) if len(losses.places) else 1
    epsilons = [losses.step * 2.0**i for i in range(most.bit_length())]
    return [(epsilon, losses.delta(epsilon)) for epsilon in epsilons]


def _bin_outcomes(weights: tuple[int, ...], *, paired: bool) -> list[list[tuple[int, int]]]:
    """Return one list of outcomes for each of the two bins.

    An outcome is a possible count of the bin. It is stored as two entries of the table: its
    probabilities under the first and under the second dataset. If the bins are paired, only one
    list is returned, because the count of the other bin shows nothing more.
    """
    gained = list(pairwise((*weights, 0)))
    if paired:
        if weights != weights[::-1]:
            raise AccountingError("composition: expected a symmetric table of paired fakes")
        return [gained]
    return [gained, [(here, before) for before, here in pairwise((0, *weights))]]


def _add_losses(one: _BinLosses, other: _BinLosses) -> _BinLosses:
    """Return the sum of the losses of two independent bins."""
    return _BinLosses(
        one.first + other.first,
        np.convolve(one.chances, other.chances),
        one.infinite + other.infinite - one.infinite * other.infinite,
    )


def _loss(here: int, there: int) -> float:
    """Return ln(here / there), to nearly all digits."""
    if 2 * here < there:
        return math.log(here / there)
    return math.log1p((here - there) / there)


def _step(cells: Iterable[tuple[int, int]]) -> float:
    """Return a lattice step, a power of two that is fine enough for the finite losses."""
    finite = ((here, _loss(here, there)) for here, there in cells if here and there)
    square = math.fsum(here / SCALE * loss * loss for here, loss in finite)
    return float(2.0 ** math.floor(math.log2(max(_LEAST_STEP, _FINE * math.sqrt(square)))))


def _round_up_losses(cells: Iterable[tuple[int, int]], step: float) -> _BinLosses:
    """Return the losses of outcomes, moved to the lattice so that delta can only increase.

    ``cells`` has the outcomes of one bin as ``_bin_outcomes`` returns them.
    """
    infinite = 0
    chances: list[int] = []
    losses: list[float] = []
    for here, there in cells:
        loss = _loss(here, there) if here and there else math.inf
        if loss >= _MOST_PLACES * step:
            infinite += here
        elif here:
            chances.append(here)
            losses.append(max(loss, -_MOST_PLACES * step))
    if not chances:
        return _BinLosses(0, np.zeros(1), infinite / SCALE)
    own = np.array(chances, dtype=np.float64) / SCALE
    below = np.floor(np.array(losses) / step).astype(np.int64)
    up = own * (np.expm1(below * step - losses) / math.expm1(-step))
    first = int(below.min())
    found = np.bincount(below - first, weights=own - up, minlength=int(below.max()) - first + 2)
    found += np.bincount(below - first + 1, weights=up, minlength=len(found))
    return _BinLosses(first, np.maximum(found, 0.0), infinite / SCALE)
