"""The privacy losses of a value in clear among a mix's fakes, from the mix's table itself.

Two bins differ between the two datasets. Fakes are independent from bin to bin, so their losses add
up, each with the chance F(k) of k fakes:

    the bin that gained the record shows k + 1: loss ln F(k) / F(k+1), infinite past the table's end
    the bin that lost it shows k:               loss ln F(k) / F(k-1), infinite at k = 0

Exchanging the bins exchanges the datasets, so the sum's losses below zero mirror those above. Of a
discrete Gaussian the losses are (2 (k - s) + 1) / (2 v) and -(2 (k - s) - 1) / (2 v); those of
integers over 2^64 differ where few are left, so it is the integers' that are taken.

Each loss goes to the two points of a lattice around it so that its chance and the mean of e^-loss
stay: the curve of the result is made of chords of the true one, which is convex in e^epsilon, and
lies above it. What is beyond the lattice is taken for infinite. Both only add, so the result
dominates; that adds at most a quarter of the step's square to a variance.

A loss that is not beyond the lattice moves by less than a step. So what t messages, 2t bins, reveal
at epsilon is no less than the rounded losses do 2t steps above it, less the chance that some loss
is beyond.

Source: Doroshenko, Ghazi, Kamath, Kumar, Manurangsi, Connect the Dots (2022), algorithm 1.
"""

import math
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from mixtally.accounting.composition.convolve import LossSum
from mixtally.accounting.composition.losses import LossDistribution
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.tails import Floats

_FINE = 1.0 / 256.0
"""Of a bin's standard deviation: the step of the lattice, or up to half of it."""
_LEAST_STEP = 2.0**-24
_MOST_PLACES = 1 << 13
_ROUNDING_SLACK = 1.0 + 1e-12


class _BinLosses(NamedTuple):
    """One bin's losses: chances of the places from ``first`` on, and that of an infinite one."""

    first: int
    chances: Floats
    infinite: float


def losses_of(weights: tuple[int, ...]) -> LossDistribution:
    """A privacy loss distribution that dominates one record where P[k] = weights[k] / 2^64."""
    gained, lost = _bin_outcomes(weights)
    step = _step(gained)
    one, other = _round_up_losses(gained, step), _round_up_losses(lost, step)
    both = np.convolve(one.chances, other.chances)
    places = np.arange(len(both), dtype=np.int64) + (one.first + other.first)
    above = (places > 0) & (both > 0.0)
    places, chances = places[above], both[above]
    infinite = one.infinite + other.infinite - one.infinite * other.infinite
    seen = chances * (1.0 + np.exp(-places * step))
    zero = max(0.0, 1.0 - infinite - float(seen.sum()))
    return LossDistribution(step, places, chances, zero, infinite)


def lower_of(weights: tuple[int, ...], times: int, epsilon: float) -> float:
    """A lower bound of delta(epsilon) of so many such messages together."""
    losses = losses_of(weights)
    total = LossSum([(losses, times)])
    moved = 2.0 * losses.step + total.step * (total.step > losses.step)
    beyond = sum(
        here
        for cells in _bin_outcomes(weights)
        for here, there in cells
        if here and there and abs(_loss(here, there)) >= _MOST_PLACES * losses.step
    )
    return max(0.0, total.lower(epsilon + times * moved) - times * _ROUNDING_SLACK * beyond / SCALE)


def points_of(losses: LossDistribution) -> list[tuple[float, float]]:
    """Some points of its curve, from its step on, each at twice the epsilon of the last."""
    most = int(losses.places[-1]) if len(losses.places) else 1
    epsilons = [losses.step * 2.0**i for i in range(most.bit_length())]
    return [(epsilon, losses.delta(epsilon)) for epsilon in epsilons]


def _bin_outcomes(weights: tuple[int, ...]) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Chances of what is seen of the bin that gained a record and of the one that lost it, each
    with its chance in the other world.
    """
    gained = list(pairwise((*weights, 0)))
    lost = [(here, before) for before, here in pairwise((0, *weights))]
    return gained, lost


def _loss(here: int, there: int) -> float:
    """ln(here / there), to nearly all digits."""
    if 2 * here < there:
        return math.log(here / there)
    return math.log1p((here - there) / there)


def _step(cells: Iterable[tuple[int, int]]) -> float:
    """A power of two, fine enough for the losses that are finite."""
    finite = ((here, _loss(here, there)) for here, there in cells if here and there)
    square = math.fsum(here / SCALE * loss * loss for here, loss in finite)
    return float(2.0 ** math.floor(math.log2(max(_LEAST_STEP, _FINE * math.sqrt(square)))))


def _round_up_losses(cells: Iterable[tuple[int, int]], step: float) -> _BinLosses:
    """The losses of cells (F here, F there) on the lattice, or above it."""
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
