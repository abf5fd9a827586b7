"""One way to write a value as text, whatever format it came from.

A number without a fraction is written without one, a decimal without zeros at its end, and a moment
at midnight as its day: formats that have one kind of number, or of time, cannot tell them apart.
Text has every letter and its accents as one character.
"""

import datetime
from decimal import Decimal

from mixtally.lab.data.sameness import composed

_EXACT = 2.0**53
"""Up to here floating-point numbers have every whole number."""


def written(value: object) -> str | None:
    """The text of a value; None where there is none, which is what not-a-number says, too."""
    if isinstance(value, str):
        return composed(value)
    if value is None or value != value:
        return None
    if isinstance(value, float):
        whole = abs(value) < _EXACT and value.is_integer()
        return str(int(value)) if whole else repr(value)
    if isinstance(value, Decimal):
        return format(value.normalize(), "f") if value.is_finite() else None
    if isinstance(value, datetime.datetime):
        midnight = value.tzinfo is None and value.time() == datetime.time()
        return str(value.date() if midnight else value)
    return str(value)
