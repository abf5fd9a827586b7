"""Labels and missing values, as text."""

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal

import numpy as np

from mixtally.api import checks
from mixtally.errors import ParameterError, PlanError
from mixtally.lab.data.label_merging import check_spaces, value_text
from mixtally.lab.data.value_types import is_missing


def separator_of(given: object) -> str | None:
    """Return the argument ``separator``, the text between labels; None if it was left out.

    Raises
    ------
    ParameterError
        If the text is empty or is not text.
    """
    if (found := checks.check_optional_text("separator", given)) != "":
        return found
    raise ParameterError(
        "separator",
        expected="the text between labels",
        got="an empty text",
        do='write separator=";", for example',
    )


def labels_of(subject: str, given: object) -> tuple[str, ...]:
    """Return labels as texts, in their order and in Unicode normalization form C.

    Raises
    ------
    DataError
        If two labels look the same.
    ParameterError
        If the argument is not a list of labels.
    PlanError
        If a label is empty or occurs twice.
    """
    given = as_list(subject, given)
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Sequence):
        raise ParameterError(
            subject,
            expected="a list of labels",
            got=checks.describe_value(given),
            do="list the label of every bin, in order",
        )
    found: list[str] = []
    for place, one in enumerate(checks.read_list(subject, given)):
        text = _text_of(one)
        if text is None:
            raise ParameterError(
                f"{subject}[{place}]",
                expected="text, a number, a truth value or a date",
                got=checks.describe_value(one),
                do="give the label as a str",
            )
        if not text or text in found:
            raise PlanError(
                subject,
                expected="distinct labels, none of them empty",
                got=f"{text!r} at position {place}",
                do="name every bin once; positions begin at 0",
            )
        found.append(text)
    check_spaces(subject, found)
    return tuple(found)


def as_list(subject: str, given: object) -> object:
    """Return a series or a one-dimensional array as a list, and any other object unchanged."""
    shape = getattr(given, "shape", (0,))
    if isinstance(shape, tuple) and len(shape) == 1:
        for name in ("to_pylist", "to_list", "tolist"):  # of Arrow, of frames, of NumPy
            if callable(convert := getattr(given, name, None)):
                with checks.guard_reading(subject):
                    return convert()
    return given


def missing_texts(values: object) -> tuple[str, ...]:
    """Return, as texts, the values that the caller wants to be treated as missing.

    Raises ParameterError if the argument or one of its values has a wrong type.
    """
    if not isinstance(values, list | tuple | set | frozenset):
        raise ParameterError(
            "missing_values",
            expected="a list of values",
            got=checks.describe_value(values),
            do='write missing_values=["NA", -99], for example',
        )
    strange = [one for one in values if _text_of(one) is None and not is_missing(one)]
    if strange:
        raise ParameterError(
            "missing_values",
            expected="text, numbers or dates",
            got=checks.describe_value(strange[0]),
            do="list the values that mean missing",
        )
    return tuple(text for text in map(_text_of, values) if text and text.strip())


def _text_of(value: object) -> str | None:
    """Return the text of a single value, or None for other objects."""
    if isinstance(value, np.generic):  # NumPy scalars print with the name of their type
        value = value.item()
    single = isinstance(value, str | int | float | date | Decimal)
    return value_text(value) if single else None
