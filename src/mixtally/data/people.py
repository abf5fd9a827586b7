"""Whose a row is: several rows of a person are one record, or refused."""

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
import pyarrow
import pyarrow.compute as compute
from numpy.typing import NDArray

from mixtally.data.formats.table import Array
from mixtally.data.reading import Several

Integers = NDArray[np.int64]
Values = TypeVar("Values", bound=NDArray[Any])
_BARE = "email|emailaddress|member|participant|patient|person|respondent|uid|user|username|voter"
_LIKELY = re.compile(
    f"who|{_BARE}|({_BARE}|account|case|client|customer|device|employee|student|subject|)id"
)
"""Names of columns that say whose a row is, in small letters and digits alone."""
_WATCHED = 1 << 20
"""Rows that are looked at for somebody who comes twice."""


class Records(NamedTuple):
    """Which rows make which record.

    where
      size     how many records there are
      record   shape (rows,), the record of each row, -1 for none; None where each row is one
    """

    size: int
    record: Integers | None = None

    def of(self, rows: Integers) -> Integers:
        """The record that each of ``rows`` is of, -1 for none."""
        return rows if self.record is None else self.record[rows]

    def each(self, values: Values) -> Values:
        """What each record has of what each row has, the same for all rows of a record."""
        if self.record is None:
            return values
        found: Any = np.empty((self.size, *values.shape[1:]), dtype=values.dtype)
        there = self.record >= 0
        found[self.record[there]] = values[there]
        return cast("Values", found)


class Watch:
    """Looks at a column that may say whose a row is, for somebody who comes twice."""

    def __init__(self, names: Sequence[str], read: Sequence[str]) -> None:
        """The first such column among ``names`` that is not ``read``, if any."""
        plain = {name: "".join(filter(str.isalnum, name)).lower() for name in names}
        likely = [name for name in names if _LIKELY.fullmatch(plain[name]) and name not in read]
        self.column = likely[0] if likely else None
        self._arrays: list[Array] = []
        self._rows = 0

    def take(self, array: Array) -> None:
        """See the rows of a batch."""
        if self._rows < _WATCHED:
            self._arrays.append(array)
        self._rows += len(array)

    def warning(self) -> str:
        """A word of warning, unless all rows were seen to be of different people."""
        if not self._arrays:
            return ""
        seen = pyarrow.chunked_array(self._arrays)
        try:
            people = compute.count_distinct(seen).as_py()
        except pyarrow.ArrowException:  # nothing that can name anybody
            return ""
        if self._rows == len(seen) == people + seen.null_count:
            return ""
        return (
            f"column {self.column!r} may say whose a row is, and some may be of one person: "
            "name it with --person-column"
        )


def numbered(arrays: Sequence[Array]) -> Integers:
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


def records(
    keys: Integers, several: Several | None, refuse: Callable[[int, int], Exception]
) -> Records:
    """The records of rows that are of one person where their ``keys`` are equal.

    where
      refuse   makes the refusal of two rows of a person, for when ``several`` takes neither
    """
    rows = len(keys)
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    if len(first) == rows:
        return Records(rows)
    if several is None:
        again = np.flatnonzero(first[group] != np.arange(rows))[0]
        raise refuse(int(first[group[again]]), int(again))
    if several is Several.SET:
        place = np.empty(len(first), dtype=np.int64)
        place[np.argsort(first)] = np.arange(len(first))
        return Records(len(first), place[group])
    chosen = first
    if several is Several.LAST:
        chosen = np.empty(len(first), dtype=np.int64)
        chosen[group] = np.arange(rows)  # of several the last assigned stays
    of = np.full(rows, -1, dtype=np.int64)
    of[np.sort(chosen)] = np.arange(len(chosen))
    return Records(len(chosen), of)
