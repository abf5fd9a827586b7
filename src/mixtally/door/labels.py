"""Values as labels of bins: which there are, in which order, and the bin of every value."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixtally.data.formats.written import written
from mixtally.data.sameness import check_fractions, check_spaces, composed, natural
from mixtally.door import checks
from mixtally.door.columns import Cells, Filled, is_missing, text_of
from mixtally.errors import DataError, ParameterError, PlanError


def label_of(subject: str, cell: object) -> str:
    """A value as a label: text, a whole number, a boolean or a date; DataError otherwise."""
    if isinstance(cell, np.generic):  # a label of NumPy's is the number or text that it holds
        cell = cell.item()
    if isinstance(cell, str):
        return composed(str(cell))
    if isinstance(cell, bool | int | date) or (isinstance(cell, float) and cell.is_integer()):
        return written(cell) or ""
    do = "cut numbers with bins, low and high, or make labels of them"
    raise DataError(
        subject,
        wanted="text, a whole number, a boolean or a date",
        got=checks.shown(cell),
        do=do if isinstance(cell, float) else "give one label a person",
    )


_MOMENT, _ZONED = "moment", "moment with a time zone"


def _sort(cell: object) -> str:
    """Which sort of value a label was made from: 1 and "1" are not the same."""
    if isinstance(cell, bool | str):
        return "truth value" if isinstance(cell, bool) else "text"
    if isinstance(cell, datetime):
        return _MOMENT if cell.utcoffset() is None else _ZONED
    return "number" if isinstance(cell, int | float) else "date"


def numbered(
    subject: str, cells: Cells, labels: Sequence[object] | None
) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """The labels in their order, and the bin of every cell."""
    _check_sorts(subject, cells)
    distinct = dict.fromkeys(cells)
    texts = {cell: label_of(subject, cell) for cell in distinct}
    ordered = (
        _ordered(subject, list(distinct), texts) if labels is None else texts_of(labels, subject)
    )
    place_of = {label: place for place, label in enumerate(ordered)}
    for cell, text in texts.items():
        if text not in place_of:
            raise DataError(
                f"{subject}[{cells.index(cell)}]",
                wanted=f"one of the {len(ordered):,} labels of the question",
                got=checks.shown(cell),
                do="add it to the labels, or map it to one of them",
            )
    check_spaces(subject, ordered)
    codes = {cell: place_of[text] for cell, text in texts.items()}
    return ordered, np.fromiter(map(codes.__getitem__, cells), dtype=np.int64, count=len(cells))


def _check_sorts(subject: str, cells: Cells) -> None:
    """Raises DataError for the first value that is no label, or of another sort than the first."""
    types = set(map(type, cells))
    if types <= {str} or types <= {int}:
        return
    before = None
    for place, cell in enumerate(cells):
        label_of(f"{subject}[{place}]", cell)
        if isinstance(cell, Filled):
            continue
        before = _sort(cell) if before is None else before
        if (sort := _sort(cell)) != before:
            dates = {before, sort} <= {"date", _MOMENT, _ZONED}
            raise DataError(
                f"{subject}[{place}]",
                wanted=f"values of one type, {before} as before",
                got=f"{sort}, {checks.shown(cell)}",
                do="make them all dates, or all moments with one time zone"
                if dates
                else "make them all text, or all numbers",
            )


def _ordered(subject: str, values: Cells, texts: Mapping[Any, str]) -> tuple[str, ...]:
    """Labels read off the values: numbers and dates in order, texts as people count."""
    if all(isinstance(value, str) for value in values):
        values = sorted(values, key=lambda value: natural(texts[value]))
        check_fractions(subject, [texts[value] for value in values])
    else:  # what stands for missing values comes last
        filled = [value for value in values if isinstance(value, Filled)]
        values = [*sorted(value for value in values if not isinstance(value, Filled)), *filled]
    labels = tuple(dict.fromkeys(texts[value] for value in values))
    if len(labels) < 2:
        raise DataError(
            subject,
            wanted="at least two distinct values",
            got=f"only {labels[0]!r}" if labels else "none",
            do="choose values that vary, or fix the bins with labels",
        )
    return labels


def texts_of(labels: Sequence[object], subject: str = "values") -> tuple[str, ...]:
    """Labels that were fixed, as texts; PlanError for two that are alike."""
    if isinstance(labels, str | bytes | Mapping) or not isinstance(labels, Sequence):
        raise ParameterError(
            "labels", wanted="a list of labels", got=checks.shown(labels), do="list every bin"
        )
    listed = checks.listed("labels", labels)
    texts = [label_of(f"labels[{place}]", one) for place, one in enumerate(listed)]
    for place, label in enumerate(texts):
        if not label or label in texts[:place]:
            raise PlanError(
                f"labels of {subject}",
                wanted="distinct labels, none of them empty",
                got=f"{label!r} in place {place}",
                do="name every bin once",
            )
    return tuple(texts)


def missing_texts(values: object) -> tuple[str, ...]:
    """Values that mean missing, as texts; ParameterError for what is no list of them."""
    if not isinstance(values, list | tuple | set | frozenset):
        raise ParameterError(
            "missing_values",
            wanted="a list of values",
            got=checks.shown(values),
            do='missing_values=["NA", -99], for example',
        )
    strange = [one for one in values if text_of(one) is None and not is_missing(one)]
    if strange:
        raise ParameterError(
            "missing_values",
            wanted="text, numbers or dates",
            got=checks.shown(strange[0]),
            do="name the values themselves",
        )
    return tuple(filter(None, map(text_of, values)))
