"""Whose a row is: several rows of a person are one record, or refused."""

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
    """Which rows make which record.

    where
      size     how many records there are
      record   shape (rows,), the record of each row, -1 for none; None where each row is one
    """

    size: int
    record: Integers | None = None

    def record_of_rows(self, rows: Integers) -> Integers:
        """The record that each of ``rows`` is of, -1 for none."""
        return rows if self.record is None else self.record[rows]

    def value_of_records(self, values: Values) -> Values:
        """What each record has of what each row has, the same for all rows of a record."""
        if self.record is None:
            return values
        found: Any = np.empty((self.size, *values.shape[1:]), dtype=values.dtype)
        there = self.record >= 0
        found[self.record[there]] = values[there]
        return cast("Values", found)


def number_people(arrays: Sequence[Array]) -> Integers:
    """Who is who, from 0, by the batches of a column."""
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
    """The records of rows that are of one person where their ``keys`` are equal.

    where
      refuse   makes the refusal of two rows of a person, for when ``several`` takes neither
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
        chosen[group] = np.arange(rows)  # of several the last assigned stays
    of = np.full(rows, -1, dtype=np.int64)
    of[np.sort(chosen)] = np.arange(len(chosen))
    return RecordGroups(len(chosen), of)
