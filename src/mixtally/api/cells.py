"""Conversion of Python values to an Arrow array, which has one type for all its values."""

from collections.abc import Sequence
from datetime import date
from itertools import chain
from types import NoneType
from typing import Any

import numpy as np
import pyarrow

from mixtally.api.checks import guard_reading
from mixtally.errors import DataError
from mixtally.lab.data.columns import join_lists_and_singles
from mixtally.lab.data.formats.table import Array
from mixtally.lab.data.label_merging import value_text
from mixtally.lab.data.value_types import ColumnTypes, is_missing

Cells = list[Any]
_SEVERAL = (list, tuple, set, frozenset, np.ndarray)


def array_of(cells: Cells, subject: str) -> Array:
    """Return the cells of a column as an array.

    Cells with several labels become lists, and other cells single values. If a column contains
    both, each cell becomes a text, as in a data file. ``subject`` names the column in error
    messages.

    Raises
    ------
    DataError
        If a value has an unsupported type, or if two values have types that must not be mixed.
        The message states the position of the value.
    """
    types = set(map(type, cells))
    if any(map(_is_several, types)):
        return _lists(cells, subject)
    return _singles(cells, subject)


def _is_several(kind: type) -> bool:
    """Return whether cells of this type contain several labels, for example lists and series."""
    return issubclass(kind, _SEVERAL) or hasattr(kind, "to_list")


def _singles(cells: Cells, subject: str) -> Array:
    """Return an array of single values; if Arrow has no common type for them, they become text."""
    types = set(map(type, cells)) - {NoneType}
    if any(issubclass(kind, np.generic) for kind in types):
        cells = [one.item() if isinstance(one, np.generic) else one for one in cells]
        types = set(map(type, cells)) - {NoneType}
    plain = len(types) <= 1 and types <= {str, int, float, bool, date}
    if not plain and types != {int, float}:
        with guard_reading(subject):
            cells = [None if is_missing(one) else one for one in cells]
            ColumnTypes().check(cells, lambda place: f"{subject}[{place}]")
    try:
        return pyarrow.array(cells, from_pandas=True)
    except (pyarrow.ArrowException, OverflowError, TypeError, ValueError):
        with guard_reading(subject):
            return _texts(cells)


def _texts(cells: Cells) -> Array:
    """Return an array of the values as text.

    Arrow has no common type for numbers and text, and no type for large integers.
    """
    return pyarrow.array([value_text(one) for one in cells], pyarrow.string())


def _lists(cells: Cells, subject: str) -> Array:
    kinds = {kind for kind in set(map(type, cells)) if _is_several(kind)}
    several = [type(one) in kinds for one in cells]
    lists: list[Sequence[object]] = [
        () if not here else one if type(one) in (list, tuple) else _cell_labels(subject, place, one)
        for place, (one, here) in enumerate(zip(cells, several, strict=True))
    ]
    ends = np.concatenate([[0], np.cumsum([*map(len, lists)])]).astype(np.int32)
    inside = list(chain.from_iterable(lists))
    if any(map(_is_several, set(map(type, inside)))):
        raise DataError(
            subject, expected="labels in lists", got="lists in lists", do="give one list per person"
        )
    labels = _singles(inside, f"labels of {subject}")
    found = pyarrow.ListArray.from_arrays(
        ends, labels, mask=pyarrow.array([not h for h in several])
    )
    others = [None if here else one for one, here in zip(cells, several, strict=True)]
    if all(map(is_missing, others)):
        return found
    single = _singles(others, subject)
    return join_lists_and_singles(found, _texts(single.to_pylist()))


def _cell_labels(subject: str, place: int, cell: Any) -> list[object]:
    """Return the labels in a cell that is a set, an array or a series.

    The labels of a set are sorted by their text. ``place`` is the position of the cell.
    """
    with guard_reading(f"{subject}[{place}]"):
        if isinstance(cell, set | frozenset):
            return sorted(cell, key=str)
        return list(cell.tolist() if hasattr(cell, "tolist") else cell)
