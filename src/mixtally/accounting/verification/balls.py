"""Ball arithmetic: numbers as a midpoint and a radius that covers all errors.

Only this module imports python-flint. A comparison of two balls is either certain or undecided.
Where a sum needs a comparison and the balls overlap, ``UndecidedError`` requests more bits.

Source: Johansson, Arb: efficient arbitrary-precision midpoint-radius interval arithmetic (2017).
"""

import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from fractions import Fraction
from typing import NamedTuple

from mixtally.errors import AccountingError, InputError

try:
    import flint
    from flint import arb, arb_poly, fmpq
except ModuleNotFoundError as error:
    raise InputError(
        "rigorous check",
        expected="python-flint, which computes in balls",
        got="an installation without it",
        do="pip install 'mixtally[rigorous]'",
    ) from error

__all__ = [
    "FIRST_NATS",
    "NEGLIGIBLE_DELTA",
    "NOTHING",
    "SCALE",
    "Bounds",
    "UndecidedError",
    "arb",
    "arb_poly",
    "certainly_below",
    "compute_narrow",
    "enclosing_ball",
    "exact_ball",
    "least_integer_above",
    "negligible",
    "working_precision",
]

SCALE = 1 << 64
"""The denominator of the probabilities in a plan."""
BITS = 128
"""Precision with which every sum is tried first."""
FIRST_NATS = 60.0
_TRIES = ((BITS, FIRST_NATS), (2 * BITS, 130.0), (4 * BITS, 270.0), (8 * BITS, 550.0))
"""Bits of a ball, and nats: the probability outside a window is about e^-nats."""
NEGLIGIBLE_DELTA = 1e-30
"""A delta far below any that is promised. Bounds of smaller deltas need not be narrow."""


class UndecidedError(AccountingError):
    """Two balls overlap where the larger number must be known."""


class Bounds(NamedTuple):
    """Lower and upper bound of a number, each computed as a ball (a middle and a radius).

    The number is at least the low end of ``lower`` and at most the high end of ``upper``.
    """

    lower: arb
    upper: arb

    def is_narrow(self, share: float) -> bool:
        """Return whether the ends differ by at most this share of the upper one, or are tiny."""
        top = self.upper.upper()
        return bool(top < NEGLIGIBLE_DELTA or top - self.lower.lower() <= top * share)

    def widen(self, cost: arb) -> "Bounds":
        """Return the bounds of a divergence that differs from this one by at most ``cost``."""
        return Bounds((self.lower - cost).max(arb(0)), (self.upper + cost).min(arb(1)))

    def raise_by(self, cost: arb) -> "Bounds":
        """Return the bounds with ``cost`` added to both ends, which remain at most 1."""
        return Bounds((self.lower + cost).min(arb(1)), (self.upper + cost).min(arb(1)))

    def larger_of(self, other: "Bounds") -> "Bounds":
        """Return the bounds of the larger of two numbers."""
        return Bounds(self.lower.max(other.lower), self.upper.max(other.upper))

    def to_floats(self) -> tuple[float, float]:
        """Return both ends as floats in [0, 1], rounded outwards.

        Raises AccountingError if no divergence has these bounds.
        """
        if not (self.lower.is_finite() and self.upper.is_finite()):
            raise AccountingError("rigorous check: a sum in balls is not a finite number")
        low, high = _rational(self.lower.lower()), _rational(self.upper.upper())
        if not (low <= high and low <= 1 and high >= 0):
            raise AccountingError(f"rigorous check: expected bounds of a divergence, got {self}")
        return _float_below(max(low, Fraction(0))), _float_above(min(high, Fraction(1)))


NOTHING = Bounds(arb(0), arb(0))


def exact_ball(value: int | Fraction) -> arb:
    """Return the smallest ball around a rational number."""
    ratio = Fraction(value)
    return arb(fmpq(ratio.numerator, ratio.denominator))


def enclosing_ball(low: arb, high: arb) -> arb:
    """Return a ball that contains all numbers from ``low`` to ``high``."""
    return low.union(high)


def least_integer_above(limit: arb) -> int:
    """Return the least integer above ``limit``; raise UndecidedError if the limit is too close."""
    found = limit.floor().unique_fmpz()
    if found is None:
        raise UndecidedError("rigorous check: an integer is too close to a limit")
    return int(found) + 1


def certainly_below(one: arb, other: arb) -> bool:
    """Return whether ``one`` < ``other``; raise UndecidedError if the balls overlap."""
    if one < other:
        return True
    if one > other:
        return False
    raise UndecidedError("rigorous check: two numbers too close to compare")


def negligible() -> arb:
    """Return a relative change that is below the rounding error of the current precision."""
    return exact_ball(Fraction(1, 1 << int(flint.ctx.prec)))


def working_precision(bits: int = BITS) -> AbstractContextManager[object]:
    """Return a context in which every operation has ``bits`` bits."""
    block: AbstractContextManager[object] = flint.ctx.workprec(bits)
    return block


def compute_narrow(compute: Callable[[float], Bounds], share: float) -> Bounds:
    """Return the result of ``compute`` with more and more bits until it is narrow.

    The argument of ``compute`` is a number of nats: outcomes less probable than e^-nats may be left
    out. If no result is narrow, the last result is returned, which is wide but true. Raises
    UndecidedError if the largest precision decides nothing.
    """
    found: Bounds | None = None
    for bits, nats in _TRIES:
        with working_precision(bits):
            try:
                found = compute(nats)
            except UndecidedError:
                continue
            if found.is_narrow(share):
                return found
    if found is None:
        raise UndecidedError(f"rigorous check: undecided with {_TRIES[-1][0]} bits")
    return found


def _rational(end: arb) -> Fraction:
    """Return the exact value of a ball whose radius is 0."""
    mantissa, exponent = (int(part) for part in end.man_exp())
    return mantissa * Fraction(2) ** exponent


def _float_below(value: Fraction) -> float:
    near = float(value)
    return math.nextafter(near, -math.inf) if Fraction(near) > value else near


def _float_above(value: Fraction) -> float:
    near = float(value)
    return math.nextafter(near, math.inf) if Fraction(near) < value else near
