"""What a Gaussian added to an expectation, and how much narrower it must be to add little."""

import math
from typing import NamedTuple

_LEAST, _MOST = 1.25, 8.0
_ROOM = 1.1
"""What was added falls nearly, not quite, with the square of the width."""


class Added(NamedTuple):
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
    def too_much(self) -> bool:
        """Whether the Gaussian is too wide."""
        return self.smoothed + self.zeros > self.enough and self.smoothed > self.little

    @property
    def narrowing(self) -> float:
        """The factor, in [1.25, 8], by which to divide its standard deviation."""
        if self.enough <= 0.0 or self.little <= 0.0:
            return _MOST
        both = self.zeros + math.sqrt(self.zeros**2 + 4.0 * self.enough * self.smoothed)
        factor = min(both / (2.0 * self.enough), math.sqrt(self.smoothed / self.little))
        return min(max(_ROOM * factor, _LEAST), _MOST)
