"""What a Gaussian added to an expectation, and how much narrower it must be to add little."""

import math
from typing import NamedTuple

_LEAST, _MOST, _MOST_SEEN = 1.25, 8.0, 32.0
_ROOM = 1.1
"""What was added falls nearly, not quite, with the square of the width."""


class SmoothingEffect(NamedTuple):
    """What a Gaussian added when it was added to a sum.

    where
      smoothed   to sums that are not zero: it falls with the square of the width
      zeros      to sums of nothing but zeros: it falls with the width
      enough     what both together may be
      little     what ``smoothed`` alone may be, however much ``zeros`` is
    """

    smoothed: float
    zeros: float
    enough: float
    little: float

    @property
    def is_too_wide(self) -> bool:
        """Whether the Gaussian is too wide."""
        return self.smoothed + self.zeros > self.enough and self.smoothed > self.little

    def narrowing_factor(self, fall: float = 2.0) -> float:
        """The factor, at least 1.25, by which to divide its standard deviation.

        ``fall`` is the power of the width with which ``smoothed`` falls: two for a smooth sum, less
        for one whose atoms stand apart, as two widths have shown.
        """
        if self.enough <= 0.0 or self.little <= 0.0:
            return _MOST
        if fall < 2.0:
            factor = min((self.smoothed + self.zeros) / self.enough, self.smoothed / self.little)
            # The narrower, the nearer to two.
            return min(max(_ROOM * math.pow(factor, 2.0 / (fall + 2.0)), _LEAST), _MOST_SEEN)
        both = self.zeros + math.sqrt(self.zeros**2 + 4.0 * self.enough * self.smoothed)
        factor = min(both / (2.0 * self.enough), math.sqrt(self.smoothed / self.little))
        return min(max(_ROOM * factor, _LEAST), _MOST)


def decay_power(before: float, after: float, width: float) -> float:
    """The power, in [1, 2], with which what was added fell when the width fell to a share."""
    if not 0.0 < after < before:
        return 1.0
    return min(max(math.log(after / before) / math.log(width), 1.0), 2.0)
