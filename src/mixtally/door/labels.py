"""Values as labels of bins: which there are, in which order, and the bin of every value."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixtally.data.population import check_spaces
from mixtally.door import checks
from mixtally.door.columns import Cells
from mixtally.errors import DataError, ParameterError, PlanError


def label_of(subject: str, cell: object) -> str:
    """A value as a label: text, a whole number, a boolean or a date; DataError otherwise."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, bool | int | date):
        return str(cell)
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    do = "cut numbers with bins, low and high, or make labels of them"
    raise DataError(
        subject,
        wanted="text, a whole number, a boolean or a date",
        got=checks.shown(cell),
        do=do if isinstance(cell, float) else "give one label a person",
    )


def _sort(cell: object) -> str:
    """Which sort of value a label was made from: 1 and "1" are not the same."""
    if isinstance(cell, bool | str):
        return type(cell).__name__
    return "number" if isinstance(cell, int | float) else "date"


def numbered(
    subject: str, cells: Cells, labels: Sequence[object] | None
) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """The labels in their order, and the bin of every cell."""
    _check_sorts(subject, cells)
    distinct = dict.fromkeys(cells)
    texts = {cell: label_of(subject, cell) for cell in distinct}
    ordered = (
        _ordered(subject, list(distinct), texts) if labels is None else _given(subject, labels)
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
    for place, cell in enumerate(cells):
        label_of(f"{subject}[{place}]", cell)
        if _sort(cell) != _sort(cells[0]):
            raise DataError(
                f"{subject}[{place}]",
                wanted=f"values of one type, {_sort(cells[0])} as before",
                got=checks.shown(cell),
                do="make them all text, or all numbers",
            )


def _ordered(subject: str, values: Cells, texts: Mapping[Any, str]) -> tuple[str, ...]:
    """Labels read off the values: numbers and dates in order, texts by the alphabet."""
    labels = tuple(dict.fromkeys(texts[value] for value in sorted(values)))
    if len(labels) < 2:
        raise DataError(
            subject,
            wanted="at least two distinct values",
            got=f"only {labels[0]!r}" if labels else "none",
            do="choose values that vary, or fix the bins with labels",
        )
    return labels


def _given(subject: str, labels: Sequence[object]) -> tuple[str, ...]:
    """Labels that were fixed, as texts; PlanError for two that are alike."""
    if isinstance(labels, str | bytes | Mapping) or not isinstance(labels, Sequence):
        raise ParameterError(
            "labels", wanted="a list of labels", got=checks.shown(labels), do="list every bin"
        )
    texts = [label_of(f"labels[{place}]", one) for place, one in enumerate(labels)]
    for place, label in enumerate(texts):
        if not label or label in texts[:place]:
            raise PlanError(
                f"labels of {subject}",
                wanted="distinct labels, none of them empty",
                got=f"{label!r} in place {place}",
                do="name every bin once",
            )
    return tuple(texts)
