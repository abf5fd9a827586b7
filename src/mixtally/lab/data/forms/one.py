"""Records of one value, read from one column.

``crowd`` uses `One` for the record type ``one``.
"""

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
    """Reader of rows that each contain one value, which it turns into a bin number."""

    def __init__(self, origin: Origin, reading: Reading, question: Question | None) -> None:
        (self._column,) = reading.columns
        reading.check_other_label(question)
        self._subject = origin.column(self._column)
        self._encoder = LabelEncoder(
            reading.fixed_labels(question), words=reading.words, merging=reading.merging
        )
        self._codes: list[NDArray[np.int32]] = []

    def take(self, batch: RowBatch) -> None:
        """Collect the rows of a batch; raise DataError for a value without a label."""
        self._codes.append(self.encode_batch(batch))

    def encode_batch(self, batch: RowBatch) -> NDArray[np.int32]:
        """Return the number of the label of every row, without storing the rows.

        Labels are numbered in the order of reading, or as the reading or the plan lists them.

        Raises DataError for a value without a label.
        """
        return self._encoder.encode(encode_column(batch.arrays[0]), batch.where, batch.levels[0])

    def population_of_labels(self) -> Population:
        """Return a population with one person for each label, in the order of the label numbers.

        `crowd.count_epochs` reads the bin of each label from it. Raises DataError as `crowd` does.
        """
        self._codes = [np.arange(len(self._encoder.numbers), dtype=np.int32)]
        return self.crowd(RecordGroups(len(self._encoder.numbers)))

    def crowd(self, records: RecordGroups) -> Population:
        """Return the population; raise DataError for a column with only one value."""
        codes = records.value_of_records(np.concatenate(self._codes))
        labels, ordered = self._encoder.order_labels(codes, self._subject)
        asked = Question(name=self._column, bins=len(labels), labels=labels)
        return Population(asked, ordered, from_data=self._encoder.from_data)
