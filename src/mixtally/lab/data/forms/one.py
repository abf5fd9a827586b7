"""One value of one column a person."""

import numpy as np
from numpy.typing import NDArray

from mixtally.lab.data.columns import encode_column
from mixtally.lab.data.file import Origin
from mixtally.lab.data.labels import LabelEncoder
from mixtally.lab.data.people import RecordGroups
from mixtally.lab.data.population import Population
from mixtally.lab.data.reading import Reading
from mixtally.lab.data.rows import RowBatch
from mixtally.model.question import Question


class One:
    """Gathers the bin of every row."""

    def __init__(self, origin: Origin, reading: Reading, question: Question | None) -> None:
        (self._column,) = reading.columns
        reading.check_other_label(question)
        self._subject = origin.column(self._column)
        self._book = LabelEncoder(
            reading.fixed_labels(question), words=reading.words, merging=reading.merging
        )
        self._codes: list[NDArray[np.int32]] = []

    def take(self, batch: RowBatch) -> None:
        """Raises DataError for a value without a label."""
        self._codes.append(self.encode_batch(batch))

    def encode_batch(self, batch: RowBatch) -> NDArray[np.int32]:
        """Return the number of every row's label among those that were met, and keep none.

        Raises DataError for a value without a label.
        """
        return self._book.encode(encode_column(batch.arrays[0]), batch.where, batch.levels[0])

    def population_of_labels(self) -> Population:
        """Return a crowd that has the bin of every label that was met, in that order.

        Raises DataError for a column that does not vary.
        """
        self._codes = [np.arange(len(self._book.numbers), dtype=np.int32)]
        return self.crowd(RecordGroups(len(self._book.numbers)))

    def crowd(self, records: RecordGroups) -> Population:
        """Raises DataError for a column that does not vary."""
        codes = records.value_of_records(np.concatenate(self._codes))
        labels, ordered = self._book.order_labels(codes, self._subject)
        asked = Question(name=self._column, bins=len(labels), labels=labels)
        return Population(asked, ordered, from_data=self._book.from_data)
