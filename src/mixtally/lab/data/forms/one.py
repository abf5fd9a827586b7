"""One value of one column a person."""

import numpy as np
from numpy.typing import NDArray

from mixtally.lab.data.columns import coded
from mixtally.lab.data.file import Origin
from mixtally.lab.data.labels import Book
from mixtally.lab.data.people import Records
from mixtally.lab.data.population import Population
from mixtally.lab.data.reading import Reading
from mixtally.lab.data.rows import Batch
from mixtally.model.question import Question


class One:
    """Gathers the bin of every row."""

    def __init__(self, origin: Origin, reading: Reading, question: Question | None) -> None:
        (self._column,) = reading.columns
        reading.check_listed(question)
        self._subject = origin.column(self._column)
        self._book = Book(reading.bins(question), words=reading.words, merging=reading.merging)
        self._codes: list[NDArray[np.int32]] = []

    def take(self, batch: Batch) -> None:
        """Raises DataError for a value without a label."""
        self._codes.append(self.codes_of(batch))

    def codes_of(self, batch: Batch) -> NDArray[np.int32]:
        """Return the number of every row's label among those that were met, and keep none.

        Raises DataError for a value without a label.
        """
        return self._book.codes(coded(batch.arrays[0]), batch.where, batch.levels[0])

    def places(self) -> Population:
        """Return a crowd that has the bin of every label that was met, in that order.

        Raises DataError for a column that does not vary.
        """
        self._codes = [np.arange(len(self._book.numbers), dtype=np.int32)]
        return self.crowd(Records(len(self._book.numbers)))

    def crowd(self, records: Records) -> Population:
        """Raises DataError for a column that does not vary."""
        codes = records.each(np.concatenate(self._codes))
        labels, ordered = self._book.ordered(codes, self._subject)
        asked = Question(name=self._column, bins=len(labels), labels=labels)
        return Population(asked, ordered, from_data=self._book.from_data)
