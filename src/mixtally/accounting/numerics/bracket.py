"""Lower and upper bounds of a divergence, with all rounding included.

Every file of ``accounting.divergence`` ends its computation here: a computed value and the bounds
of its errors become a bracket whose upper end may be promised.
"""

from typing import NamedTuple

import numpy as np

from mixtally.errors import AccountingError
from mixtally.primitives.tails import Floats

RELATIVE_SLACK = 1e-9
"""Relative increase of every divergence for floating point; the measured error is below 1e-12."""
CROSS_MACHINE_SLACK = 1.0 + 0.8 * RELATIVE_SLACK
"""Factor within which two machines agree on the upper end for the same integers.

The factor is smaller than the slack in every upper end. So an upper end from a machine that rounds
in another way still lies above the true delta.
"""

_UNDERFLOW = 1e-250
"""Bound on the sum of all terms of a divergence that underflow to zero.

Each such term is a probability below 1e-307 times at most e^20 N, where the number N of records is
at most 10^10. There are at most 10^7 terms.
"""


class Bracket(NamedTuple):
    """Bounds of a divergence: lower <= true delta <= upper."""

    lower: float
    upper: float


class BoundArrays(NamedTuple):
    """Lower and upper bounds of a divergence, one for each epsilon."""

    lower: Floats
    upper: Floats

    def to_list(self) -> list[Bracket]:
        """Return the bounds of each epsilon as a ``Bracket``."""
        pairs = zip(self.lower.tolist(), self.upper.tolist(), strict=True)
        return [Bracket(*pair) for pair in pairs]


def check_order(lower: float, upper: float) -> float:
    """Return the upper end; raise AccountingError unless the lower end is at most as large.

    Parameters
    ----------
    lower : float
        The lower end.
    upper : float
        The upper end.
    """
    if not lower <= upper:  # also raises for NaN
        raise AccountingError(
            f"divergence: expected a lower end below the upper end, got {lower} and {upper}; "
            "nothing may be promised from it"
        )
    return upper


def join_ends(lower: float, upper: float) -> Bracket:
    """Return the bounds that two derivations prove, one from below and one from above.

    Both ends include their own rounding. A lower end that exceeds the upper one by rounding is
    lowered to it.

    Parameters
    ----------
    lower : float
        The proved lower end.
    upper : float
        The proved upper end.

    Raises
    ------
    AccountingError
        If the lower end exceeds the upper one by more than rounding. Then one of them is wrong, and
        neither may be stated.
    """
    check_order(lower * (1.0 - RELATIVE_SLACK) - _UNDERFLOW, upper)
    return Bracket(min(lower, upper), upper)


def bracket(value: float, *, cut: float, rounding: float = 0.0) -> Bracket:
    """Return the bounds around a computed ``value``.

    ``cut`` bounds the omitted part of the divergence, which increases the upper end only.
    ``rounding`` bounds an error of either sign in excess of the relative slack. Raises
    AccountingError if no divergence can have this value.
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
    """Return ``bracket`` of many values at once.

    Raises AccountingError for the first value that no divergence can have.
    """
    fine = (values >= 0.0) & (values <= 1.0 + RELATIVE_SLACK) & (0.0 <= cut <= 1.0)
    fine &= (rounding >= 0.0) & (rounding <= 1.0)
    if not fine.all():
        # The first bad value goes through ``bracket``, which describes the error.
        at = int(np.argmin(fine))
        bracket(float(values[at]), cut=cut, rounding=float(rounding[at]))
    upper = np.minimum(1.0, values * (1.0 + RELATIVE_SLACK) + cut + rounding)
    lower = np.minimum(upper, values * (1.0 - RELATIVE_SLACK) - rounding)
    return BoundArrays(np.maximum(0.0, lower), upper)


def keep_positive(upper: float, epsilon: float, reach: float) -> float:
    """Return ``upper``, raised to a tiny positive number where the true delta is positive.

    ``upper`` may have underflowed. Delta is positive for epsilon below ``reach``, the largest
    privacy loss, which is ``math.inf`` if the loss is unbounded.
    """
    return upper if epsilon >= reach else max(upper, _UNDERFLOW)


def larger(*bounds: Bracket) -> Bracket:
    """Return the bounds of the largest of several divergences."""
    return Bracket(max(e.lower for e in bounds), max(e.upper for e in bounds))


def larger_bounds(one: BoundArrays, other: BoundArrays) -> BoundArrays:
    """Return the bounds of the larger of two divergences at each epsilon."""
    return BoundArrays(np.maximum(one.lower, other.lower), np.maximum(one.upper, other.upper))


def cap_at_one(value: float, cut: float) -> Bracket:
    """Return the bounds of a value that approximations may have raised above one.

    Larger values are replaced by one, which bounds every divergence.
    """
    return bracket(value, cut=min(cut, 1.0)) if value < 1.0 else Bracket(value, 1.0)
