"""The types of the values of a column: those that may be taken for one another are refused."""

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
"""Types of pandas' marks for what is missing, which need not be installed."""
_DATES = frozenset(("date", "moment", "moment with a time zone"))


class ColumnTypes:
    """The types of one column so far: 1 beside "1", and a date beside a moment, are refused."""

    def __init__(self) -> None:
        self._met: list[str] = []
        self._done = {NoneType, list}  # types all of whose values are of one sort, or of none

    def check(self, values: Iterable[object], subject: Callable[[int], str]) -> None:
        """Raises DataError for the first value, by its place, that is none or of another type.

        What is missing is None; lists may stand beside anything, as sets of labels.
        """
        like_others = _PLAIN.fullmatch
        for place, value in enumerate(values):
            if type(value) in self._done:
                continue
            if type(value) is str and _TEXT in self._met and not like_others(value):
                continue
            sort = _describe_type(value)
            if not isinstance(value, str | datetime):
                self._done.add(type(value))
            if sort in self._met:
                continue
            if sort is None:
                raise DataError(
                    subject(place),
                    expected="text, a number, a truth value or a date",
                    got=f"a value of type {type(value).__name__}",
                    do="give one value a person",
                )
            for before in self._met:
                if _TEXT not in (sort, before):  # which reads like nothing else
                    dates = {sort, before} <= _DATES
                    raise DataError(
                        subject(place),
                        expected=f"values of one type, {before} as before",
                        got=f"{sort}, {value_text(value)!r}",
                        do="make them all dates, or all moments with one time zone"
                        if dates
                        else 'make them all text, or all numbers: 1 and "1" are not the same',
                    )
            self._met.append(sort)


def is_missing(value: object) -> bool:
    """Whether it is no value: None, NA, NaT, not-a-number, text without anything but spaces."""
    if value is None or type(value).__name__ in _MARKS:
        return True
    if isinstance(value, str):
        return not value or value.isspace()
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, float) and value != value


def _describe_type(value: object) -> str | None:
    """The type of a value in words; None for what is no value."""
    if isinstance(value, str):
        return _LIKE_OTHERS if _PLAIN.fullmatch(value) else _TEXT
    if isinstance(value, datetime):
        return "moment" if value.utcoffset() is None else "moment with a time zone"
    return next((word for kind, word in _WORDS if isinstance(value, kind)), None)
