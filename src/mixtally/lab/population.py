"""A crowd whose values are known: one column of a CSV or Parquet file."""

import csv
import gzip
import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import DataError
from mixtally.records.question import Question


@dataclass(frozen=True, slots=True, eq=False)
class Population:
    """Everybody's bin.

    where
      codes   shape (users,), int64, the bin of each person
    """

    question: Question
    codes: NDArray[np.int64]

    @property
    def truth(self) -> NDArray[np.int64]:
        """How many people are in each bin, shape (bins,)."""
        return np.bincount(self.codes, minlength=self.question.bins)

    def asked(self, question: Question) -> "Population":
        """The same people asked ``question``, whose bins have the same order."""
        return replace(self, question=question)


def read_population(path: Path, column: str, labels: Sequence[str] | None = None) -> Population:
    """The values of ``column``, each row a person.

    ``labels`` fixes the bins and their order; without it they are the distinct values, sorted.
    Reads .csv, .csv.gz and .parquet; rows are counted after the header. Raises DataError for what
    cannot be read, missing values, unknown categories and columns with fewer than two distinct
    values.
    """
    if not path.is_file():
        raise DataError(str(path), wanted="a data file", got="no file there", do="check the path")
    name = path.name.lower()
    if name.endswith((".csv", ".csv.gz")):
        with _text(path) as lines:
            return _collect(path, column, _csv_values(path, column, lines), labels)
    if name.endswith(".parquet"):
        return _collect(path, column, _parquet_values(path, column), labels)
    raise DataError(
        str(path),
        wanted="a file ending in .csv, .csv.gz or .parquet",
        got=f"an unknown type, {path.suffix or 'no ending'}",
        do="convert it to one of these",
    )


def _collect(
    path: Path, column: str, values: Iterable[str | None], labels: Sequence[str] | None
) -> Population:
    numbers = {label: number for number, label in enumerate(labels or ())}
    codes = array("q")
    for row, value in enumerate(values, start=1):
        if value is None or value == "":
            raise DataError(
                f"{path}, row {row}",
                wanted=f"a value in column {column!r}",
                got="a missing one",
                do="fill the gaps with a category of their own or remove the rows",
            )
        if value not in numbers:
            if labels is not None:
                raise DataError(
                    f"{path}, row {row}",
                    wanted=f"one of the {len(labels):,} labels of the question",
                    got=repr(value),
                    do="add it to the labels, or map it to one of them",
                )
            numbers[value] = len(numbers)
        codes.append(numbers[value])
    if not codes:
        raise DataError(str(path), wanted="at least two rows", got="none", do="check the file")
    if len(numbers) < 2:
        raise DataError(
            f"{path}, column {column!r}",
            wanted="at least two distinct values",
            got=f"only {next(iter(numbers))!r}",
            do="choose a column that varies, or fix the bins with labels",
        )
    return _population(column, numbers, np.frombuffer(codes, dtype=np.int64), sort=labels is None)


def _population(
    column: str, numbers: dict[str, int], codes: NDArray[np.int64], *, sort: bool
) -> Population:
    ordered = sorted(numbers) if sort else list(numbers)
    place = np.empty(len(ordered), dtype=np.int64)
    place[[numbers[label] for label in ordered]] = np.arange(len(ordered))
    question = Question(name=column, bins=len(ordered), labels=tuple(ordered))
    return Population(question, place[codes])


@contextmanager
def _text(path: Path) -> Iterator[IO[str]]:
    """The file as UTF-8 text, unpacked when its name ends in .gz."""
    opener = gzip.open if path.name.lower().endswith(".gz") else open
    try:
        with opener(path, "rt", encoding="utf-8-sig", newline="") as lines:
            yield lines
    except (OSError, EOFError, UnicodeDecodeError, csv.Error, zlib.error) as error:
        raise DataError(
            str(path), wanted="readable UTF-8 CSV", got=str(error), do="repair or re-export it"
        ) from error


def _csv_values(path: Path, column: str, lines: IO[str]) -> Iterator[str | None]:
    rows = csv.reader(lines, strict=True)
    header = next(rows, None)
    if header is None:
        raise DataError(str(path), wanted="a header line", got="an empty file", do="check the file")
    place, blanks = _place(path, column, header), 0
    for number, row in enumerate(rows, start=1):
        if not row:
            blanks += 1
            continue
        if blanks and len(header) == 1:  # a blank line between values is a missing value
            yield None
        if any(row[len(header) :]):
            raise DataError(
                f"{path}, row {number}",
                wanted=f"{len(header)} cells, as in the header",
                got=f"{len(row)}",
                do="put quotes around values that hold a comma",
            )
        yield row[place] if place < len(row) else None


def _parquet_values(path: Path, column: str) -> Iterator[str | None]:
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise DataError(
            str(path),
            wanted="the reader for Parquet files",
            got="pyarrow is not installed",
            do="pip install 'mixtally[parquet]'",
        ) from error
    try:
        with parquet.ParquetFile(path) as file:
            _place(path, column, file.schema_arrow.names)
            for batch in file.iter_batches(columns=[column]):
                yield from (_as_text(path, value) for value in batch.column(0).to_pylist())
    except (arrow.ArrowException, OSError) as error:
        raise DataError(
            str(path), wanted="a readable Parquet file", got=str(error), do="re-export it"
        ) from error


def _as_text(path: Path, value: object) -> str | None:
    """A Parquet value as a label; null and not-a-number are missing."""
    if value is None or value != value:
        return None
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError as error:
            raise DataError(
                str(path), wanted="UTF-8 text in the column", got=repr(value),
                do="store the column as text",
            ) from error  # fmt: skip
    return str(value)


def _place(path: Path, column: str, names: Sequence[str]) -> int:
    if column not in names:
        raise DataError(
            str(path),
            wanted=f"a column {column!r}",
            got="the columns " + ", ".join(repr(name) for name in names[:20]),
            do="name one of these with --column",
        )
    return names.index(column)
