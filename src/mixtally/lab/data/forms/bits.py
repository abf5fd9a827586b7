"""Records of independent bits, from one column each, or from strings of digits in one column.

``crowd`` uses `Bits` for the record type ``bits``.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import DataError, PlanError, pluralize
from mixtally.lab.data.columns import encode_column, parse_digits
from mixtally.lab.data.file import Origin
from mixtally.lab.data.formats.table import Array
from mixtally.lab.data.people import RecordGroups
from mixtally.lab.data.population import Population
from mixtally.lab.data.reading import Reading
from mixtally.lab.data.rows import RowBatch
from mixtally.model.question import MOST_BITS, Kind, Question
from mixtally.protocol.encode.bits import parse_bit, parse_vector


class Bits:
    """Reader of rows that each contain the bits of one record; it stores the bits packed."""

    def __init__(self, origin: Origin, reading: Reading, question: Question | None) -> None:
        del origin  # rows say where they are from
        self._reading = reading
        labels = reading.labels
        self._length = question.bins if question is not None else len(labels) if labels else None
        self._chunks: list[NDArray[np.uint8]] = []

    def take(self, batch: RowBatch) -> None:
        """Collect the rows of a batch.

        Raises DataError for a value that is not a bit, PlanError if the plan has another number of
        bits.
        """
        columns = self._reading.columns
        arrays = batch.arrays[: len(columns)]
        if self._length is None:
            self._length = _count_bits(arrays, batch)
        if self._length == len(columns):
            table = np.stack(
                [_parse_bit_column(*each, batch) for each in zip(arrays, columns, strict=True)],
                axis=1,
            )
        elif len(columns) == 1:
            table = _parse_bit_strings(arrays[0], self._length, batch)
        else:
            raise PlanError(
                "plan",
                expected=f"a plan for {pluralize(len(columns), 'bit')}",
                got=f"one for {self._length}",
                do="name the same number of columns",
            )
        self._chunks.append(np.packbits(table, axis=1, bitorder="little"))

    def crowd(self, records: RecordGroups) -> Population:
        """Return the population of all rows that ``take`` received."""
        rows, reading, length = np.concatenate(self._chunks), self._reading, self._length or 0
        labels = reading.labels
        if len(reading.columns) == length:
            labels = labels or reading.columns
        asked = Question(name=reading.name, bins=length, labels=labels, kind=Kind.BITS)
        return Population(asked, records.value_of_records(rows))


def _count_bits(arrays: Sequence[Array], batch: RowBatch) -> int:
    """Return the number of bits of a record.

    Several columns have one bit each. A single column has as many bits as its first row has digits,
    or one bit if this row is not a string of zeros and ones.
    """
    if len(arrays) > 1:
        return len(arrays)
    (text,) = encode_column(arrays[0].slice(0, 1)).texts
    length = len(text) if len(text) > 1 and not text.strip("01") else 1
    if length > MOST_BITS:
        raise DataError(
            batch.where.subject(0),
            expected=f"at most {MOST_BITS} bits",
            got=f"{length}",
            do="ask fewer bits at once",
        )
    return length


def _parse_bit_column(array: Array, name: str, batch: RowBatch) -> NDArray[np.uint8]:
    column = encode_column(array)
    found = [
        parse_bit(text, f"{batch.where.subject(row)}, column {name!r}")
        for text, row in zip(column.texts, column.first_rows.tolist(), strict=True)
    ]
    return np.array(found, dtype=np.uint8)[column.codes]


def _parse_bit_strings(array: Array, length: int, batch: RowBatch) -> NDArray[np.uint8]:
    table = parse_digits(array)
    if table is not None and table.shape[1] == length:
        return table
    column = encode_column(array)
    found = b"".join(
        parse_vector(text, length, batch.where.subject(row))
        for text, row in zip(column.texts, column.first_rows.tolist(), strict=True)
    )
    return np.frombuffer(found, dtype=np.uint8).reshape(-1, length)[column.codes]
