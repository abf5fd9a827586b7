"""Values as people have them: lists, arrays, series and frames of any library, as lists of cells.

One rule for missing values: None, NaN, NaT, NA and text without anything but spaces are missing.
They are refused by their position, dropped with the person, or given a label of their own.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError

from mixtally.data.formats.written import written
from mixtally.data.sameness import composed
from mixtally.door.checks import reading, shown
from mixtally.errors import DataError

Cells = list[Any]
_WANTED = "a list, an array, a series or a frame"
_COUNTS = ("count", "proportion")
"""What value_counts() calls its numbers."""
_MISSING = frozenset({"NAType", "NaTType"})
"""Types of pandas' marks, which need not be installed."""


class Filled(str):
    """The label that stands where a value is missing, whatever type the others have."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of cells of equal length.

    where
      names     of the columns, as far as they have any
      columns   what stands in them, a person a place
      levels    all labels that the type of each column declares, in order: a categorical of
                pandas, an Enum of polars, a dictionary of Arrow; None where it declares none
      backend   the library that the values came from; None for plain Python and NumPy
      framed    whether there were named columns, even if only one
    """

    names: tuple[str, ...]
    columns: tuple[Cells, ...]
    levels: tuple[Cells | None, ...]
    backend: nw.Implementation | None
    framed: bool

    @property
    def people(self) -> int:
        """How many there are."""
        return len(self.columns[0])


def table_of(values: object) -> Table:
    """The columns of ``values``; DataError for what has none, and for columns of unequal length."""
    if isinstance(values, str | bytes) or values is None:
        raise _strange(values)
    if isinstance(values, Mapping):
        names, columns = tuple(map(name_of, values)), list(values.values())
        if len(set(names)) < len(names):
            raise _doubled(shown(list(values)))
        cells = [_cells(one, f"column {name!r}") for name, one in zip(names, columns, strict=True)]
        return _checked(names, cells, None, list(map(levels_of, columns)))
    if isinstance(values, np.ndarray) and values.ndim == 2:
        names = tuple(str(place + 1) for place in range(values.shape[1]))
        return _checked(names, [column.tolist() for column in values.T], None)
    frame: Any = values
    if hasattr(frame, "set_axis") and any(
        type(one) is not str for one in getattr(frame, "columns", ())
    ):
        values = frame.set_axis([name_of(one) for one in frame.columns], axis=1)  # of pandas
    with reading("values"):  # every library has errors of its own
        try:
            native: Any = nw.from_native(values, allow_series=True, pass_through=True)
        except DuplicateError as error:  # its lines below the first: - 'a' 2 times
            raise _doubled(" ".join(str(error).split("\n- ")[1:]) or str(error)) from error
    if isinstance(native, nw.LazyFrame):
        raise DataError(
            "values", wanted="a frame in memory", got="a lazy one", do="call .collect() first"
        )
    if isinstance(native, nw.DataFrame):
        columns = [native[name] for name in native.columns]
        cells = [one.to_list() for one in columns]
        levels = [levels_of(one.to_native()) for one in columns]
        return _checked(tuple(native.columns), cells, native.implementation, levels)
    if isinstance(native, nw.Series):
        names = (native.name,) if native.name else ("answer",)
        index = getattr(values, "index", None)  # of pandas
        if names[0] in _COUNTS and index is not None and type(index).__name__ != "RangeIndex":
            raise _counted(names[0])
        return _single(str(names[0]), native.to_list(), levels_of(values), native.implementation)
    return _single("answer", _cells(values, "values"), levels_of(values), None)


def name_of(column: object) -> str:
    """The name of a column as text: pandas has numbers too, and pairs of names."""
    return composed("/".join(map(str, column)) if isinstance(column, tuple) else str(column))


def _doubled(names: str) -> DataError:
    return DataError(
        "values",
        wanted="a name of its own for every column",
        got=names,
        do="rename these columns, or leave out all but one",
    )


def _single(name: str, cells: Cells, levels: Cells | None, backend: Any) -> Table:
    return Table((name,), (cells,), (levels,), backend, framed=False)


def levels_of(column: Any) -> Cells | None:
    """All values that the type of a column lists, in their order; None where it lists none.

    A Categorical of polars lists those that were met, which is no declaration.
    """
    kind: Any = getattr(column, "dtype", None)
    if type(kind).__name__ in ("CategoricalDtype", "Enum"):
        return [one for one in kind.categories if not is_missing(one)]
    if hasattr(column, "unify_dictionaries"):  # chunks of Arrow
        column = column.unify_dictionaries()
        column = column.chunk(0) if column.num_chunks else None
    found = getattr(column, "dictionary", None)
    return None if found is None else [one for one in found.to_pylist() if not is_missing(one)]


