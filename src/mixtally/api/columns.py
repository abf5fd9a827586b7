"""Values as people have them: lists, arrays, series and frames of any library, as a table."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow
from narwhals.exceptions import DuplicateError

from mixtally.api.cells import array_of
from mixtally.api.checks import describe_value, guard_reading
from mixtally.errors import DataError
from mixtally.lab.data.formats.table import Array, Table, TableBatch, suggest_column
from mixtally.lab.data.label_merging import normalize_nfc

_WANTED = "a list, an array, a series or a frame"
_COUNTS = ("count", "proportion")
"""What value_counts() calls its numbers."""
_TYPED = "biufUM"
"""Kinds of NumPy's types whose values Arrow takes as they are."""
_ROWS = 1 << 20
_SHOWN = 20
"""Names of columns that a refusal lists."""


@dataclass(frozen=True, slots=True)
class Column:
    """What stands in one column, a person a place.

    where
      array      of Arrow, in one piece or several
      declared   whether its type lists all values there may be: a categorical of pandas, an Enum
                 of polars, a dictionary of Arrow
      tuples     whether all its cells are tuples, which may be rows
    """

    array: Array
    declared: bool = False
    tuples: bool = False

    @property
    def is_boolean(self) -> bool:
        """Whether its cells are truth values."""
        return bool(pyarrow.types.is_boolean(self.array.type))


@dataclass(frozen=True, slots=True)
class Values:
    """Columns of equal length, whose places refusals name as Python does.

    where
      names     of the columns, as far as they have any
      backend   the library that the values came from; None for plain Python and NumPy
      framed    whether there were named columns, even if only one
    """

    names: tuple[str, ...]
    columns: tuple[Column, ...]
    backend: nw.Implementation | None
    framed: bool
    is_piped: bool = False
    skip_rows: int = 0

    def table(self) -> Table:
        """What ``data`` reads."""
        declared = [n for n, one in zip(self.names, self.columns, strict=True) if one.declared]
        types = [one.array.type for one in self.columns]
        ordered = [
            n for n, t in zip(self.names, types, strict=True) if getattr(t, "ordered", False)
        ]
        return Table(self.names, self._read_batches, frozenset(declared), frozenset(ordered))

    def _read_batches(
        self, asked: Sequence[int], watched: Sequence[int] = ()
    ) -> Iterator[TableBatch]:
        places = [*asked, *watched]
        arrays = [self.columns[place].array for place in places]
        with guard_reading("values"):
            joined = pyarrow.Table.from_arrays(arrays, [self.names[place] for place in places])
            batches = joined.to_batches(max_chunksize=_ROWS)
        for batch in batches:
            yield TableBatch(batch.columns, 0, 0)

    def split_roles(self, **roles: object) -> tuple["Values", "Values", dict[str, str]]:
        """The columns of the records, all columns, and the names of those of other roles.

        A role is given by the name of a column that there is, or by values of its own; None is no
        role. Raises DataError for a name that there is not, and for columns of unequal length.
        """
        names, columns, named = list(self.names), list(self.columns), dict[str, str]()
        for role, given in roles.items():
            if given is None:
                continue
            if isinstance(given, str):
                if not self.framed or given not in self.names:
                    there = ", ".join(map(repr, self.names[:_SHOWN]))
                    raise DataError(
                        role,
                        expected="values of its own, or the name of a column"
                        + f": {there}" * self.framed,
                        got=repr(given),
                        do=suggest_column(given, self.names) if self.framed else "give a list",
                    )
                named[role] = given
            else:
                named[role] = role if role not in names else f"{role} of the row"
                names.append(named[role])
                columns.append(_make_column(given, role))
        kept = [place for place, one in enumerate(self.names) if one not in named.values()]
        own = _build_values(
            tuple(self.names[place] for place in kept),
            [self.columns[place] for place in kept],
            self.backend,
        )
        every = _build_values(tuple(names), columns, self.backend)
        if not self.framed:
            own, every = replace(own, framed=False), replace(every, framed=False)
        return own, every, named

    def unreadable(self, expected: str, got: object, do: str) -> DataError:
        """The refusal of all of them."""
        return DataError("values", expected=expected, got=" ".join(str(got).split()), do=do)

    def column(self, name: str) -> str:
        """The subject of a refusal of a column."""
        return f"column {name!r}" if self.framed else "values"

    def row(self, number: int) -> str:
        """The subject of a refusal of a place, counted from 1 here and from 0 in Python."""
        return f"values[{number - 1}]"

    def skip_advice(self, rows: int) -> str:
        """How the first of them are left out."""
        return f"leave it out: values[{rows}:]"


def read_values(values: object, *, counted: bool = False) -> Values:
    """``values`` as columns; DataError for what has none, and for columns of unequal length.

    So are values that were counted, unless it is said that they are.
    """
    found = _values_of(values)
    *_, last = found.names
    if not counted and len(found.names) > 1 and last in _COUNTS and _are_counts(found.columns):
        raise _counts_error(last)
    return found


