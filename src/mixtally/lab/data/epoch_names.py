"""Chronological order of epochs, by their names.

The order that the user states goes first, then the order that the type of the column declares.
Without either, the names of all epochs are read in one of these ways: as whole numbers; as moments,
days, weeks, months, quarters or half-years; or as texts that differ only in a number. Names that
fit none of these ways are sorted by their letters, with a warning.
``identifiers`` uses the same parsers to recognize columns of dates.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from typing import NamedTuple

from mixtally.errors import DataError

Key = tuple[int | str, ...]
"""The sort key of an epoch. All names in one order have keys of one form."""

_WHOLE = re.compile(r"-?[0-9]{1,18}")
_DIGITS = re.compile(r"([0-9]{1,18})")
_MONTHS = [
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
]  # fmt: skip
_DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_MONTH = "(?P<name>" + "|".join(f"{month[:3]}(?:{month[3:]})?" for month in _MONTHS) + r"|sept)\.?"
_YEAR, _SHORT_YEAR = r"(?P<year>[0-9]{4})", r"(?P<short>[0-9]{2})"
_SPACE, _DAY = r"[ ,./_-]+", r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?"
_TIME = (
    r"[T ](?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})"
    r"(?::(?P<second>[0-9]{2})(?:[.,](?P<part>[0-9]{1,9}))?)?"
    r"(?: ?(?P<offset>Z|UTC|GMT|[+-][0-9]{2}(?::?[0-9]{2})?))?"
)
_PART = r"(?P<letter>[qh]) ?(?P<part>[1-4])"
_WEEK = r"(?:w|wk|week|kw|cw) ?(?P<week>[0-9]{1,2})"
_ISO = rf"{_YEAR}([-/.])(?P<month>[0-9]{{1,2}})\2(?P<day>[0-9]{{1,2}})"
_READ_BY_NAME = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_YEAR}[-/.](?P<month>[0-9]{{1,2}})",
        rf"(?P<month>[0-9]{{1,2}})[-/.]{_YEAR}",
        rf"{_YEAR}[ _-]?{_WEEK}(?:-?(?P<weekday>[1-7]))?",
        rf"{_WEEK}{_SPACE}{_YEAR}",
        rf"{_YEAR}[ /._-]?{_PART}",
        rf"{_PART}[ /._-]?{_YEAR}",
        rf"(?P<part>[1-4]) ?(?P<letter>[q]){_SPACE}{_YEAR}",
        rf"(?P<part>[1-4])(?P<letter>[q])(?:{_YEAR}|{_SHORT_YEAR})",
        rf"{_PART}{_SPACE}{_SHORT_YEAR}",
        rf"{_MONTH}{_SPACE}{_YEAR}",
        rf"{_YEAR}{_SPACE}{_MONTH}",
        rf"{_MONTH}(?:-'?| ')(?P<short>[0-9]{{2}})",  # not "Nov 23", which may be a day
        rf"{_DAY}{_SPACE}{_MONTH}{_SPACE}{_YEAR}",
        rf"{_MONTH}{_SPACE}{_DAY}{_SPACE}{_YEAR}",
        rf"{_YEAR}{_SPACE}{_MONTH}{_SPACE}{_DAY}",
        _MONTH,
        "(?P<weekname>" + "|".join(f"{day[:3]}(?:{day[3:]})?" for day in _DAYS) + ")",
    )
)
_ISO_MOMENT = re.compile(rf"{_ISO}(?:{_TIME})?", re.IGNORECASE)
_OF_NUMBERS = re.compile(
    rf"(?P<one>[0-9]{{1,2}})([-/.])(?P<other>[0-9]{{1,2}})\2{_YEAR}(?:{_TIME})?", re.IGNORECASE
)
"""Day and month before the year. The name does not say which of them comes first."""


class Moment(NamedTuple):
    """The time that a name states: ``place`` grows with time, and ``kind`` is its unit.

    Names can be ordered by time only if they have the same unit.
    """

    kind: str
    place: int


class EpochOrder(NamedTuple):
    """The order of epochs: their distinct ``names``, and where each name in the data belongs.

    ``place[i]`` is the index in ``names`` of the epoch that the i-th name in the data means.
    ``warning`` says what may be wrong with the order. It is empty if no error is suspected.
    """

    names: tuple[str, ...]
    place: tuple[int, ...]
    warning: str


_CYCLES = ("month of a year", "day of a week")
"""Units whose names recur, so that they can be ordered only within one cycle."""


def order_epochs(
    names: Sequence[str],
    user_order: Sequence[str] | None = None,
    type_order: Sequence[str] | None = None,
    *,
    subject: str,
) -> EpochOrder:
    """Put the epochs ``names`` in order.

    Parameters
    ----------
    names : sequence of str
        Distinct names, in any order.
    user_order : sequence of str, optional
        All epochs in the order that the user has stated.
    type_order : sequence of str, optional
        All epochs in the order that the type of their column states.
    subject : str
        The text by which an error refers to the epochs.

    Returns
    -------
    EpochOrder
        The order. Names that state the same instant with different UTC offsets are one epoch, which
        keeps the first of these names.

    Raises
    ------
    DataError
        If the order of the user or of the type lacks a name, or if two names stand for one epoch
        and are not the same instant with different UTC offsets.
    """
    key = order_of(names, user_order, type_order)
    found = moments_of(names) if user_order is None and type_order is None else None
    merged = found is not None and found[0].kind == "moment with an offset"
    # Equal keys are sorted by position, so that the first of several names of a moment is kept.
    ranked = sorted(range(len(names)), key=lambda i: (key(names[i]), i))
    kept: list[str] = []
    place = [0] * len(names)
    for i in ranked:
        if kept and key(kept[-1]) == key(names[i]):
            if not merged:
                raise DataError(
                    subject,
                    expected="one name for each epoch",
                    got=f"{kept[-1]!r} and {names[i]!r} for the same",
                    do="write it in one way",
                )
        else:
            kept.append(names[i])
        place[i] = len(kept) - 1
    warning = _warning(names, found) if user_order is None and type_order is None else ""
    return EpochOrder(tuple(kept), tuple(place), warning)


def order_of(
    names: Sequence[str],
    user_order: Sequence[str] | None = None,
    type_order: Sequence[str] | None = None,
) -> Callable[[str], Key]:
    """Return a function that maps the name of an epoch to its sort key.

    Parameters
    ----------
    names : sequence of str
        The names of all epochs.
    user_order : sequence of str or None
        The order that the user stated, which is used if it is not None.
    type_order : sequence of str or None
        The order of the column's type, used if the user stated none.

    Returns
    -------
    callable
        The sort key: the place in one of the two orders. If both are None, names are sorted in the
        first of these ways that is possible for all of them: as whole numbers, as times, by the
        numbers in them, or by letters.

    Raises
    ------
    DataError
        If an order lacks a name.
    """
    for order in (user_order, type_order):
        if order is None:
            continue
        place: dict[str, Key] = {name: (number,) for number, name in enumerate(order)}
        missing = next((name for name in names if name not in place), None)
        if missing is not None:
            raise DataError(
                f"epoch {missing!r}",
                expected="one of the epochs in the given order",
                got="one that the order lacks",
                do="add it to the order",
            )
        return place.__getitem__
    if all(_WHOLE.fullmatch(name) for name in names):
        return lambda name: (int(name),)
    found = moments_of(names)
    if found is not None:
        times = {name: (moment.place,) for name, moment in zip(names, found, strict=True)}
        return times.__getitem__
    if _is_numbered(names):
        return lambda name: tuple(map(int, _DIGITS.findall(name)))
    return lambda name: (name,)


def declared_order(levels: Sequence[str] | None, *, ordered: bool) -> Sequence[str] | None:
    """Return the order that a type with these ``levels`` declares; None if it declares none.

    ``ordered`` says whether the type itself states that its levels are in order. If it does not,
    the levels are taken for an order only if they are sorted neither by number, by time nor by
    letters. Levels that are sorted in such a way may only have been sorted by the library.
    """
    if levels is None or ordered:
        return levels
    whole = all(_WHOLE.fullmatch(name) for name in levels)
    if whole or moments_of(levels) is not None or _is_numbered(levels):
        return None
    return None if list(levels) == sorted(levels) else levels


def moments_of(names: Iterable[str]) -> list[Moment] | None:
    """Return the time that each name states; None unless all names state times of one unit.

    Returns None, too, if the order of the names depends on whether the day or the month is first.
    """
    found: list[Moment] = []
    names = list(names)
    if not names:
        return None
    # All names must be read in the same way, so the whole list is tried with the day first, and
    # then with the month first.
    for day_first in (True, False):
        found = []
        for name in names:
            moment = _moment_of(name.strip(), day_first=day_first)
            if moment is None or moment.kind != (found[0].kind if found else moment.kind):
                break
            found.append(moment)
        if len(found) == len(names):
            break
    if len(found) < len(names):
        return None
    if any(_OF_NUMBERS.fullmatch(name.strip()) for name in names) and _is_ambiguous(names):
        return None
    return found


def _is_ambiguous(names: Sequence[str]) -> bool:
    """Return whether exchanging day and month would change the order of the names."""
    pairs = [_OF_NUMBERS.fullmatch(name.strip()) for name in names]
    if any(found is None or found[2] == "." for found in pairs):  # with dots the day comes first
        return False
    days = [(int(found["one"]), int(found["other"])) for found in pairs if found is not None]
    if any(max(pair) > 12 for pair in days):
        return False
    both = [
        [_moment_of(name.strip(), day_first=first) for name in names] for first in (True, False)
    ]
    ranks = [sorted(range(len(names)), key=lambda i: row[i] or Moment("", 0)) for row in both]
    return ranks[0] != ranks[1]


def _moment_of(name: str, *, day_first: bool) -> Moment | None:
    """Return the time that a name states; None if the name does not state a time."""
    found = _ISO_MOMENT.fullmatch(name)
    if found is not None:
        return _day_or_moment(found, int(found["month"]), int(found["day"]))
    found = _OF_NUMBERS.fullmatch(name)
    if found is not None:
        one, other = int(found["one"]), int(found["other"])
        first = day_first or found[2] == "."
        return _day_or_moment(found, *((other, one) if first else (one, other)))
    for pattern in _READ_BY_NAME:
        found = pattern.fullmatch(name)
        if found is not None:
            return _parse_words(found.groupdict())
    return None


def _day_or_moment(found: re.Match[str], month: int, day: int) -> Moment | None:
    try:
        begun = date(int(found["year"]), month, day)
    except ValueError:
        return None
    if found["hour"] is None:
        return Moment("day", begun.toordinal())
    hour, minute, second = (int(found[part] or 0) for part in ("hour", "minute", "second"))
    # Second 60 is a leap second.
    if hour > 23 or minute > 59 or second > 60:
        return None
    seconds = begun.toordinal() * 86_400 + hour * 3_600 + minute * 60 + second
    nanoseconds = seconds * 10**9 + int((found["part"] or "0").ljust(9, "0"))
    offset = found["offset"]
    if offset is None:
        return Moment("moment", nanoseconds)
    return Moment("moment with an offset", nanoseconds - _utc_offset_minutes(offset) * 60 * 10**9)


def _utc_offset_minutes(text: str) -> int:
    if text.upper() in ("Z", "UTC", "GMT"):
        return 0
    digits = text[1:].replace(":", "").ljust(4, "0")
    minutes = int(digits[:2]) * 60 + int(digits[2:])
    return -minutes if text[0] == "-" else minutes


def _parse_words(found: dict[str, str | None]) -> Moment | None:
    name, day, weekname = found.get("name"), found.get("day"), found.get("weekname")
    if weekname is not None:
        return Moment("day of a week", [one[:3] for one in _DAYS].index(weekname.lower()[:3]))
    month = found.get("month")
    number = int(month) if month else 0
    if name is not None:
        number = 1 + [one[:3] for one in _MONTHS].index(name.lower()[:3])
    year = _year(found)
    if year is None:
        return Moment("month of a year", number)
    if found.get("letter"):
        letter, part = str(found["letter"]).lower(), int(str(found["part"]))
        parts = {"q": ("quarter", 4), "h": ("half-year", 2)}
        unit, most = parts[letter]
        return Moment(unit, year * most + part) if part <= most else None
    try:
        if found.get("week"):
            weekday = int(found.get("weekday") or 1)
            begun = date.fromisocalendar(year, int(str(found["week"])), weekday)
            return Moment("day" if found.get("weekday") else "week", begun.toordinal())
        begun = date(year, number, int(day or 1))
    except ValueError:
        return None
    return Moment("day", begun.toordinal()) if day else Moment("month", year * 12 + number)


def _year(found: dict[str, str | None]) -> int | None:
    """Return the year; two digits mean 1969 to 2068, as in POSIX."""
    if found.get("year"):
        return int(str(found["year"]))
    short = found.get("short")
    if short is None:
        return None
    return int(short) + (2000 if int(short) < 69 else 1900)


def _is_numbered(names: Sequence[str]) -> bool:
    """Return whether the names differ only in one number, or in numbers that begin with a year."""
    parts = [_DIGITS.split(name) for name in names]
    if len({tuple(part[::2]) for part in parts}) != 1 or len(parts[0]) < 3:
        return False
    numbers = [tuple(part[1::2]) for part in parts]
    differ = sum(len(set(column)) > 1 for column in zip(*numbers, strict=True))
    return differ <= 1 or all(len(one[0]) == 4 for one in numbers)


def _warning(names: Sequence[str], found: Sequence[Moment] | None) -> str:
    """Return a warning if the order of the names is uncertain, otherwise an empty text.

    The order is uncertain if the names state no order, or recur, as the days of a week do.
    ``found`` has the time that each name states; None if not all names state one.
    """
    if len(names) < 2 or all(_WHOLE.fullmatch(name) for name in names):
        return ""
    if found is not None:
        if found[0].kind not in _CYCLES:
            return ""
        cycle = found[0].kind.rpartition(" ")[2]
        return (
            f"the epochs are taken for parts of one {cycle}; if they are not, give their order "
            "with --epoch-order"
        )
    if _is_numbered(names):
        return ""
    return (
        f"the epochs are sorted by their letters, as {min(names)!r} and the others are no dates "
        "or numbers of one form: give their order with --epoch-order"
    )