def _cells(values: object, subject: str) -> Cells:
    """One column as a list; DataError for what is no column, or raises while it is read."""
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise _strange(values, subject)
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise DataError(
                subject,
                wanted="one value a person, or a table with a row a person",
                got=f"an array of shape {values.shape}",
                do="give one row a person",
            )
        if values.dtype.kind == "M":  # moments finer than Python's would be numbers
            values = values.astype("datetime64[us]")
        return list(values.tolist())
    if isinstance(values, set | frozenset):
        raise DataError(
            subject,
            wanted="one value a person, in an order",
            got="a set, which holds every value once",
            do="give a list with a place for every person",
        )
    with reading(subject):
        for name in ("to_pylist", "to_list"):  # arrays of Arrow, series
            if hasattr(values, name):
                return list(getattr(values, name)())
        return [one.item() if isinstance(one, np.generic) else one for one in values]


def _checked(
    names: tuple[str, ...],
    columns: Sequence[Cells],
    backend: Any,
    levels: Sequence[Cells | None] | None = None,
) -> Table:
    if not columns:
        raise DataError("values", wanted="at least one column", got="none", do="choose a column")
    if len(columns) > 1 and names[-1] in _COUNTS and _are_counts(columns):
        raise _counted(names[-1])
    lengths = sorted(set(map(len, columns)))
    if len(lengths) > 1:
        raise DataError(
            "values",
            wanted="columns of one length",
            got=f"{lengths[0]:,} and {lengths[-1]:,} rows",
            do="give every person a value in each",
        )
    levels = levels or [None] * len(columns)
    names = tuple(map(name_of, names))
    return Table(names, tuple(columns), tuple(levels), backend, framed=True)


def _are_counts(columns: Sequence[Cells]) -> bool:
    """Whether every row is a value of its own, with a number."""
    keys = [tuple(map(repr, row)) for row in zip(*columns[:-1], strict=False)]
    return len(set(keys)) == len(keys) and {type(one) for one in columns[-1]} <= {int, float}


def _counted(name: object) -> DataError:
    return DataError(
        "values",
        wanted="a value a person",
        got=f"counts of values, in {name!r}",
        do="give the column that was counted, before value_counts()",
    )


def _strange(values: object, subject: str = "values") -> DataError:
    return DataError(subject, wanted=_WANTED, got=shown(values), do="give one value a person")


def is_missing(cell: object) -> bool:
    """Whether a cell holds no value."""
    if cell is None or type(cell).__name__ in _MISSING:
        return True
    if isinstance(cell, float):
        return math.isnan(cell)
    return isinstance(cell, str) and (not cell or cell.isspace())


def _gaps(cells: Cells) -> list[int]:
    """Places of missing values; columns of one type without any are seen at once."""
    types = set(map(type, cells))
    if types <= {int, bool}:
        return []
    return [place for place, one in enumerate(cells) if is_missing(one)]


def without_missing(table: Table, missing: str, *, labels: bool) -> tuple[Table, int]:
    """The table without missing values by the rule ``missing``, and how many people were dropped.

    where
      missing   "refuse", "drop", or the label that stands for a missing value
      labels    whether these values have labels: numbers and bits have none

    Raises DataError for a missing value by its position, and for a label where there are none.
    """
    gone = sorted({place for cells in table.columns for place in _gaps(cells)})
    if missing not in ("refuse", "drop") and not labels:
        raise DataError(
            "missing",
            wanted='"refuse" or "drop" for values without labels',
            got=repr(missing),
            do="choose one",
        )
    if missing not in ("refuse", "drop"):  # one more, whether or not anybody lacks a value
        levels = [given and list(dict.fromkeys([*given, missing])) for given in table.levels]
        table = replace(table, levels=tuple(levels))
    if not gone:
        return table, 0
    if missing == "refuse":
        raise DataError(
            f"values[{gone[0]}]",
            wanted="a value for every person",
            got=f"a missing one, {len(gone):,} in all",
            do='say missing="drop", or missing="no answer" to count them under such a label',
        )
    if missing == "drop":
        lost = frozenset(gone)
        kept = tuple(
            [one for place, one in enumerate(cells) if place not in lost] for cells in table.columns
        )
        return replace(table, columns=kept), len(gone)
    label = Filled(missing)
    filled = tuple([label if is_missing(one) else one for one in c] for c in table.columns)
    return replace(table, columns=filled), 0


def named_missing(table: Table, values: Collection[str]) -> Table:
    """The table with nothing in place of cells and levels whose text is one of ``values``."""
    if not values:
        return table
    named = frozenset(values)
    columns = tuple([None if text_of(one) in named else one for one in c] for c in table.columns)
    levels = tuple(c and [one for one in c if text_of(one) not in named] for c in table.levels)
    return replace(table, columns=columns, levels=levels)


def text_of(cell: object) -> str | None:
    """The text of a cell that may be named; None for lists of labels and what else has none."""
    if isinstance(cell, np.generic):
        cell = cell.item()
    return written(cell) if isinstance(cell, str | int | float | date) else None
