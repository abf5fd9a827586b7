"""Records of numbers, which are cut into bins, or kept until they are rounded at random.

``crowd`` uses `Numbers` for the record type ``number``; ``places`` parses coordinates with
`parse_column_numbers`.
"""

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import PlanError
from mixtally.lab.data.columns import encode_column, parse_numbers
from mixtally.lab.data.file import Origin
from mixtally.lab.data.formats.table import Array
from mixtally.lab.data.people import RecordGroups
from mixtally.lab.data.population import Population
from mixtally.lab.data.reading import Reading
from mixtally.lab.data.rows import RowBatch
from mixtally.model.question import Question
from mixtally.protocol.encode.numbers import Scale, parse_number

_ENDS = 2
"""Number of points of the provisional grid, which are its two ends.

The planner replaces this grid.
"""


class Numbers:
    """Reader of rows that each contain one number."""

    def __init__(self, origin: Origin, reading: Reading, question: Question | None) -> None:
        del origin  # unused: errors get the origin from the batch
        assert reading.scale is not None, "numbers are read with a scale"
        (self._column,), self._scale, self._asked = reading.columns, reading.scale, question
        self._values: list[NDArray[np.float64]] = []
        if isinstance(self._scale, Scale):
            _check_labels(self._scale.labels, question)

    def take(self, batch: RowBatch) -> None:
        """Collect the rows of a batch; raise DataError for a value that is not a finite number."""
        self._values.append(parse_column_numbers(batch.arrays[0], batch))

    def crowd(self, records: RecordGroups) -> Population:
        """Return the population, with numbers clipped to the range and a note that says so."""
        values, scale = records.value_of_records(np.concatenate(self._values)), self._scale
        outside = int(np.count_nonzero((values < scale.low) | (values > scale.high)))
        note = (
            f"Values below {scale.low:g} count as {scale.low:g} and values above {scale.high:g} as "
            f"{scale.high:g}: {outside:,} of {len(values):,} were clipped."
        )
        if isinstance(scale, Scale):
            asked = Question(name=self._column, bins=scale.bins, labels=scale.labels)
            return Population(asked, scale.codes(values), note=note)
        asked = self._asked or Question(name=self._column, bins=_ENDS)
        none = np.zeros(len(values), dtype=np.int64)
        return Population(asked, none, scale.clip(values), note=note)


def _check_labels(labels: tuple[str, ...], question: Question | None) -> None:
    if question is not None and question.labels not in (None, labels):
        raise PlanError(
            "plan",
            expected=f"bins {labels[0]} to {labels[-1]}, as --number and --bins define them",
            got=f"{question.label(0)} to {question.label(question.bins - 1)}",
            do="use the same range and number of bins as the plan",
        )


def parse_column_numbers(array: Array, batch: RowBatch) -> NDArray[np.float64]:
    """Return the number of every row, shape (rows,); raise DataError for other values."""
    plain = parse_numbers(array)
    if plain is not None:
        return plain
    # Some text is not a plain number. Each distinct text is parsed once, so that the error names
    # its first row.
    column = encode_column(array)
    found = [
        parse_number(text, batch.where.subject(row))
        for text, row in zip(column.texts, column.first_rows.tolist(), strict=True)
    ]
    return np.array(found, dtype=np.float64)[column.codes]
