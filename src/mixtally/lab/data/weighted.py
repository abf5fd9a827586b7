"""A file that has been counted: a row a value, and how many people hold it."""

import numpy as np
import pyarrow
from numpy.typing import NDArray

from mixtally.errors import DataError
from mixtally.lab.data.columns import coded, numbers
from mixtally.lab.data.doubts import is_total, like_others
from mixtally.lab.data.file import DataFile, Origin
from mixtally.lab.data.formats.table import Array, Table
from mixtally.lab.data.formats.tables import table
from mixtally.lab.data.identifiers import Watch, people_warning
from mixtally.lab.data.labels import Book
from mixtally.lab.data.population import PEOPLE, Counted
from mixtally.lab.data.reading import Reading
from mixtally.lab.data.rows import Rows, Where
from mixtally.model.guarantee import MOST_USERS
from mixtally.model.question import Question
from mixtally.primitives.progress import Progress


def read(
    file: DataFile, reading: Reading, counts: str, question: Question | None, progress: Progress
) -> Counted:
    """As ``readers.read_counts``."""
    with table(file, [*reading.columns, counts], reading.columns) as found:
        return of_table(found, file, reading, counts, question, progress)


def of_table(
    table: Table,
    origin: Origin,
    reading: Reading,
    counts: str,
    question: Question | None,
    progress: Progress,
) -> Counted:
    """As ``readers.counts_of_table``."""
    (column,) = reading.columns
    reading.check_listed(question)
    book, codes, many = (
        Book(reading.bins(question), merging=reading.merging),
        list[NDArray[np.int32]](),
        list[Held](),
    )
    rows = Rows(origin, reading, [column, counts])
    watch = Watch(() if reading.rows_are_people else table.names, [column, counts])
    for batch in rows.batches(table, watch, progress):
        codes.append(book.codes(coded(batch.arrays[0]), batch.where, batch.levels[0]))
        many.append(_whole(batch.arrays[1], counts, batch.where))
    if not codes:
        raise origin.unreadable("at least two rows", "none", "look at the data")
    subject = origin.column(column)
    labels, places = book.ordered(np.concatenate(codes), subject)
    held, each = np.zeros(len(labels), dtype=np.int64), np.concatenate(many)
    np.add.at(held, places, each)
    largest = int(np.argmax(each))
    total = _total(rows, each, largest, labels[places[largest]], fixed=book.fixed)
    asked, people = Question(name=column, bins=len(labels), labels=labels), watch.found()
    if len(np.unique(places)) == len(places):  # a row a label: what is its own names the label
        people = [one for one in people if one.repeats]
    from_data = (*book.from_data, *((PEOPLE,) if people else ()))
    doubts = (
        people_warning(people, counts=True),
        like_others(labels) if book.from_data else "",
        total or rows.ends.warning(origin, column, labels if book.from_data else None, None),
    )
    return Counted(asked, held, from_data, "; ".join(filter(None, doubts)))


Held = NDArray[np.int64]
_FEWEST = 3
"""Rows with people, of which one may be the total of the others."""


def _total(rows: Rows, each: Held, largest: int, label: str, *, fixed: bool) -> str:
    """Return a warning where the largest row is the sum of all others; empty otherwise.

    Of several rows only the largest can be their total. ``each`` says how many people each row
    has, ``label`` is that of the largest row, and ``fixed`` whether labels were given.

    Raises
    ------
    DataError
        If the row is also called a total, and its label was not given.
    """
    if np.count_nonzero(each) < _FEWEST or 2 * int(each[largest]) != int(each.sum()):
        return ""
    subject = rows.origin.row(rows.number(largest))
    if is_total(label) and not fixed:
        raise DataError(
            subject,
            expected="a value, and how many people hold it",
            got=f"{label!r} with {each[largest]:,} people, the sum of all other rows",
            do="remove this row: it counts everybody a second time",
        )
    return (
        f"{subject}, {label!r} with {each[largest]:,} people, is the sum of all other rows: if it "
        "is a total, remove it"
    )


def _first_that_is_no_number(array: Array) -> tuple[int, str]:
    """The place of the first value that is no number, and its text."""
    values = coded(array)
    for text, row in zip(values.texts, values.first.tolist(), strict=True):
        if numbers(pyarrow.array([text], pyarrow.string())) is None:
            return row, text
    return 0, values.texts[0]


def _whole(array: Array, column: str, where: Where) -> Held:
    """Raises DataError for anything but whole numbers of people, by its row."""
    found = numbers(array)
    if found is None:
        row, text = _first_that_is_no_number(array)
        raise DataError(
            where.subject(row),
            expected=f"a whole number without marks in column {column!r}",
            got=repr(text),
            do="write it like 1200, without separators of thousands, units or signs",
        )
    wrong = np.flatnonzero((found < 0) | (found > MOST_USERS) | (found != np.floor(found)))
    if wrong.size:
        row = int(wrong[0])
        raise DataError(
            where.subject(row),
            expected=f"a whole number from 0 to {MOST_USERS:,} in column {column!r}",
            got=f"{found[row]:g}",
            do="say how many people hold the value",
        )
    return found.astype(np.int64)
