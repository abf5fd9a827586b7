"""Numbers in balls: a middle and a radius that holds the true value, after every operation.

This is the one door to python-flint. Whoever compares balls is told "certainly" or nothing; where a
sum needs an answer and the balls are too wide for one, ``UndecidedError`` asks for more bits.

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

BITS = 128
"""With which every sum is tried first."""
FIRST_NATS = 60.0
_TRIES = ((BITS, FIRST_NATS), (2 * BITS, 130.0), (4 * BITS, 270.0), (8 * BITS, 550.0))
"""Bits of a ball, and nats: what lies outside a window has a chance of about e^-nats."""
NEGLIGIBLE_DELTA = 1e-30
"""A delta below any that is promised, by far: not made narrow."""


class UndecidedError(AccountingError):
    """Two balls overlap where it matters which number is larger."""


class Bounds(NamedTuple):
    """lower <= the true number <= upper, each of them a ball: lower's low end, upper's high end."""

    lower: arb
    upper: arb

    def is_narrow(self, share: float) -> bool:
        """Whether the ends differ by at most this share of the upper one, or nobody would care."""
        top = self.upper.upper()
        return bool(top < NEGLIGIBLE_DELTA or top - self.lower.lower() <= top * share)

    def widen(self, cost: arb) -> "Bounds":
        """Of a divergence that is off by no more than ``cost``."""
        return Bounds((self.lower - cost).max(arb(0)), (self.upper + cost).min(arb(1)))

    def raise_by(self, cost: arb) -> "Bounds":
        """Of what is stated once ``cost`` has been added."""
        return Bounds((self.lower + cost).min(arb(1)), (self.upper + cost).min(arb(1)))

    def larger_of(self, other: "Bounds") -> "Bounds":
        """Of the larger of two numbers."""
        return Bounds(self.lower.max(other.lower), self.upper.max(other.upper))

    def to_floats(self) -> tuple[float, float]:
        """Both as numbers in [0, 1], rounded outwards.

        Raises AccountingError for bounds that no divergence has.
        """
        if not (self.lower.is_finite() and self.upper.is_finite()):
            raise AccountingError("rigorous check: a sum in balls came to no number")
        low, high = _rational(self.lower.lower()), _rational(self.upper.upper())
        if not (low <= high and low <= 1 and high >= 0):
            raise AccountingError(f"rigorous check: no divergence lies in {self}")
        return _float_below(max(low, Fraction(0))), _float_above(min(high, Fraction(1)))


NOTHING = Bounds(arb(0), arb(0))


def exact_ball(value: int | Fraction) -> arb:
    """The smallest ball around a rational number."""
    ratio = Fraction(value)
    return arb(fmpq(ratio.numerator, ratio.denominator))


def enclosing_ball(low: arb, high: arb) -> arb:
    """A ball that holds all from ``low`` to ``high``."""
    return low.union(high)


def least_integer_above(limit: arb) -> int:
    """The least integer above ``limit``, which is none itself; raises UndecidedError."""
    found = limit.floor().unique_fmpz()
    if found is None:
        raise UndecidedError("rigorous check: an integer too close to a limit")
    return int(found) + 1


def certainly_below(one: arb, other: arb) -> bool:
    """Whether ``one`` < ``other``, for numbers that differ; raises UndecidedError."""
    if one < other:
        return True
    if one > other:
        return False
    raise UndecidedError("rigorous check: two numbers too close to compare")


def negligible() -> arb:
    """A share below the rounding of the operations in hand."""
    return exact_ball(Fraction(1, 1 << int(flint.ctx.prec)))


def working_precision(bits: int = BITS) -> AbstractContextManager[object]:
    """For a ``with`` block: every operation in it rounds to so many bits."""
    block: AbstractContextManager[object] = flint.ctx.workprec(bits)
    return block


def compute_narrow(compute: Callable[[float], Bounds], share: float) -> Bounds:
    """What ``compute`` finds for a number of nats, with more and more bits until it is narrow.

    The last one tried where none is that narrow: wide, but true. Raises UndecidedError.
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
    """The value of a ball without radius."""
    mantissa, exponent = (int(part) for part in end.man_exp())
    return mantissa * Fraction(2) ** exponent


def _float_below(value: Fraction) -> float:
    near = float(value)
    return math.nextafter(near, -math.inf) if Fraction(near) > value else near


def _float_above(value: Fraction) -> float:
    near = float(value)
    return math.nextafter(near, math.inf) if Fraction(near) < value else near
