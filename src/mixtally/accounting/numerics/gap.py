"""How far above the largest divergence known a proof of the worst dataset may end."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mixtally.primitives.tails import Floats

NEGLIGIBLE = 1e-18
"""Far below the least delta that is promised."""
_SHIFT = 2.5e-4
"""Of epsilon: a quarter of what the points of a composed curve may be apart."""
WIDTHS_A_DISTANCE = 2.5
"""The standard deviation of a Gaussian loss in units of delta(0), the distance of the two
distributions.
"""
_FLOOR = 1e-300


class Gap(NamedTuple):
    """A share of the divergence, one for all epsilons or each its own, or what is negligible.

    where
      shift   of epsilon, of a curve that is to be composed
    """

    share: float | Floats
    negligible: float = NEGLIGIBLE
    shift: float = _SHIFT

    def widen(self, factor: float) -> "Gap":
        """One that is so many times as wide."""
        return Gap(self.share * factor, self.negligible, self.shift * factor)

    def ceilings(self, found: Floats) -> Floats:
        """What is tried to be proved first when ``found`` are the largest divergences known."""
        return np.maximum(found * (1.0 + self.share), found + self.negligible)

    def widen_for_curve(self, epsilons: Sequence[float], found: Floats) -> "Gap":
        """The gap of several epsilons whose curve is to be composed: as if they were a little less.

        Where a curve is steep such a shift is many times the share, and composed no worse than the
        share where it is flat. Slopes are those of the flatter chord to either neighbor.
        """
        points, places = np.unique(np.array(epsilons), return_inverse=True)
        if len(points) < 2:
            return self
        logs: Floats = np.zeros(len(points))
        logs[places] = np.log(np.maximum(found, _FLOOR))
        falls = np.maximum(-np.diff(logs) / np.diff(points), 0.0)
        slopes = np.minimum(np.append(falls, falls[-1]), np.append(falls[0], falls))
        reach = np.maximum(points, WIDTHS_A_DISTANCE * float(found.max()))
        return self._replace(share=np.maximum(self.share, (self.shift * reach * slopes)[places]))
