"""Types of the values in a column, so that values of different types are never confused.

JSON and Python values have types: 1 and "1" differ there, but their texts are equal. The readers of
JSON and of Python values refuse a column that mixes such types.
"""

import re
from collections.abc import Callable, Iterable
from datetime import date, datetime, time
from decimal import Decimal
from types import NoneType

from mixtally.errors import DataError
from mixtally.lab.data.label_merging import value_text

_PLAIN = re.compile(r"-?\d+(\.\d+)?([eE][-+]?\d+)?|True|False|\d{4}-\d\d-\d\d.*", re.ASCII)
_TEXT, _LIKE_OTHERS = "text", "text that reads like another type"
_WORDS = (
    (bool, "truth value"),
    (date, "date"),
    (time, "time"),
    (int | float | Decimal, "number"),
)
_MARKS = frozenset({"NAType", "NaTType"})
"""Names of the types of pandas' missing-value marks, which need not be imported to compare."""
_DATES = frozenset(("date", "moment", "moment with a time zone"))


def _name_type(sort: str) -> str:
    """Return the name of the type ``sort`` in messages."""
    return _TEXT if sort == _LIKE_OTHERS else sort


class ColumnTypes:
    """The types of the values read so far in one column.

    A column may not mix types whose values are easily confused: for example, a number with a text
    that reads like a number, or a date with a moment.
    """

    def __init__(self) -> None:
        self._met: list[str] = []
        self._done = {NoneType, list}  # types whose values need no further check

    def check(self, values: Iterable[object], subject: Callable[[int], str]) -> None:
        """Raise DataError for the first value whose type is unsupported or conflicts with others.

        ``subject`` maps the position of a value to the text by which an error refers to the value.
        None is a missing value. Lists may occur with any other type, because they are sets of
        labels.
        """
        like_others = _PLAIN.fullmatch
        for place, value in enumerate(values):
            if type(value) in self._done:
                continue
            if type(value) is str and _TEXT in self._met and not like_others(value):
                continue
            sort = _describe_type(value)
            # Values of these Python types may be of different sorts, so that each value is checked:
            # a text may read like a number, and a moment may have a time zone.
            if not isinstance(value, str | datetime):
                self._done.add(type(value))
            if sort in self._met:
                continue
            if sort is None:
                raise DataError(
                    subject(place),
                    expected="text, a number, a truth value or a date",
                    got=f"a value of type {type(value).__name__}",
                    do="give one value per person",
                )
            for before in self._met:
                if _TEXT not in (sort, before):  # plain text cannot be confused with other types
                    dates = {sort, before} <= _DATES
                    raise DataError(
                        subject(place),
                        expected=f"values of one type: a {_name_type(before)} as before",
                        got=f"the {_name_type(sort)} {value_text(value)!r}",
                        do="make them all dates, or all moments with one time zone"
                        if dates
                        else 'make them all text, or all numbers: 1 and "1" are not the same',
                    )
            self._met.append(sort)


def is_missing(value: object) -> bool:
    """Return whether ``value`` is None, NA, NaT, not-a-number, or text of spaces only."""
    if value is None or type(value).__name__ in _MARKS:
        return True
    if isinstance(value, str):
        return not value or value.isspace()
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, float) and value != value


def _describe_type(value: object) -> str | None:
    """Return the type of a value in words; None for an unsupported type."""
    if isinstance(value, str):
        return _LIKE_OTHERS if _PLAIN.fullmatch(value) else _TEXT
    if isinstance(value, datetime):
        return "moment" if value.utcoffset() is None else "moment with a time zone"
    return next((word for kind, word in _WORDS if isinstance(value, kind)), None)
