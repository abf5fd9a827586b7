"""Where a few looks say that a search for composed messages ends, as if losses were Gaussian."""

import math

from mixtally.privacy.numerics.gaussian_start import gaussian
from mixtally.privacy.numerics.search import Axis

_NEARLY = 2.0
"""A delta so near, as a factor, is one stride away."""
_STRIDE = 4.0
"""How far apart looks may lie along an axis."""


class Line:
    """What is known of a delta along an axis, as if it were that of Gaussians: their mu falls with
    a power of the place.
    """

    def __init__(self, axis: Axis, epsilon: float) -> None:
        self._axis, self._epsilon = axis, epsilon
        self._place = self._value = self._mu = math.nan
        self._power = 1.0

    def add(self, x: int, value: float) -> None:
        """A look; two of them tell the power."""
        place, mu = self._place, self._mu
        self.move(x, value)
        if place != self._place and not math.isnan(place):
            power = math.log(mu / self._mu) / math.log(self._place / place)
            if power > 0.0:
                self._power = min(max(power, 1.0 / _STRIDE), _STRIDE)

    def move(self, x: int, value: float) -> None:
        """A number of another kind, from where the line goes on."""
        self._place, self._value = self._axis.along(x), value
        self._mu = gaussian(self._epsilon, value)

    def is_near(self, target: float) -> bool:
        """Whether one stride ends within some hundredths."""
        return target / _NEARLY < self._value < target * _NEARLY

    def aim(self, target: float) -> int:
        """Where ``target`` is met, not very far away."""
        share = (self._mu / gaussian(self._epsilon, target)) ** (1.0 / self._power)
        share = min(max(share, 1.0 / _STRIDE), _STRIDE)
        return math.ceil(self._axis.back(self._place * share))
