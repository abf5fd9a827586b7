"""The crowd in a data file, read row by row into records of every kind."""

from array import array
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from mixtally.data.attributes import attributes
from mixtally.data.cells import Cells, Progress, cells, missing, quiet
from mixtally.data.population import (
    Population,
    check_crowd,
    check_spaces,
    check_varied,
    collected,
    in_order,
    number_of,
)
from mixtally.data.reading import As, Reading
from mixtally.encode.bits import bit, packed, rows_of, vector
from mixtally.encode.numbers import number
from mixtally.encode.sets import members
from mixtally.errors import DataError, PlanError
from mixtally.records.question import MOST_BITS, MOST_SET, Kind, Question

Rows = Iterator[Cells]

_CHUNK = 1 << 16


def read(
    path: Path,
    reading: Reading,
    question: Question | None = None,
    progress: Progress = quiet,
) -> Population:
    """The crowd in ``path``, a row a person; asked ``question`` if a plan has fixed one.

    Raises DataError for rows that cannot be a record, PlanError for a question of another kind.
    """
    if question is not None:
        _check_kind(reading, question)
        if question.hashed is not None:
            raise PlanError(
                "plan",
                wanted="--candidates beside a plan whose values share bins by a hash",
                got="none",
                do="list the words to look for, one a line",
            )
    with cells(path, reading.columns, progress) as rows:
        crowd = _READERS[reading.form](path, rows, reading, question)
    return crowd if question is None else _asked(crowd, question)


_KINDS = {As.ONE: Kind.ONE, As.NUMBER: Kind.ONE, As.BITS: Kind.BITS}


def _check_kind(reading: Reading, question: Question) -> None:
    wanted = _KINDS.get(reading.form, Kind.SET)
    parts = reading.form is As.ATTRIBUTES
    if question.kind is not wanted or parts != (question.attributes is not None):
        kind = "attributes" if question.attributes is not None else str(question.kind)
        raise PlanError(
            "plan",
            wanted=f"a plan for data read as {reading.form}",
            got=f"one for records of kind {kind}",
            do="read the data as the plan asks (--set, --as bits, --as attributes, --number), or "
            "plan again",
        )


def _asked(crowd: Population, question: Question) -> Population:
    if crowd.question.bins != question.bins:
        raise PlanError(
            "plan",
            wanted=f"a plan for the {crowd.question.bins:,} bins of the data",
            got=f"one for {question.bins:,} bins",
            do="plan again for this data",
        )
    return crowd.asked(question)


def _labels(reading: Reading, question: Question | None) -> tuple[str, ...] | None:
    """The labels that are fixed, by the plan or by the reader."""
    if question is None:
        return reading.labels
    return question.labels or tuple(str(i) for i in range(question.bins))


def _one(path: Path, rows: Rows, reading: Reading, question: Question | None) -> Population:
    values, labels = (row[0] for row in rows), _labels(reading, question)
    return collected(path, reading.columns[0], values, labels)


def _sets(path: Path, rows: Rows, reading: Reading, question: Question | None) -> Population:
    (column,), labels = reading.columns, _labels(reading, question)
    most = reading.max_set if question is None else question.max_set
    numbers = {label: place for place, label in enumerate(labels or ())}
    people, positions, largest, users = array("q"), array("q"), 1, 0
    for row, (value,) in enumerate(rows, start=1):
        users = row
        if value is None or not value.strip():
            if not reading.empty_sets:
                advice = "remove the row, or say --empty-sets if it is a set without labels"
                raise missing(path, row, column, advice)
            continue
        subject = f"{path}, row {row}"
        found = members(value, reading.separator, most or MOST_SET, subject)
        largest = max(largest, len(found))
        for label in found:
            people.append(row - 1)
            positions.append(number_of(path, row, label, numbers, fixed=labels is not None))
    check_crowd(path, users)
    check_spaces(f"{path}, column {column!r}", numbers)
    check_varied(path, column, numbers)
    ordered, place = in_order(numbers, fixed=labels is not None)
    asked = Question(
        name=reading.name,
        bins=len(ordered),
        labels=ordered,
        kind=Kind.SET,
        max_set=most or largest,
    )
    who, where = (np.frombuffer(a, dtype=np.int64) for a in (people, positions))
    return Population(asked, rows_of(who, place[where], users, len(ordered)))


