"""The width of a Gaussian that smooths an expectation.

``saddle_point`` adds a Gaussian to a sum and so increases its expectation. From the measured
increase this module computes how much narrower the Gaussian must be.
"""

import math
from typing import NamedTuple

_LEAST, _MOST, _MOST_SEEN = 1.25, 8.0, 32.0
"""Limits of one narrowing step: at least, at most, and at most where the decay power was measured.
"""
_ROOM = 1.1
"""Safety factor: the increase is only about proportional to the square of the width."""


class SmoothingEffect(NamedTuple):
    """The increase of an expectation that is due to the added Gaussian, and its limits.

    Attributes
    ----------
    smoothed
        The increase for all sums that are not sums of zeros only. It is about proportional to the
        square of the Gaussian's width.
    zeros
        The increase for sums of zeros only. It is proportional to the width.
    enough
        The largest accepted value of ``smoothed + zeros``.
    little
        The value of ``smoothed`` up to which the Gaussian is accepted, however large ``zeros`` is.
    """

    smoothed: float
    zeros: float
    enough: float
    little: float

    @property
    def is_too_wide(self) -> bool:
        """Whether the increases exceed both limits."""
        return self.smoothed + self.zeros > self.enough and self.smoothed > self.little

    def narrowing_factor(self, fall: float = 2.0) -> float:
        """Return the factor, at least 1.25, by which to divide the standard deviation.

        ``smoothed`` is proportional to the width to the power ``fall``. This is 2 for a smooth sum,
        and less, as measured at two widths, for a sum whose atoms are far from each other.
        """
        if self.enough <= 0.0 or self.little <= 0.0:
            return _MOST
        if fall < 2.0:
            factor = min((self.smoothed + self.zeros) / self.enough, self.smoothed / self.little)
            # The power approaches 2 as the width falls, so the mean of both is used.
            return min(max(_ROOM * math.pow(factor, 2.0 / (fall + 2.0)), _LEAST), _MOST_SEEN)
        # The factor f solves enough f^2 = zeros f + smoothed.
        both = self.zeros + math.sqrt(self.zeros**2 + 4.0 * self.enough * self.smoothed)
        factor = min(both / (2.0 * self.enough), math.sqrt(self.smoothed / self.little))
        return min(max(_ROOM * factor, _LEAST), _MOST)


def decay_power(before: float, after: float, width: float) -> float:
    """Return the power p, in [1, 2], for which ``after / before`` is ``width`` to the power p.

    ``before`` and ``after`` are the increases before and after the width was multiplied by
    ``width`` < 1.
    """
    if not 0.0 < after < before:
        return 1.0
    return min(max(math.log(after / before) / math.log(width), 1.0), 2.0)
