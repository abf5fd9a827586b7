"""From a computed divergence to numbers that may be stated: a lower and an upper bound."""

from typing import NamedTuple

import numpy as np

from mixtally.errors import AccountingError
from mixtally.primitives.tails import Floats

RELATIVE_SLACK = 1e-9
"""Added to every divergence for floating point; the measured error is below 1e-12."""
CROSS_MACHINE_SLACK = 1.0 + 0.8 * RELATIVE_SLACK
"""What another machine states of the same integers is no further below: it rounds otherwise.

That is less than the slack, so it still lies above the truth.
"""

_UNDERFLOW = 1e-250
"""More than all terms of any divergence together that floating point takes for nothing.

Each is a chance below 1e-307 times at most e^20 N, with N records at most 10^10, and of 10^7 terms.
"""


class Bracket(NamedTuple):
    """lower <= the true delta <= upper."""

    lower: float
    upper: float


class BoundArrays(NamedTuple):
    """Lower and upper bounds of a divergence, one for each epsilon."""

    lower: Floats
    upper: Floats

    def to_list(self) -> list[Bracket]:
        """Those of every epsilon."""
        pairs = zip(self.lower.tolist(), self.upper.tolist(), strict=True)
        return [Bracket(*pair) for pair in pairs]


def bracket(value: float, *, cut: float, rounding: float = 0.0) -> Bracket:
    """The bounds around a computed ``value``.

    where
      cut        bound on what was left out of the divergence, so the upper bound rises by it
      rounding   bound on an error of either sign beyond the relative slack

    Raises AccountingError for a value that no divergence can have.
    """
    if not (0.0 <= value <= 1.0 + RELATIVE_SLACK and 0.0 <= cut <= 1.0 and 0.0 <= rounding <= 1.0):
        raise AccountingError(
            f"divergence: expected a number in [0, 1], got {value} (cut {cut}, rounding "
            f"{rounding}); "
            "nothing may be promised from it"
        )
    upper = min(1.0, value * (1.0 + RELATIVE_SLACK) + cut + rounding)
    return Bracket(max(0.0, min(upper, value * (1.0 - RELATIVE_SLACK) - rounding)), upper)


def brackets(values: Floats, *, cut: float, rounding: Floats) -> BoundArrays:
    """``bracket`` of many values; raises as it does."""
    fine = (values >= 0.0) & (values <= 1.0 + RELATIVE_SLACK) & (0.0 <= cut <= 1.0)
    fine &= (rounding >= 0.0) & (rounding <= 1.0)
    if not fine.all():
        at = int(np.argmin(fine))
        bracket(float(values[at]), cut=cut, rounding=float(rounding[at]))  # it says what is wrong
    upper = np.minimum(1.0, values * (1.0 + RELATIVE_SLACK) + cut + rounding)
    lower = np.minimum(upper, values * (1.0 - RELATIVE_SLACK) - rounding)
    return BoundArrays(np.maximum(0.0, lower), upper)


def keep_positive(upper: float, epsilon: float, reach: float) -> float:
    """``upper``, but above zero where the divergence is: at epsilons below the largest loss.

    where
      reach   the largest loss that there is; math.inf when nothing bounds it
    """
    return upper if epsilon >= reach else max(upper, _UNDERFLOW)


def larger(*bounds: Bracket) -> Bracket:
    """The bounds of the largest of several divergences."""
    return Bracket(max(e.lower for e in bounds), max(e.upper for e in bounds))


def larger_bounds(one: BoundArrays, other: BoundArrays) -> BoundArrays:
    """The bounds of the larger of two divergences."""
    return BoundArrays(np.maximum(one.lower, other.lower), np.maximum(one.upper, other.upper))


def cap_at_one(value: float, cut: float) -> Bracket:
    """No divergence exceeds one, whatever was added."""
    return bracket(value, cut=min(cut, 1.0)) if value < 1.0 else Bracket(value, 1.0)