def _values_of(values: object) -> Values:
    if isinstance(values, str | bytes) or values is None:
        raise _type_error(values)
    if isinstance(values, Mapping):
        names = tuple(map(name_of, values))
        if len(set(names)) < len(names):
            raise _duplicate_names_error(describe_value(list(values)))
        named = zip(names, values.values(), strict=True)
        return _build_values(
            names, [_make_column(one, f"column {name!r}") for name, one in named], None
        )
    if isinstance(values, np.ndarray) and values.ndim == 2:
        names = tuple(str(place + 1) for place in range(values.shape[1]))
        return _build_values(names, [_make_column(one, "values") for one in values.T], None)
    native = _to_narwhals(values)
    if isinstance(native, nw.LazyFrame):
        raise DataError(
            "values", expected="a frame in memory", got="a lazy one", do="call .collect() first"
        )
    if isinstance(native, nw.DataFrame):
        names = tuple(native.columns)
        columns = [_column_of_series(native[name], f"column {name!r}") for name in names]
        return _build_values(names, columns, native.implementation)
    if isinstance(native, nw.Series):
        name = str(native.name or "answer")
        index = getattr(values, "index", None)  # of pandas
        if name in _COUNTS and index is not None and type(index).__name__ != "RangeIndex":
            raise _counts_error(name)
        only = _column_of_series(native, "values")
        return Values((name,), (only,), native.implementation, framed=False)
    return Values(("answer",), (_make_column(values, "values"),), None, framed=False)


def name_of(column: object) -> str:
    """The name of a column as text: pandas has numbers too, and pairs of names."""
    return normalize_nfc("/".join(map(str, column)) if isinstance(column, tuple) else str(column))


def _to_narwhals(values: Any) -> Any:
    """A frame or a series of narwhals; ``values`` themselves where they are neither."""
    with guard_reading("values"):  # every library has errors of its own
        if hasattr(values, "set_axis") and any(
            type(one) is not str for one in getattr(values, "columns", ())
        ):
            values = values.set_axis([name_of(one) for one in values.columns], axis=1)  # of pandas
        try:
            return nw.from_native(values, allow_series=True, pass_through=True)
        except DuplicateError as error:  # its lines below the first: - 'a' 2 times
            raise _duplicate_names_error(
                " ".join(str(error).split("\n- ")[1:]) or str(error)
            ) from error


def _column_of_series(series: Any, subject: str) -> Column:
    native = series.to_native()
    if isinstance(native, pyarrow.ChunkedArray):
        return Column(native, declared=bool(pyarrow.types.is_dictionary(native.type)))
    kind = type(getattr(native, "dtype", None)).__name__
    if series.dtype != nw.Object:  # whose values Arrow would make alike
        with suppress(pyarrow.ArrowException, TypeError):
            return Column(series.to_arrow(), declared=kind in ("CategoricalDtype", "Enum"))
    with guard_reading(subject):
        cells = series.to_list()
    return _column_of_cells(cells, subject)


def _column_of_cells(cells: list[Any], subject: str) -> Column:
    tuples = set(map(type, cells)) == {tuple}
    return Column(array_of(cells, subject), tuples=tuples)


def _make_column(values: Any, subject: str) -> Column:
    """One column; DataError for what is none, or raises while it is read."""
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise _type_error(values, subject)
    if isinstance(values, set | frozenset):
        raise DataError(
            subject,
            expected="one value a person, in an order",
            got="a set, which holds every value once",
            do="give a list with a place for every person",
        )
    if isinstance(values, pyarrow.Array | pyarrow.ChunkedArray):
        return Column(values, declared=bool(pyarrow.types.is_dictionary(values.type)))
    if isinstance(values, np.ndarray):
        return _column_of_numpy(values, subject)
    native = _to_narwhals(values)
    if isinstance(native, nw.Series):
        return _column_of_series(native, subject)
    with guard_reading(subject):
        kind = getattr(values, "dtype", None)
        if str(kind) not in ("None", "object"):  # an array of a library
            with suppress(pyarrow.ArrowException, TypeError):
                levels = type(kind).__name__ == "CategoricalDtype"
                return Column(pyarrow.array(values, from_pandas=True), declared=levels)
        way = next((one for one in ("to_pylist", "to_list") if hasattr(values, one)), None)
        cells = list(values if way is None else getattr(values, way)())
    return _column_of_cells(cells, subject)


def _column_of_numpy(values: Any, subject: str) -> Column:
    if values.ndim != 1:
        raise DataError(
            subject,
            expected="one value a person, or a table with a row a person",
            got=f"an array of shape {values.shape}",
            do="give one row a person",
        )
    if values.dtype.kind == "M":  # moments finer than Python's would be numbers
        values = values.astype("datetime64[us]")
    if values.dtype.kind in _TYPED:
        with suppress(pyarrow.ArrowException):
            return Column(pyarrow.array(values))
    return _column_of_cells(values.tolist(), subject)


def _build_values(names: tuple[str, ...], columns: Sequence[Column], backend: Any) -> Values:
    if not columns:
        raise DataError("values", expected="at least one column", got="none", do="choose a column")
    lengths = sorted({len(one.array) for one in columns})
    if len(lengths) > 1:
        raise DataError(
            "values",
            expected="columns of one length",
            got=f"{lengths[0]:,} and {lengths[-1]:,} rows",
            do="give every person a value in each",
        )
    return Values(tuple(map(name_of, names)), tuple(columns), backend, framed=True)


def _are_counts(columns: Sequence[Column]) -> bool:
    """Whether every row is a value of its own, with a number."""
    *values, many = [one.array for one in columns]
    keys = [tuple(map(repr, row)) for row in zip(*[v.to_pylist() for v in values], strict=True)]
    numbers = pyarrow.types.is_integer(many.type) or pyarrow.types.is_floating(many.type)
    return len(set(keys)) == len(keys) and bool(numbers)


def _duplicate_names_error(names: str) -> DataError:
    return DataError(
        "values",
        expected="a name of its own for every column",
        got=names,
        do="rename these columns, or leave out all but one",
    )


def _counts_error(name: object) -> DataError:
    return DataError(
        "values",
        expected="a value a person",
        got=f"counts of values, in {name!r}",
        do="give the column that was counted, before value_counts()",
    )


def _type_error(values: object, subject: str = "values") -> DataError:
    return DataError(
        subject, expected=_WANTED, got=describe_value(values), do="give one value a person"
    )
