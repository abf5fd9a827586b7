"""Labels that a program fixes, and values that mean missing, as texts."""

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal

import numpy as np

from mixtally.api import checks
from mixtally.errors import ParameterError, PlanError
from mixtally.lab.data.label_merging import Merging, check_spaces, value_text
from mixtally.lab.data.value_types import is_missing


def separator_of(given: object) -> str | None:
    """The text between labels; None for what was left out, ParameterError for an empty one."""
    if (found := checks.check_optional_text("separator", given)) != "":
        return found
    raise ParameterError(
        "separator",
        expected="the text between labels",
        got="nothing",
        do='separator=";", for example',
    )


def merging_of(strip: object, ignore_case: object, other: object) -> Merging:
    """How values become labels; ParameterError for arguments of another type."""
    return Merging(
        checks.check_flag("strip", strip),
        checks.check_flag("ignore_case", ignore_case),
        checks.check_optional_text("other", other),
    )


def labels_of(subject: str, given: object) -> tuple[str, ...]:
    """Labels as texts in their order, every letter with its accents as one character.

    Raises ParameterError for what is no list of labels, PlanError for two that are alike and for an
    empty one, DataError for two that nobody can tell apart.
    """
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Sequence):
        raise ParameterError(
            subject,
            expected="a list of labels",
            got=checks.describe_value(given),
            do="list every bin",
        )
    found: list[str] = []
    for place, one in enumerate(checks.read_list(subject, given)):
        text = _text_of(one)
        if text is None:
            raise ParameterError(
                f"{subject}[{place}]",
                expected="text, a number, a truth value or a date",
                got=checks.describe_value(one),
                do="give it as a str",
            )
        if not text or text in found:
            raise PlanError(
                subject,
                expected="distinct labels, none of them empty",
                got=f"{text!r} in place {place}",
                do="name every bin once",
            )
        found.append(text)
    check_spaces(subject, found)
    return tuple(found)


def missing_texts(values: object) -> tuple[str, ...]:
    """Values that mean missing, as texts; ParameterError for what is no list of them."""
    if not isinstance(values, list | tuple | set | frozenset):
        raise ParameterError(
            "missing_values",
            expected="a list of values",
            got=checks.describe_value(values),
            do='missing_values=["NA", -99], for example',
        )
    strange = [one for one in values if _text_of(one) is None and not is_missing(one)]
    if strange:
        raise ParameterError(
            "missing_values",
            expected="text, numbers or dates",
            got=checks.describe_value(strange[0]),
            do="name the values themselves",
        )
    return tuple(text for text in map(_text_of, values) if text and text.strip())


def _text_of(value: object) -> str | None:
    """The text of a value; None for what has none."""
    if isinstance(value, np.generic):  # a label of NumPy's is the number or text that it holds
        value = value.item()
    single = isinstance(value, str | int | float | date | Decimal)
    return value_text(value) if single else None
