"""Records of people who have several rows.

`crowd` numbers the people of a table, then groups their rows into records or refuses them.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
import pyarrow
import pyarrow.compute as compute
from numpy.typing import NDArray

from mixtally.lab.data.formats.table import Array
from mixtally.lab.data.reading import RowCombination

Integers = NDArray[np.int64]
Values = TypeVar("Values", bound=NDArray[Any])


class RecordGroups(NamedTuple):
    """The assignment of rows to records.

    ``size`` is the number of records. ``record`` has the index of the record of each row, and -1
    for a row that is left out. If every row is a record of its own, ``record`` is None.
    """

    size: int
    record: Integers | None = None

    def record_of_rows(self, rows: Integers) -> Integers:
        """Return the index of the record of each of ``rows``; -1 if the row is in no record."""
        return rows if self.record is None else self.record[rows]

    def value_of_records(self, values: Values) -> Values:
        """Return the value of each record, given the value of each row.

        All rows of a record have the same value.
        """
        if self.record is None:
            return values
        found: Any = np.empty((self.size, *values.shape[1:]), dtype=values.dtype)
        has_record = self.record >= 0
        found[self.record[has_record]] = values[has_record]
        return cast("Values", found)


def number_people(arrays: Sequence[Array]) -> Integers:
    """Return the person of each row, numbered from 0; ``arrays`` are the batches of a column."""
    decoded = [
        array.dictionary_decode() if pyarrow.types.is_dictionary(array.type) else array
        for array in arrays
    ]
    if all(pyarrow.types.is_string(array.type) for array in decoded):
        decoded = [compute.utf8_normalize(array, form="NFC") for array in decoded]
    codes: Integers = (
        pyarrow.chunked_array(decoded).combine_chunks().dictionary_encode().indices.to_numpy()
    )
    return codes.astype(np.int64)


def group_rows(
    keys: Integers, several: RowCombination | None, refuse: Callable[[int, int], Exception]
) -> RecordGroups:
    """Group rows with equal ``keys`` into records.

    ``several`` says how to combine rows with the same key. If it is None, the exception
    ``refuse(h, i)`` is raised for the first row i that has the key of an earlier row h.
    """
    rows = len(keys)
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    if len(first) == rows:
        return RecordGroups(rows)
    if several is None:
        again = np.flatnonzero(first[group] != np.arange(rows))[0]
        raise refuse(int(first[group[again]]), int(again))
    if several is RowCombination.SET:
        place = np.empty(len(first), dtype=np.int64)
        place[np.argsort(first)] = np.arange(len(first))
        return RecordGroups(len(first), place[group])
    chosen = first
    if several is RowCombination.LAST:
        chosen = np.empty(len(first), dtype=np.int64)
        chosen[group] = np.arange(rows)  # NumPy keeps the last of several assignments
    record_of_row = np.full(rows, -1, dtype=np.int64)
    record_of_row[np.sort(chosen)] = np.arange(len(chosen))
    return RecordGroups(len(chosen), record_of_row)
