"""Cells of a data file as text: some columns of a CSV or Parquet file, row by row."""

import csv
import gzip
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from mixtally.errors import DataError

Cells = tuple[str | None, ...]
"""One row: the text of every column asked for, None or empty where it is missing."""


@contextmanager
def cells(path: Path, columns: Sequence[str]) -> Iterator[Iterator[Cells]]:
    """The rows of ``columns`` in a .csv, .csv.gz or .parquet file; rows count after the header.

    Raises DataError for what cannot be read and for columns that are not there.
    """
    if not path.is_file():
        raise DataError(str(path), wanted="a data file", got="no file there", do="check the path")
    name = path.name.lower()
    if name.endswith((".csv", ".csv.gz")):
        with _text(path) as lines:
            yield _csv_cells(path, columns, lines)
    elif name.endswith(".parquet"):
        yield _parquet_cells(path, columns)
    else:
        raise DataError(
            str(path),
            wanted="a file ending in .csv, .csv.gz or .parquet",
            got=f"an unknown type, {path.suffix or 'no ending'}",
            do="convert it to one of these",
        )


def missing(path: Path, row: int, column: str, do: str = "") -> DataError:
    """The refusal of a cell without a value."""
    return DataError(
        f"{path}, row {row}",
        wanted=f"a value in column {column!r}",
        got="a missing one",
        do=do or "fill the gaps with a category of their own or remove the rows",
    )


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


def _csv_cells(path: Path, columns: Sequence[str], lines: IO[str]) -> Iterator[Cells]:
    rows = csv.reader(lines, strict=True)
    header = next(rows, None)
    if header is None:
        raise DataError(str(path), wanted="a header line", got="an empty file", do="check the file")
    places, blanks = _places(path, columns, header), 0
    for number, row in enumerate(rows, start=1):
        if not row:
            blanks += 1
            continue
        if len(header) == 1:  # a blank line between values is a missing value
            yield from [(None,)] * blanks
        blanks = 0
        if any(row[len(header) :]):
            raise DataError(
                f"{path}, row {number}",
                wanted=f"{len(header)} cells, as in the header",
                got=f"{len(row)}",
                do="put quotes around values that hold a comma",
            )
        yield tuple(row[place] if place < len(row) else None for place in places)


def _parquet_cells(path: Path, columns: Sequence[str]) -> Iterator[Cells]:
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
            _places(path, columns, file.schema_arrow.names)
            for batch in file.iter_batches(columns=list(columns)):
                texts = [_texts(path, batch.column(name).to_pylist()) for name in columns]
                yield from zip(*texts, strict=True)
    except (arrow.ArrowException, OSError) as error:
        raise DataError(
            str(path), wanted="a readable Parquet file", got=str(error), do="re-export it"
        ) from error


def _texts(path: Path, values: list[Any]) -> list[str | None]:
    return [_as_text(path, value) for value in values]


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


def _places(path: Path, columns: Sequence[str], names: Sequence[str]) -> list[int]:
    for column in columns:
        if column not in names:
            raise DataError(
                str(path),
                wanted=f"a column {column!r}",
                got="the columns " + ", ".join(repr(name) for name in names[:20]),
                do="name one of these with --column",
            )
    return [names.index(column) for column in columns]
