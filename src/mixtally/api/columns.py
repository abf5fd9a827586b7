"""Conversion of lists, arrays, series and frames of any library to a table."""

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
"""Names of the column of numbers in a table that value_counts() of a data frame returns."""
_TYPED = "biufUM"
"""Codes of the NumPy types whose values Arrow reads unchanged."""
_ROWS = 1 << 20
"""Largest number of rows in one batch, which limits the memory of a conversion."""
_SHOWN = 20
"""The maximum number of column names in an error message."""


@dataclass(frozen=True, slots=True)
class Column:
    """The values of one column, one cell per row.

    Parameters
    ----------
    array : Array
        An Arrow array, in one chunk or several.
    declared : bool
        Whether the type lists all possible values: a categorical of pandas, an Enum of polars, or a
        dictionary of Arrow.
    tuples : bool
        Whether all cells are tuples, which may be meant as rows of several columns.
    """

    array: Array
    declared: bool = False
    tuples: bool = False

    @property
    def is_boolean(self) -> bool:
        """Whether the cells are truth values."""
        return bool(pyarrow.types.is_boolean(self.array.type))


@dataclass(frozen=True, slots=True)
class Values:
    """Columns of equal length. Error messages number rows from 0, as Python does.

    Parameters
    ----------
    names : tuple of str
        The names of the columns. A single column without a name is called "answer".
    columns : tuple of Column
        The columns, in the order of their names.
    backend : narwhals.Implementation or None
        The library that the values came from. None for plain Python and NumPy.
    framed : bool
        Whether the caller's values were a table, whose columns have names.
    is_piped, skip_rows : bool, int
        Always False and 0. The readers need these attributes, which data files have, too.
    """

    names: tuple[str, ...]
    columns: tuple[Column, ...]
    backend: nw.Implementation | None
    framed: bool
    is_piped: bool = False
    skip_rows: int = 0

    def table(self) -> Table:
        """Return the columns as the table that ``lab.data`` reads."""
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
        """Separate the columns of the records from columns with other roles, such as the person.

        Parameters
        ----------
        **roles
            Each keyword is a role, such as ``person``. Its argument is the name of an existing
            column, or has one value per row. None if no column has the role.

        Returns
        -------
        tuple of Values, Values and dict
            The columns of the records; all columns, including those of roles; and a dict from each
            role to the name of its column.

        Raises
        ------
        DataError
            If a column does not exist, or if columns have different lengths.
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
                        expected="one value per row, or the name of a column"
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
        """Return the error for values that cannot be read."""
        return DataError("values", expected=expected, got=" ".join(str(got).split()), do=do)

    def column(self, name: str) -> str:
        """Return how an error message names a column."""
        return f"column {name!r}" if self.framed else "values"

    def row(self, number: int) -> str:
        """Return how an error message names a row; ``number`` counts from 1, the message from 0."""
        return f"values[{number - 1}]"

    def skip_advice(self, rows: int) -> str:
        """Return the advice on how to leave out the first ``rows`` rows."""
        return f"leave it out: values[{rows}:]"


def read_values(values: object, *, counted: bool) -> Values:
    """Return ``values`` as columns.

    Parameters
    ----------
    values : object
        A list, an array, a series, a frame or a mapping of columns.
    counted : bool
        Whether a table of distinct values with their counts is accepted.

    Raises
    ------
    DataError
        If the values have no columns or columns of different lengths, or if they are a table of
        counts although ``counted`` is False.
    """
    found = _values_of(values)
    # A table that value_counts() returned would be read as one person per distinct value.
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
            "values", expected="a frame in memory", got="a lazy frame", do="call .collect() first"
        )
    if isinstance(native, nw.DataFrame):
        names = tuple(native.columns)
        columns = [_column_of_series(native[name], f"column {name!r}") for name in names]
        return _build_values(names, columns, native.implementation)
    if isinstance(native, nw.Series):
        name = str(native.name or "answer")
        index = getattr(values, "index", None)  # only pandas has an index
        if name in _COUNTS and index is not None and type(index).__name__ != "RangeIndex":
            raise _counts_error(name)
        only = _column_of_series(native, "values")
        return Values((name,), (only,), native.implementation, framed=False)
    return Values(("answer",), (_make_column(values, "values"),), None, framed=False)


def name_of(column: object) -> str:
    """Return the name of a column as text. In pandas a name can be a number or a tuple."""
    return normalize_nfc("/".join(map(str, column)) if isinstance(column, tuple) else str(column))


def _to_narwhals(values: Any) -> Any:
    """Return a frame or a series as a narwhals object, and any other ``values`` unchanged."""
    with guard_reading("values"):  # each library raises its own exceptions
        if hasattr(values, "set_axis") and any(
            type(one) is not str for one in getattr(values, "columns", ())
        ):
            values = values.set_axis(
                [name_of(one) for one in values.columns], axis=1
            )  # only pandas has names that are not text
        try:
            return nw.from_native(values, allow_series=True, pass_through=True)
        except DuplicateError as error:  # the lines after the first list the names
            raise _duplicate_names_error(
                " ".join(str(error).split("\n- ")[1:]) or str(error)
            ) from error


def _column_of_series(series: Any, subject: str) -> Column:
    native = series.to_native()
    if isinstance(native, pyarrow.ChunkedArray):
        return Column(native, declared=bool(pyarrow.types.is_dictionary(native.type)))
    kind = type(getattr(native, "dtype", None)).__name__
    if series.dtype != nw.Object:  # Arrow would convert mixed values to one type
        with suppress(pyarrow.ArrowException, TypeError):
            return Column(series.to_arrow(), declared=kind in ("CategoricalDtype", "Enum"))
    with guard_reading(subject):
        cells = series.to_list()
    return _column_of_cells(cells, subject)


def _column_of_cells(cells: list[Any], subject: str) -> Column:
    tuples = set(map(type, cells)) == {tuple}
    return Column(array_of(cells, subject), tuples=tuples)


def _make_column(values: Any, subject: str) -> Column:
    """Return one column, or raise DataError if the values are not a column or cannot be read."""
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise _type_error(values, subject)
    if isinstance(values, set | frozenset):
        raise DataError(
            subject,
            expected="one value per person, in order",
            got="a set, which has no order and each value only once",
            do="give a list with one value per person",
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
        if str(kind) not in ("None", "object"):  # an extension array of pandas or another library
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
            expected="one value per person, or a table with one row per person",
            got=f"an array of shape {values.shape}",
            do="give one row per person",
        )
    if values.dtype.kind == "M":  # nanoseconds would become integers in Python
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
            expected="columns of equal length",
            got=f"{lengths[0]:,} and {lengths[-1]:,} rows",
            do="give each person a value in each column",
        )
    return Values(tuple(map(name_of, names)), tuple(columns), backend, framed=True)


def _are_counts(columns: Sequence[Column]) -> bool:
    """Return whether the last column has numbers and no two rows are equal in the other columns."""
    *values, many = [one.array for one in columns]
    keys = [tuple(map(repr, row)) for row in zip(*[v.to_pylist() for v in values], strict=True)]
    numbers = pyarrow.types.is_integer(many.type) or pyarrow.types.is_floating(many.type)
    return len(set(keys)) == len(keys) and bool(numbers)


def _duplicate_names_error(names: str) -> DataError:
    return DataError(
        "values",
        expected="a different name for each column",
        got=names,
        do="rename these columns, or leave out all except one",
    )


def _counts_error(name: object) -> DataError:
    return DataError(
        "values",
        expected="one value per person",
        got=f"counts of values, in {name!r}",
        do="give the column before value_counts()",
    )


def _type_error(values: object, subject: str = "values") -> DataError:
    return DataError(
        subject, expected=_WANTED, got=describe_value(values), do="give one value per person"
    )
