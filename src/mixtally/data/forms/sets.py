"""A set of labels a person: several in a cell, or one in each of several rows."""

from itertools import chain

import numpy as np
import pyarrow
from numpy.typing import NDArray

from mixtally.data.columns import coded, gaps, is_list, parts
from mixtally.data.file import Origin
from mixtally.data.labels import Book
from mixtally.data.people import Records
from mixtally.data.population import LARGEST_SET, Population
from mixtally.data.reading import Reading, Several
from mixtally.data.rows import Batch, Where
from mixtally.encode.bits import numbers_of, rows_of, set_bits
from mixtally.encode.sets import holding, members
from mixtally.errors import DataError
from mixtally.randomize.bins import Records as Bins
from mixtally.records.question import MOST_SET, Kind, Question


class Sets:
    """Gathers who has which label."""

    def __init__(self, origin: Origin, reading: Reading, question: Question | None) -> None:
        (self._column,) = reading.columns
        reading.check_listed(question)
        self._subject = origin.column(self._column)
        self._separator = reading.separator
        self._joined = reading.several is Several.SET and self._separator is None  # a label a row
        self._most = reading.max_set if question is None else question.max_set
        self._words = reading.words
        fixed_labels = reading.bins(question)
        self._book = Book(fixed_labels, words=reading.words, merging=reading.merging)
        fixed = self._book.numbers if self._book.fixed else ()
        self._whole = [] if self._separator is None else holding(fixed, self._separator)
        self._rows = 0
        self._who: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
        self._what: list[NDArray[np.int32]] = [np.zeros(0, dtype=np.int32)]

    def take(self, batch: Batch) -> None:
        """Raises DataError for an empty or unknown label and for too many of them; gaps are {}."""
        (array, *_), where = batch.arrays, batch.where
        self._book.declare(batch.levels[0] if self._separator is None else None)
        there = np.flatnonzero(~gaps(array))
        column = coded(array.take(pyarrow.array(there)))
        sets = [
            self._numbers(text, where, row)
            for text, row in zip(column.texts, there[column.first].tolist(), strict=True)
        ]
        sizes = np.array([len(one) for one in sets], dtype=np.int64)
        starts, flat = (
            np.cumsum(sizes) - sizes,
            np.array(list(chain.from_iterable(sets)), dtype=np.int32),
        )
        counts = sizes[column.codes]
        ends = np.cumsum(counts)
        within = np.arange(int(counts.sum())) - np.repeat(ends - counts, counts)
        self._who.append(self._rows + np.repeat(there, counts))
        self._what.append(flat[np.repeat(starts[column.codes], counts) + within])
        self._rows += len(array)

    def _numbers(self, text: str, where: Where, row: int) -> list[int]:
        most = self._most or MOST_SET
        if is_list(text) or self._joined:
            labels = list(dict.fromkeys(parts(text, None)))
        elif self._separator is not None:
            labels = members(text, self._separator, where.subject(row), self._whole)
        else:
            raise DataError(
                where.subject(row),
                wanted="a list of labels, empty for none",
                got=repr(text),
                do="give a list to every person; text is split with separator=';'",
            )
        if len(labels) > most:
            raise DataError(
                where.subject(row),
                wanted=f"at most {most} labels, which is what is hidden",
                got=f"{len(labels)}",
                do="choose which to keep, or allow a larger --max-set",
            )
        return list(dict.fromkeys(self._book.number(label, where, row) for label in labels))

    def crowd(self, records: Records) -> Population:
        """Raises DataError for too many labels of a person, or too few in all."""
        who, what = records.of(np.concatenate(self._who)), np.concatenate(self._what)
        labels, codes = self._book.ordered(what[who >= 0], self._subject)
        held = who[who >= 0], codes, records.size, len(labels)
        rows: Bins
        if self._words:
            rows = numbers_of(*held)
            largest = rows.shape[1]
        else:
            rows = packed = rows_of(*held)
            largest = max(1, int(set_bits(packed).max()))
        most = self._most or MOST_SET
        if largest > most:
            raise DataError(
                self._subject,
                wanted=f"at most {most} labels of a person",
                got=f"{largest}",
                do="choose which to keep, or plan with a larger --max-set",
            )
        asked = Question(
            name=self._column,
            bins=len(labels),
            labels=labels,
            kind=Kind.SET,
            max_set=self._most or largest,
        )
        read = self._book.from_data + (LARGEST_SET,) * (self._most is None)
        return Population(asked, rows, from_data=read)