def _bits(path: Path, rows: Rows, reading: Reading, question: Question | None) -> Population:
    columns, labels = reading.columns, reading.labels
    known = question.bins if question is not None else len(labels) if labels else None
    length, users = (len(columns) if len(columns) > 1 else 0), 0
    chunks, current = [], bytearray()
    for vectors in _vectors(path, rows, columns, known):
        length, users = len(vectors), users + 1
        current += vectors
        if users % _CHUNK == 0:
            chunks.append(packed(current, length))
            current = bytearray()
    check_crowd(path, users)
    if len(columns) == length:
        labels = labels or columns
    chunks.append(packed(current, length))
    asked = Question(name=reading.name, bins=length, labels=labels, kind=Kind.BITS)
    return Population(asked, np.concatenate(chunks))


def _vectors(
    path: Path, rows: Rows, columns: tuple[str, ...], known: int | None
) -> Iterator[bytes]:
    """Each person's bits: one a column, or one a digit where a single column holds strings."""
    length = known
    for row, values in enumerate(rows, start=1):
        subject = f"{path}, row {row}"
        if not all(values):
            raise missing(path, row, columns[[bool(v) for v in values].index(False)])
        texts = [value or "" for value in values]
        if length is None:  # the first row tells strings of bits from single ones
            longer = len(texts) == 1 and len(texts[0]) > 1 and not texts[0].strip("01")
            length = len(texts[0]) if longer else len(texts)
            _check_length(subject, length)
        if length == len(texts):
            yield _single(path, row, columns, texts)
        elif len(texts) == 1:
            yield vector(texts[0], length, subject)
        else:
            raise PlanError(
                "plan",
                wanted=f"a plan for {len(texts)} bits",
                got=f"one for {length}",
                do="name as many columns",
            )


def _single(path: Path, row: int, columns: tuple[str, ...], texts: list[str]) -> bytes:
    return bytes(
        bit(text, f"{path}, row {row}, column {column!r}")
        for text, column in zip(texts, columns, strict=True)
    )


def _check_length(subject: str, length: int) -> None:
    if length > MOST_BITS:
        raise DataError(
            subject,
            wanted=f"at most {MOST_BITS} bits",
            got=f"{length}",
            do="ask fewer bits at once",
        )


def _numbers(path: Path, rows: Rows, reading: Reading, question: Question | None) -> Population:
    (column,), scale = reading.columns, reading.scale
    if scale is None:
        raise TypeError("numbers are read with a scale")
    if question is not None and question.labels not in (None, scale.labels):
        raise PlanError(
            "plan",
            wanted=f"bins {scale.labels[0]} to {scale.labels[-1]}, as --number and --bins cut them",
            got=f"{question.label(0)} to {question.label(question.bins - 1)}",
            do="cut the numbers as the plan does",
        )
    found = array("d")
    for row, (value,) in enumerate(rows, start=1):
        if not value:
            raise missing(path, row, column, "remove the rows without a number")
        found.append(number(value, f"{path}, row {row}"))
    check_crowd(path, len(found))
    values = np.frombuffer(found, dtype=np.float64)
    outside = int(np.count_nonzero((values < scale.low) | (values > scale.high)))
    note = (
        f"Values below {scale.low:g} count as {scale.low:g} and values above {scale.high:g} as "
        f"{scale.high:g}: {outside:,} of {len(values):,} were clipped."
    )
    asked = Question(name=column, bins=scale.bins, labels=scale.labels)
    return Population(asked, scale.codes(values), scale.clipped(values), note)


_READERS: dict[As, Callable[[Path, Rows, Reading, Question | None], Population]] = {
    As.ONE: _one,
    As.SET: _sets,
    As.ATTRIBUTES: attributes,
    As.BITS: _bits,
    As.NUMBER: _numbers,
}
