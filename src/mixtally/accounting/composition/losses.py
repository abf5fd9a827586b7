"""Privacy loss distributions on a lattice.

The modules of ``composition`` build and combine these distributions. The *privacy loss* of an
outcome is log(P / Q), where P and Q are its probabilities under two neighboring datasets.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mixtally.primitives.tails import Floats


@dataclass(frozen=True, slots=True, eq=False)
class LossDistribution:
    """A distribution of privacy losses on a lattice.

    Only losses above zero are stored. The losses below zero are those of the other order of the
    neighbors, with opposite sign: P[loss = -x] = e^-x times the probability of x in the other
    order.

    Attributes
    ----------
    step
        Distance of the lattice points, a power of two.
    places
        Losses above zero in steps, ascending, shape (n,).
    chances
        Their probabilities, shape (n,).
    zero
        Probability of the loss zero.
    infinite
        Probability of an infinite loss.
    other
        The distribution of the other order, if it differs.
    """

    step: float
    places: NDArray[np.int64]
    chances: Floats
    zero: float
    infinite: float
    other: "LossDistribution | None" = None

    @property
    def nbytes(self) -> int:
        """The memory of the arrays, in bytes."""
        return self.places.nbytes + self.chances.nbytes

    def delta(self, epsilon: float) -> float:
        """Return the divergence at ``epsilon`` >= 0."""
        gap = self.places * self.step - epsilon
        above = gap > 0.0
        return self.infinite + float((self.chances[above] * -np.expm1(-gap[above])).sum())

    def expand_both_sides(self, step: float) -> tuple[NDArray[np.int64], Floats]:
        """Return the losses on both sides of zero, in units of ``step``, and their probabilities.

        ``step`` must divide the step of this distribution.
        """
        below = self.other or self
        chances = [below.reversed_chances()[::-1], np.array([self.zero]), self.chances]
        places, under = (one.places * round(one.step / step) for one in (self, below))
        origin = np.zeros(1, dtype=np.int64)
        return np.concatenate([-under[::-1], origin, places]), np.concatenate(chances)

    def reversed_chances(self) -> Floats:
        """Return the probabilities of the stored losses under the other dataset."""
        seen: Floats = self.chances * np.exp(-self.places * self.step)
        return seen

    def coarsen(self, step: float) -> "LossDistribution":
        """Return a distribution on the lattice of ``step`` that dominates this one.

        A loss between two lattice points goes to both of them, in the proportions that preserve the
        mean of e^-loss. So the curve is again made of chords. The loss zero receives probability
        from losses above and from losses below zero.
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
        # The difference may round below zero.
        np.add.at(chances, below, np.maximum(self.chances - up, 0.0))
        np.add.at(chances, below + 1, up)
        zero = self.zero + 2.0 * float(chances[0])
        places = np.flatnonzero(chances[1:]) + 1
        return LossDistribution(step, places, chances[places], zero, self.infinite)


def combine_directions(forward: LossDistribution, backward: LossDistribution) -> LossDistribution:
    """Return the distribution with the losses of one direction above zero and of the other below.

    Both arguments must dominate one direction each and have the same delta(0). Let p be the
    probability of losses above zero, and q the probability of the same outcomes under the other
    dataset. Then p - q = delta(0). The losses above zero come from ``forward``, and the losses
    below zero from ``backward``. The rest of the probability is that of the loss zero.
    """
    above = float(forward.chances.sum()) + forward.infinite
    zero = max(0.0, 1.0 - above - float(backward.reversed_chances().sum()))
    return replace(forward, zero=zero, other=backward)
