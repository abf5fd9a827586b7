"""The tolerated gap between the largest divergence found and the bound proved for all datasets.

``worst_dataset`` and ``worst_datasets_1d`` prove that no dataset exceeds the largest divergence
found by more than this gap.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mixtally.primitives.tails import Floats

NEGLIGIBLE = 1e-18
"""Gap that is always accepted, far below the least delta that is promised."""
_SHIFT = 2.5e-4
"""Relative shift of epsilon: a quarter of the spacing of a composed curve's points."""
WIDTHS_A_DISTANCE = 2.5
"""Standard deviation of a Gaussian privacy loss, divided by the total variation distance delta(0).
"""
_FLOOR = 1e-300


class Gap(NamedTuple):
    """The distance that is accepted between a lower and an upper bound of delta.

    ``share`` is the accepted relative distance, one for all epsilons or one for each of them.
    ``negligible`` is the accepted absolute distance.

    ``shift`` is a relative shift of epsilon that is accepted on a curve that is to be composed.
    """

    share: float | Floats
    negligible: float = NEGLIGIBLE
    shift: float = _SHIFT

    def widen(self, factor: float) -> "Gap":
        """Return a gap that is ``factor`` times as wide."""
        return Gap(self.share * factor, self.negligible, self.shift * factor)

    def ceilings(self, found: Floats) -> Floats:
        """Return the bounds that a proof aims at, given the largest divergences found."""
        return np.maximum(found * (1.0 + self.share), found + self.negligible)

    def widen_for_curve(self, epsilons: Sequence[float], found: Floats) -> "Gap":
        """Return the gap for a curve to be composed, as if each epsilon were a little smaller.

        Where a curve is steep, a small shift of epsilon allows many times the gap of ``share``. In
        a composition this costs no more than a gap of ``share`` where the curve is flat. The slope
        at an epsilon is that of the flatter one of the chords to its neighbors.
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
