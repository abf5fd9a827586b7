"""Rows of a table, with missing values refused, dropped or filled.

`crowd` and `value_counts` read their tables through a `RowReader`. The batches that the reader
yields have no gaps, and keep their row numbers in the file for error messages.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pyarrow
from numpy.typing import NDArray

from mixtally.errors import DataError
from mixtally.lab.data.columns import (
    LIST_PART_END,
    LIST_START,
    Flags,
    can_have_lists,
    encode_texts,
    fill_gaps,
    find_gaps,
    has_list_cells,
    is_list,
    join_lists,
    levels_of,
    match_texts,
    simplify_types,
    split_labels,
    texts_of,
)
from mixtally.lab.data.data_warnings import check_questions
from mixtally.lab.data.end_rows import EndRows
from mixtally.lab.data.file import Origin
from mixtally.lab.data.formats.source import explain_errors
from mixtally.lab.data.formats.table import Array, Table
from mixtally.lab.data.identifiers import IdentifierWatch
from mixtally.lab.data.reading import DROP, Reading, RecordType
from mixtally.primitives.progress import Progress

_QUESTIONS = 3
"""Number of rows after the header that are checked for questions that a survey tool repeats."""
MOST_PIPED = 100_000_000
"""Number of rows after which a pipe is refused, because it may have no end."""


Levels = tuple[str, ...] | None


class RowPosition(NamedTuple):
    """The position of a batch in the data: ``rows_before`` is the number of rows before the batch.

    ``kept_rows`` are the rows of the batch that were not dropped, counted from 0; None if all were
    kept.
    """

    origin: Origin
    rows_before: int
    kept_rows: NDArray[np.int64] | None = None

    def row_number(self, row: int) -> int:
        """Return the row number in the data, from 1, of row ``row`` of the batch, from 0."""
        return self.rows_before + 1 + (row if self.kept_rows is None else int(self.kept_rows[row]))

    def subject(self, row: int) -> str:
        """Return the text by which an error refers to row ``row`` of the batch."""
        return self.origin.row(self.row_number(row))


class RowBatch(NamedTuple):
    """Rows that become records: one array without gaps for each column, and their position.

    ``levels`` has for each array the labels that its type declares, or None.
    """

    arrays: list[Array]
    where: RowPosition
    levels: list[Levels]


@dataclass(slots=True)
class RowReader:
    """The rows of one table, and the numbers of the rows that were left out.

    Attributes
    ----------
    columns
        The columns of the records, followed by those of the person and the epoch.
    when
        The column of epochs; None without epochs.
    dropped
        Numbers of the rows, from 0, that were left out for a missing value: one array per batch.
    total
        Number of rows read so far.
    ends
        The first and the last row, which may be a second header and a total.
    """

    origin: Origin
    reading: Reading
    columns: Sequence[str]
    when: str | None = None
    dropped: list[NDArray[np.int64]] = field(default_factory=list)
    ends: EndRows = field(default_factory=EndRows)
    total: int = 0
    _declared: dict[str, tuple[Array, Levels]] = field(default_factory=dict)

    def batches(
        self, table: Table, watch: IdentifierWatch, progress: Progress
    ) -> Iterator[RowBatch]:
        """Yield the rows that become records.

        ``watch`` receives the columns that may identify people. Raises DataError for a missing
        value if the reading says neither to fill it nor to drop its row.
        """
        watched = [name for name in watch.columns if name not in self.columns]
        places = [[*map(table.names.index, names)] for names in (self.columns, watched)]
        for part in table.read(*places):
            found = dict(zip([*self.columns, *watched], part.arrays, strict=True))
            arrays = [self._simplify_column(found[column], column) for column in self.columns]
            levels = [
                self._declared_levels(table, *each)
                for each in zip(self.columns, arrays, strict=True)
            ]
            # ``watch`` and ``ends`` examine all rows, including those that are dropped below.
            watch.take(found, None if self.when is None else found[self.when])
            self.ends.take({**found, self.columns[0]: arrays[0]})
            size = len(arrays[0])
            if size:
                if self.total == 0:
                    first = texts_of(arrays[0].slice(0, _QUESTIONS))
                    check_questions(self.origin, self.columns[0], first)
                yield self._complete_batch(arrays, levels)
            self.total += size
            if self.origin.is_piped and self.total > MOST_PIPED:
                raise self.origin.unreadable(
                    f"at most {MOST_PIPED:,} rows from a pipe", "more", "save them to a file"
                )
            if part.total:
                progress("read", part.done, part.total)

    @property
    def count(self) -> int:
        """Number of rows that become records."""
        return self.total - sum(map(len, self.dropped))

    def row_number(self, row: int) -> int:
        """Return the row number in the data, from 1, of kept row ``row``, from 0."""
        left_out = np.concatenate([*self.dropped, np.array([self.total])])
        kept_before = left_out - np.arange(len(left_out))  # kept rows before each dropped row
        return row + 1 + int(np.searchsorted(kept_before, row, side="right"))

    def _simplify_column(self, array: Array, column: str) -> Array:
        sets = self.reading.form is RecordType.SET and column in self.reading.columns
        with explain_errors(self.origin):
            found = simplify_types(array)
            if found is None and sets:
                found = join_lists(array)
        if found is None or (has_list_cells(array) and not sets):
            raise self.origin.unreadable(
                f"text, numbers, dates, or no and yes in column {column!r}",
                "lists" if has_list_cells(array) else f"{array.type}",
                "store it as text, or read lists of labels as sets with --set ';'",
            )
        return found if column == self.reading.person else encode_texts(found)

    def _declared_levels(self, table: Table, column: str, array: Array) -> Levels:
        """Return the labels that a column's type declares, including the label for missing values.

        The result is None if the type declares none. Successive batches share one dictionary, which
        may be long, so its labels are computed once.
        """
        if column not in table.declared or column == self.reading.person:
            return None
        before = self._declared.get(column)
        if before is None or not before[0].equals(array.dictionary):
            before = self._declared[column] = array.dictionary, self._levels_of(array, column)
        return before[1]

    def _levels_of(self, array: Array, column: str) -> Levels:
        if column == self.when:
            return tuple(levels_of(array))
        missing = self.reading.missing
        more = [] if missing in (None, DROP) else [missing]
        named = self.reading.missing_values
        return tuple(dict.fromkeys([*(one for one in levels_of(array) if one not in named), *more]))

    def _complete_batch(self, arrays: list[Array], levels: list[Levels]) -> RowBatch:
        """Return the rows without gaps, after filling gaps if the reading names a label for them.

        Rows with other gaps are dropped, or raise DataError.
        """
        where, reading = RowPosition(self.origin, self.total), self.reading
        gone = np.zeros(len(arrays[0]), dtype=np.bool_)
        missing: list[Flags] = []
        for place, array in enumerate(arrays):
            # The columns of the person and the epoch must never be filled with a label.
            gap, value = find_gaps(array), place < len(reading.columns)
            if value and reading.empty_sets:
                gap = np.zeros_like(gap)
            if (test := self._missing_test(value, array)) is not None:
                gap = gap | match_texts(array, test)
            if value and reading.missing not in (None, DROP) and gap.any():
                label = reading.missing
                if reading.form is RecordType.SET:
                    label = f"{LIST_START}{label}{LIST_PART_END}"
                arrays[place], gap = fill_gaps(array, gap, label), np.zeros_like(gap)
            missing.append(gap)
            gone |= gap
        if not gone.any():
            return RowBatch(arrays, where, levels)
        if reading.missing != DROP:
            row = int(np.argmax(gone))
            column = self.columns[[bool(gap[row]) for gap in missing].index(True)]
            raise self._missing_value_error(where, row, column)
        kept = np.flatnonzero(~gone)
        self.dropped.append(self.total + np.flatnonzero(gone))
        arrays = [array.take(pyarrow.array(kept)) for array in arrays]
        return RowBatch(arrays, where._replace(kept_rows=kept), levels)

    def _missing_test(self, value: bool, array: Array) -> Callable[[str], bool] | None:
        """Return a function that says whether a text means missing; None if no text means missing.

        A set means missing if one of its labels does, or if it is a list with an empty label.
        ``value`` says whether the column belongs to the record, so that its texts may be sets.
        """
        texts, separator = frozenset(self.reading.missing_values), self.reading.separator
        if value and self.reading.form is RecordType.SET:
            if not texts and not can_have_lists(array):
                return None  # no list could have an empty label, and no text means missing
            return lambda text: any(
                part.strip() in texts or (is_list(text) and not part.strip())
                for part in split_labels(text, separator)
            )
        return (lambda text: text.strip() in texts) if texts else None

    def _missing_value_error(self, where: RowPosition, row: int, column: str) -> DataError:
        if column not in self.reading.columns:
            do = "fill the gap, or say --missing drop to leave such rows out"
        elif self.reading.form is RecordType.SET:
            do = (
                "say --empty-sets if it is a set without labels, --missing drop to leave such "
                "rows out, or --missing LABEL to count them as LABEL"
            )
        elif self.reading.form is RecordType.PLACE:
            do = "say --missing drop to leave such rows out"
        elif self.reading.form in (RecordType.NUMBER, RecordType.BITS):
            do = "say --missing drop to leave such rows out, or let --missing name the value to use"
        else:
            do = (
                "say --missing drop to leave such rows out, or --missing LABEL to count them as "
                "LABEL"
            )
        return DataError(
            where.subject(row), expected=f"a value in column {column!r}", got="a missing one", do=do
        )
