"""A distribution of privacy losses on a lattice, and its mirror image below zero."""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mixtally.primitives.tails import Floats


@dataclass(frozen=True, slots=True, eq=False)
class LossDistribution:
    """A distribution of losses on a lattice; the mirror image below zero is understood.

    where
      step       distance of the lattice's points, a power of two
      places     losses above zero in steps, ascending, shape (n,)
      chances    their probabilities, shape (n,)
      zero       probability of no loss
      infinite   probability of a loss that nothing bounds
      other      the same of the other direction, where its losses are others: its mirror image
                 lies below zero then
    """

    step: float
    places: NDArray[np.int64]
    chances: Floats
    zero: float
    infinite: float
    other: "LossDistribution | None" = None

    @property
    def nbytes(self) -> int:
        """What its arrays take."""
        return self.places.nbytes + self.chances.nbytes

    def delta(self, epsilon: float) -> float:
        """Its own curve at ``epsilon`` >= 0."""
        gap = self.places * self.step - epsilon
        above = gap > 0.0
        return self.infinite + float((self.chances[above] * -np.expm1(-gap[above])).sum())

    def expand_both_sides(self, step: float) -> tuple[NDArray[np.int64], Floats]:
        """Losses in ``step``, which divides its own, on both sides of zero, and their chances."""
        below = self.other or self
        chances = [below.reversed_chances()[::-1], np.array([self.zero]), self.chances]
        places, under = (one.places * round(one.step / step) for one in (self, below))
        origin = np.zeros(1, dtype=np.int64)
        return np.concatenate([-under[::-1], origin, places]), np.concatenate(chances)

    def reversed_chances(self) -> Floats:
        """The chances of its losses where the other answer was given: below zero."""
        seen: Floats = self.chances * np.exp(-self.places * self.step)
        return seen

    def coarsen(self, step: float) -> "LossDistribution":
        """A distribution on the lattice of ``step`` that dominates this one.

        A loss between two points goes to both so that the mean of e^-loss stays: chords again. What
        comes to zero comes from both sides.
        """
        if self.other is not None:
            ahead, back = (replace(one, other=None) for one in (self, self.other))
            return combine_directions(ahead.coarsen(step), back.coarsen(step))
        if step <= self.step or not len(self.places):
            return self
        ratio = round(step / self.step)
        below = self.places // ratio
        part = (self.places - below * ratio) * self.step
        up = self.chances * (np.expm1(-part) / math.expm1(-step))
        chances: Floats = np.zeros(int(below[-1]) + 2)
        np.add.at(chances, below, np.maximum(self.chances - up, 0.0))
        np.add.at(chances, below + 1, up)
        zero = self.zero + 2.0 * float(chances[0])
        places = np.flatnonzero(chances[1:]) + 1
        return LossDistribution(step, places, chances[places], zero, self.infinite)


def combine_directions(forward: LossDistribution, backward: LossDistribution) -> LossDistribution:
    """The distribution whose losses above zero are one direction's, and below the other's.

    where
      forward, backward   dominate one direction each, and have one delta(0)

    With p the chance of losses above zero and q what the other answer gives them, p - q = delta(0);
    what neither direction has above zero is no loss.
    """
    above = float(forward.chances.sum()) + forward.infinite
    zero = max(0.0, 1.0 - above - float(backward.reversed_chances().sum()))
    return replace(forward, zero=zero, other=backward)
