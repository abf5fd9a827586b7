"""Records of several attributes, each read from its own column.

``crowd`` uses `Attributes` for the record type ``attributes``.
"""

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import DataError, PlanError, pluralize
from mixtally.lab.data.columns import encode_column
from mixtally.lab.data.file import Origin
from mixtally.lab.data.labels import LabelEncoder
from mixtally.lab.data.people import RecordGroups
from mixtally.lab.data.population import Population
from mixtally.lab.data.reading import Reading
from mixtally.lab.data.rows import RowBatch
from mixtally.model.question import Question, make_attributes_question
from mixtally.protocol.encode.bits import rows_of


class Attributes:
    """Reader of rows that each contain one value of every attribute."""

    def __init__(self, origin: Origin, reading: Reading, question: Question | None) -> None:
        self._name, self._columns = reading.name, reading.columns
        self._subjects = [*map(origin.column, reading.columns)]
        self._encoders = _build_encoders(reading, question)
        self._codes: list[list[NDArray[np.int32]]] = [[] for _ in reading.columns]

    def take(self, batch: RowBatch) -> None:
        """Collect the rows of a batch; raise DataError for a value without a label."""
        columns = zip(batch.arrays, batch.levels, self._encoders, self._codes, strict=False)
        for array, levels, encoder, codes in columns:
            codes.append(encoder.encode(encode_column(array), batch.where, levels))

    def crowd(self, records: RecordGroups) -> Population:
        """Return the population; raise DataError for an attribute with only one value."""
        names: list[str] = []
        sizes, found = [], []
        for column, subject, encoder, codes in zip(
            self._columns, self._subjects, self._encoders, self._codes, strict=True
        ):
            labels, ordered = encoder.order_labels(
                records.value_of_records(np.concatenate(codes)), subject
            )
            found.append(len(names) + ordered)
            names += [f"{column}={label}" for label in labels]
            sizes.append(len(labels))
        asked = make_attributes_question(self._name, tuple(sizes), tuple(names))
        people = np.tile(np.arange(records.size), len(sizes))
        rows = rows_of(people, np.concatenate(found), records.size, len(names))
        read = [encoder.from_data for encoder in self._encoders if encoder.from_data]
        return Population(asked, rows, from_data=read[0] if read else ())


def _build_encoders(reading: Reading, question: Question | None) -> list[LabelEncoder]:
    """Return the encoder of each attribute.

    The labels of a reading have the form "column=value". The labels of a plan may also be values
    without the name of the column. A plan without labels has the labels 0, 1, .. for each
    attribute. If there is no plan and no label of a column is listed, the labels of the column are
    read from the data.
    """
    merging = reading.merging
    if question is not None and question.attributes is not None:
        return [
            LabelEncoder(one, merging=merging)
            for one in _split_plan_labels(reading, question, question.attributes)
        ]
    if reading.labels is None:
        return [LabelEncoder(None, merging=merging) for _ in reading.columns]
    labels: dict[str, list[str]] = {column: [] for column in reading.columns}
    for label in reading.labels:
        column = next((name for name in labels if label.startswith(f"{name}=")), None)
        value = "" if column is None else label.removeprefix(f"{column}=")
        if column is None or not value:
            raise DataError(
                f"label {label!r}",
                expected="column=value with one of the columns read",
                got=repr(label),
                do="write each label as column=value, in the order of the columns",
            )
        labels[column].append(value)
    return [LabelEncoder(values or None, merging=merging) for values in labels.values()]


def _split_plan_labels(
    reading: Reading, question: Question, sizes: tuple[int, ...]
) -> list[list[str]]:
    if len(sizes) != len(reading.columns):
        raise PlanError(
            "plan",
            expected=f"a plan for {pluralize(len(reading.columns), 'attribute')}, as in the data",
            got=f"one for {len(sizes)}",
            do="name the same number of columns",
        )
    found, start = [], 0
    for column, size in zip(reading.columns, sizes, strict=True):
        labels = (question.labels or ())[start : start + size] or map(str, range(size))
        found.append([label.removeprefix(f"{column}=") for label in labels])
        start += size
    return found
