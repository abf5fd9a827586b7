"""Files that were counted before: one row per value, with the number of people who have it.

``readers`` calls this module for ``mixtally simulate --counts`` and for tables with a column of
counts.
"""

import numpy as np
import pyarrow
from numpy.typing import NDArray

from mixtally.errors import DataError
from mixtally.lab.data.columns import encode_column, parse_numbers
from mixtally.lab.data.data_warnings import is_total, warn_of_similar_labels
from mixtally.lab.data.file import DataFile, Origin
from mixtally.lab.data.formats.table import Array, Table
from mixtally.lab.data.formats.tables import open_table
from mixtally.lab.data.identifiers import IdentifierWatch, people_warning
from mixtally.lab.data.labels import LabelEncoder
from mixtally.lab.data.population import PEOPLE, ValueCounts
from mixtally.lab.data.reading import Reading
from mixtally.lab.data.rows import RowPosition, RowReader
from mixtally.model.guarantee import MOST_USERS
from mixtally.model.question import Question
from mixtally.primitives.progress import Progress


def read_file(
    file: DataFile, reading: Reading, counts: str, question: Question | None, progress: Progress
) -> ValueCounts:
    """Read the counts in ``file``, see `readers.read_counts`."""
    with open_table(file, [*reading.columns, counts], reading.columns) as found:
        return read_counts_table(found, file, reading, counts, question, progress)


def read_counts_table(
    table: Table,
    origin: Origin,
    reading: Reading,
    counts: str,
    question: Question | None,
    progress: Progress,
) -> ValueCounts:
    """Read the counts in ``table``, see `readers.counts_of_table`."""
    (column,) = reading.columns
    reading.check_other_label(question)
    encoder = LabelEncoder(reading.fixed_labels(question), merging=reading.merging)
    codes, many = list[NDArray[np.int32]](), list[CountArray]()
    rows = RowReader(origin, reading, [column, counts])
    watch = IdentifierWatch(() if reading.rows_are_people else table.names, [column, counts])
    for batch in rows.batches(table, watch, progress):
        codes.append(encoder.encode(encode_column(batch.arrays[0]), batch.where, batch.levels[0]))
        many.append(_parse_counts(batch.arrays[1], counts, batch.where))
    if not codes:
        raise origin.unreadable("at least two rows", "none", "add a row for each value")
    subject = origin.column(column)
    labels, places = encoder.order_labels(np.concatenate(codes), subject)
    by_label, each = np.zeros(len(labels), dtype=np.int64), np.concatenate(many)
    np.add.at(by_label, places, each)
    largest = int(np.argmax(each))
    total = _warn_of_total(rows, each, largest, labels[places[largest]], fixed=encoder.fixed)
    asked, people = Question(name=column, bins=len(labels), labels=labels), watch.find_identifiers()
    # With one row per label, a column in which all values differ need not identify people.
    if len(np.unique(places)) == len(places):
        people = [one for one in people if one.is_repeated]
    from_data = (*encoder.from_data, *((PEOPLE,) if people else ()))
    doubts = (
        people_warning(people, counts=True),
        warn_of_similar_labels(labels) if encoder.from_data else "",
        total
        or rows.ends.describe_warning(origin, column, labels if encoder.from_data else None, None),
    )
    return ValueCounts(asked, by_label, from_data, "; ".join(filter(None, doubts)))


CountArray = NDArray[np.int64]
_FEWEST = 3
"""Least number of rows with people for which one row may be the total of the others."""


def _warn_of_total(
    rows: RowReader, people: CountArray, largest: int, label: str, *, fixed: bool
) -> str:
    """Return a warning if the largest row is the sum of all others, otherwise an empty text.

    Only the largest row can be a total. ``people`` has the number of people in each row,
    ``largest`` is the index of the largest row and ``label`` its label. ``fixed`` says whether the
    labels were listed in advance.

    Raises
    ------
    DataError
        If the row also has the name of a total, and the labels were not listed.
    """
    if np.count_nonzero(people) < _FEWEST or 2 * int(people[largest]) != int(people.sum()):
        return ""
    subject = rows.origin.row(rows.row_number(largest))
    if is_total(label) and not fixed:
        raise DataError(
            subject,
            expected="a value, and the number of people who have it",
            got=f"{label!r} with {people[largest]:,} people, the sum of all other rows",
            do="remove this row: it counts everybody a second time",
        )
    return (
        f"{subject}, {label!r} with {people[largest]:,} people, is the sum of all other rows: if "
        "it is a total, remove it"
    )


def _first_non_number(array: Array) -> tuple[int, str]:
    """Return the row of the first value that is not a number, and its text."""
    values = encode_column(array)
    for text, row in zip(values.texts, values.first_rows.tolist(), strict=True):
        if parse_numbers(pyarrow.array([text], pyarrow.string())) is None:
            return row, text
    return 0, values.texts[0]


def _parse_counts(array: Array, column: str, where: RowPosition) -> CountArray:
    """Return the counts of a batch; raise DataError unless all are whole numbers of people."""
    found = parse_numbers(array)
    if found is None:
        row, text = _first_non_number(array)
        raise DataError(
            where.subject(row),
            expected=f"a whole number, in digits only, in column {column!r}",
            got=repr(text),
            do="write it like 1200, without thousands separators, units or signs",
        )
    wrong = np.flatnonzero((found < 0) | (found > MOST_USERS) | (found != np.floor(found)))
    if wrong.size:
        row = int(wrong[0])
        raise DataError(
            where.subject(row),
            expected=f"a whole number from 0 to {MOST_USERS:,} in column {column!r}",
            got=f"{found[row]:g}",
            do="give the number of people who have the value",
        )
    return found.astype(np.int64)
