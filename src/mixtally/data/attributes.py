"""A crowd with several attributes, read from a column each into one record."""

from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mixtally.data.cells import Cells, missing
from mixtally.data.population import (
    Population,
    check_crowd,
    check_spaces,
    check_varied,
    in_order,
    number_of,
)
from mixtally.data.reading import Reading
from mixtally.encode.bits import rows_of
from mixtally.errors import DataError, PlanError
from mixtally.records.question import Kind, Question


def attributes(
    path: Path, rows: Iterator[Cells], reading: Reading, question: Question | None
) -> Population:
    """The crowd of ``rows``; errors as ``readers.read``."""
    books = _Books.of(reading, question)
    codes = [array("q") for _ in reading.columns]
    for row, values in enumerate(rows, start=1):
        for column, value, book, found in zip(
            reading.columns, values, books.numbers, codes, strict=True
        ):
            if not value:
                raise missing(path, row, column)
            found.append(number_of(path, row, value, book, fixed=books.fixed))
    check_crowd(path, len(codes[0]))
    records, names, start = [], [], 0
    for column, book, found in zip(reading.columns, books.numbers, codes, strict=True):
        check_spaces(f"{path}, column {column!r}", book)
        check_varied(path, column, book)
        ordered, place = in_order(book, fixed=books.fixed)
        records.append(start + place[np.frombuffer(found, dtype=np.int64)])
        names += [f"{column}={label}" for label in ordered]
        start += len(ordered)
    sizes = tuple(len(book) for book in books.numbers)
    asked = Question(
        name=reading.name,
        bins=start,
        labels=tuple(names),
        kind=Kind.SET,
        max_set=len(sizes),
        attributes=sizes,
    )
    users = len(codes[0])
    people = np.tile(np.arange(users), len(sizes))
    return Population(asked, rows_of(people, np.concatenate(records), users, start))


class _Books(NamedTuple):
    """The bin of every value of each attribute, within it."""

    numbers: list[dict[str, int]]
    fixed: bool

    @classmethod
    def of(cls, reading: Reading, question: Question | None) -> "_Books":
        """Labels are "column=value", grouped by column; a plan's may be bare values, or none."""
        books: list[dict[str, int]] = [{} for _ in reading.columns]
        if question is not None and question.attributes is not None:
            if len(question.attributes) != len(books):
                raise PlanError(
                    "plan",
                    wanted=f"a plan for the {len(books)} attributes of the data",
                    got=f"one for {len(question.attributes)}",
                    do="name as many columns",
                )
            start = 0
            for book, column, size in zip(books, reading.columns, question.attributes, strict=True):
                labels = (question.labels or ())[start : start + size]
                for place, label in enumerate(labels or map(str, range(size))):
                    book[label.removeprefix(f"{column}=")] = place
                start += size
        elif reading.labels is not None:
            for label in reading.labels:
                column, _, value = label.partition("=")
                if column not in reading.columns or not value:
                    raise DataError(
                        f"label {label!r}",
                        wanted="column=value with one of the columns read",
                        got=repr(label),
                        do="write each label so, the columns in their order",
                    )
                book = books[reading.columns.index(column)]
                book[value] = len(book)
        return cls(books, question is not None or reading.labels is not None)
