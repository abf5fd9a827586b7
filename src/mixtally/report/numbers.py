"""Numbers as text: estimates rounded to two digits of their error, privacy numbers rounded safely.

All documents format their numbers with this module.
"""

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal


def number(value: float, digits: int = 3) -> str:
    """Return a number as text, with separators between groups of three digits.

    Parameters
    ----------
    value : float
        The number to write.
    digits : int
        The number of significant digits. All digits before the decimal point are kept, even if they
        are more.
    """
    # The format "g" would write a number with more than ``digits`` digits with an exponent.
    if abs(value) >= 10**digits - 0.5:
        return f"{value:,.0f}"
    return f"{value:,.{digits}g}"


def at_most(value: float, digits: int = 3) -> str:
    """Return an upper privacy number as text, rounded up so that it never understates the loss.

    Parameters
    ----------
    value : float
        An upper bound, such as an epsilon or a delta.
    digits : int
        The number of significant digits.
    """
    return _round_to_side(value, digits, ROUND_CEILING)


def at_least(value: float, digits: int = 3) -> str:
    """Return a lower privacy number as text, rounded down.

    Parameters
    ----------
    value : float
        A lower bound, such as an epsilon or a delta.
    digits : int
        The number of significant digits.
    """
    return _round_to_side(value, digits, ROUND_FLOOR)


def bracket_text(lower: float, upper: float) -> str:
    """Return both bounds of a privacy number as text: the lower rounded down, the upper up."""
    return f"[{at_least(lower, 4)}, {at_most(upper, 4)}]"


def percent(share: float) -> str:
    """Return a share in percent, unrounded."""
    return f"{100 * share:g} %"


def interval_text(lower: float, upper: float, sign: str = "") -> str:
    """Return an interval of counts as text, such as ``1,200 .. 1,350``.

    Parameters
    ----------
    lower : float
        The lower end of the interval, in counts.
    upper : float
        The upper end of the interval, in counts.
    sign : str
        "+" writes plus signs, too; by default only minus signs are written.
    """
    return f"{lower:{sign},} .. {upper:{sign},}"


def error_text(value: float) -> str:
    """Return an error with two significant digits, or with all digits before the decimal point."""
    return number(value, 2)


def round_to_error(
    value: float, error: float | None, rounding: Callable[[float], int] = round, sign: str = ""
) -> str:
    """Round ``value`` to the place of the second significant digit of its error.

    All further digits are noise.

    Parameters
    ----------
    value : float
        The number to write.
    error : float or None
        The standard error; None if it is not known.
    rounding : callable
        The rounding function. For an interval, it rounds the lower end down and the upper end up.
    sign : str
        "+" writes plus signs, too; by default only minus signs are written.
    """
    if error is None or not math.isfinite(error):
        return f"{value:{sign},.0f}"
    if error <= 0.0:
        return f"{value:{sign},.6g}"
    # The tolerance is for an error that is a power of ten, whose logarithm may be rounded down.
    places = 1 - math.floor(math.log10(error) + 1e-9)
    rounded = rounding(value * 10.0**places) / 10.0**places + 0.0  # adding 0.0 avoids a minus zero
    return f"{rounded:{sign},.{max(0, places)}f}"


def printable(text: str) -> str:
    """Return a text from outside on one line, without characters that control a terminal."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def _round_to_side(value: float, digits: int, rounding: str) -> str:
    """Round in decimal, so that the direction of rounding is exact."""
    return f"{float(Context(prec=digits, rounding=rounding).plus(Decimal(repr(value)))):.{digits}g}"
