"""Equality and order of labels, and the text of each value.

Labels that look the same are merged or refused here. The readers use this module, and so do the
checks of label lists in ``api`` and ``cli``.

Equal values have the same text in every file format. The number 2.0 is written as 2, a decimal
without trailing zeros, and a moment at midnight as its day. The reason is that some formats have
only one type for all numbers or all times. In text, a letter and its accents become one character
wherever Unicode has that character.
"""

import datetime
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable
from decimal import Decimal
from typing import NamedTuple

from mixtally.errors import DataError

_PARTS = re.compile(r"(\d+)")
_NUMBER = re.compile(r"-?\d{1,30}(\.\d{1,30})?", re.ASCII)
_FRACTION = re.compile(r"-?(0|[1-9]\d*)\.\d+", re.ASCII)
_IGNORABLE = (
    (0x00AD, 0x00AD), (0x034F, 0x034F), (0x061C, 0x061C), (0x115F, 0x1160), (0x17B4, 0x17B5),
    (0x180B, 0x180F), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164),
    (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
)  # fmt: skip
"""First and last code points of the ranges of characters that fonts do not show."""
LabelSortKey = tuple[int, Decimal, tuple[tuple[int, int, str], ...], str]


def normalize_nfc(text: str) -> str:
    """Return ``text`` in Unicode normalization form C, which composes letters and accents."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def natural_sort_key(label: str) -> LabelSortKey:
    """Return a key that sorts numbers first, and other labels by the numbers in them.

    For example, 2 is before 10, and "wave 9" is before "wave 10".
    """
    if _NUMBER.fullmatch(label):
        return 0, Decimal(label), (), label
    parts = (
        # int() refuses digit strings of more than 4,300 digits; long ones are compared as text.
        (0, int(part), part) if part.isdecimal() and len(part) < 100 else (1, 0, part)
        for part in _PARTS.split(label)
    )
    return 1, Decimal(0), tuple(parts), label


class Merging(NamedTuple):
    """Options by which different values get a common label.

    ``strip`` removes spaces around a value, and ``ignore_case`` treats capital and small letters as
    equal. ``other`` is the label of all values that are not listed; None refuses such values.
    """

    strip: bool = False
    ignore_case: bool = False
    other: str | None = None

    def fold(self, text: str) -> str:
        """Return a form of ``text`` that is equal for all values with the same label."""
        text = text.strip() if self.strip else text
        return text.casefold() if self.ignore_case else text


AS_WRITTEN = Merging()
"""No merging: every spelling is a label of its own."""


def find_similar(names: Iterable[str]) -> list[str]:
    """Return the first group of names that differ only in case or outer spaces; empty if none."""
    met: dict[str, list[str]] = {}
    fold = Merging(strip=True, ignore_case=True).fold
    for name in names:
        met.setdefault(fold(name), []).append(name)
    return next((alike for alike in met.values() if len(alike) > 1), [])


def check_spaces(subject: str, names: Collection[str]) -> None:
    """Raise DataError for two names that look the same; ``subject`` begins the message.

    Such names differ in spaces, in invisible characters, or in how accents are composed.
    """
    _check_distinct(
        subject, names, _visible_form, "names that differ in more than spaces and invisible signs"
    )


def check_fractions(subject: str, names: Collection[str]) -> None:
    """Raise DataError for two of ``names`` that write the same number, such as 2.50 and 2.5."""
    expected = "one way to write a number, or labels that are listed"
    _check_distinct(subject, names, _shortest_number, expected)


def _visible_form(name: str) -> str:
    if name.isascii():
        return " ".join(name.split())
    seen = "".join(one for one in name if not _is_invisible(one))
    return " ".join(normalize_nfc(seen).split())


def _is_invisible(character: str) -> bool:
    """Return whether fonts show nothing for a character.

    This is true of the characters of category Cf, and of those with the property
    Default_Ignorable_Code_Point of Unicode 15.1 (DerivedCoreProperties.txt), most of which have
    category Cf too.
    """
    return unicodedata.category(character) == "Cf" or any(
        first <= ord(character) <= last for first, last in _IGNORABLE
    )


def _shortest_number(name: str) -> str:
    return name.rstrip("0").rstrip(".") if _FRACTION.fullmatch(name) else name


def _check_distinct(
    subject: str, names: Collection[str], normalize: Callable[[str], str], expected: str
) -> None:
    met: dict[str, str] = {}
    for name in names:
        plain = normalize(name)
        if plain == name:
            continue
        other = plain if plain in names else met.setdefault(plain, name)
        if other != name:
            raise DataError(
                subject,
                expected=expected,
                got=f"{other!a} and {name!a}",
                do="write it in one way; --strip leaves out spaces around names",
            )


_EXACT = 2.0**53
"""Largest size up to which every whole number is exact as a floating-point number."""


def value_text(value: object) -> str | None:
    """Return the text of a value, or None for a missing value, which includes not-a-number."""
    if isinstance(value, str):
        return normalize_nfc(value)
    if value is None or value != value:  # not-a-number differs from itself
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
