"""Numbers for people: as many digits as they support, privacy rounded to its own side."""

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal


def number(value: float, digits: int = 3) -> str:
    """``value`` for people: grouped thousands, or ``digits`` significant digits."""
    if abs(value) >= 10**digits - 0.5:
        return f"{value:,.0f}"
    return f"{value:,.{digits}g}"


def at_most(value: float, digits: int = 3) -> str:
    """A privacy number for people, rounded up: what is read is never less than what is true."""
    return _round_to_side(value, digits, ROUND_CEILING)


def at_least(value: float, digits: int = 3) -> str:
    """The lower end of a privacy number for people, rounded down."""
    return _round_to_side(value, digits, ROUND_FLOOR)


def bracket_text(lower: float, upper: float) -> str:
    """Both ends of a privacy number, each rounded to its own side."""
    return f"[{at_least(lower, 4)}, {at_most(upper, 4)}]"


def percent(share: float) -> str:
    """A share as it was given."""
    return f"{100 * share:g} %"


def interval_text(lower: float, upper: float, sign: str = "") -> str:
    """An interval of counts; ``sign`` as in ``supported``."""
    return f"{lower:{sign},} .. {upper:{sign},}"


def error_text(value: float) -> str:
    """An error for people: two digits, or all before the point."""
    return number(value, 2)


def round_to_error(
    value: float, error: float | None, to: Callable[[float], int] = round, sign: str = ""
) -> str:
    """``value`` to the second digit of its ``error``: more of it would be noise.

    where
      to     rounds: down and up for the ends of an interval
      sign   "+" writes the sign of a rise, too
    """
    if error is None or not math.isfinite(error):
        return f"{value:{sign},.0f}"
    if error <= 0.0:
        return f"{value:{sign},.6g}"
    places = 1 - math.floor(math.log10(error) + 1e-9)
    rounded = to(value * 10.0**places) / 10.0**places + 0.0  # no minus zero
    return f"{rounded:{sign},.{max(0, places)}f}"


def printable(text: str) -> str:
    """``text`` of somebody else on one line: what could draw or break lines is replaced."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def _round_to_side(value: float, digits: int, rounding: str) -> str:
    return f"{float(Context(prec=digits, rounding=rounding).plus(Decimal(repr(value)))):.{digits}g}"


def pluralize(count: int, one: str, several: str | None = None) -> str:
    """A number of things; ``several`` is the plural where it is not formed with an s."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"
