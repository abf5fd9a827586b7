"""Cells of a data file as text: some columns of a CSV or Parquet file, row by row."""

import csv
import gzip
import io
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from mixtally.errors import DataError

Cells = tuple[str | None, ...]
"""One row: the text of every column asked for, None or empty where it is missing."""

Progress = Callable[[str, int, int], None]
"""Called with the name of the step, how much of it is done, and how much there is."""


def quiet(*_: object) -> None:
    """Tells nobody."""


_LONGEST_LINE = 1 << 24
"""Characters of a line, its end included."""
_EVERY = 1 << 16
"""Rows from one word about the progress to the next."""


@contextmanager
def cells(
    path: Path, columns: Sequence[str], progress: Progress = quiet
) -> Iterator[Iterator[Cells]]:
    """The rows of ``columns`` in a .csv, .csv.gz or .parquet file; rows count after the header.

    Raises DataError for what cannot be read and for columns that are not there.
    """
    if not path.is_file():
        raise DataError(str(path), wanted="a data file", got="no file there", do="check the path")
    name = path.name.lower()
    if name.endswith((".csv", ".csv.gz")):
        with _text(path) as (lines, place):
            size = path.stat().st_size
            yield _with_progress(
                _csv_cells(path, columns, lines), lambda: progress("read", place(), size)
            )
    elif name.endswith(".parquet"):
        yield _parquet_cells(path, columns, progress)
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
def _text(path: Path) -> Iterator[tuple[IO[str], Callable[[], int]]]:
    """The file as UTF-8 text, unpacked when its name ends in .gz, and how many bytes are read."""
    packed = path.name.lower().endswith(".gz")
    try:
        with (
            path.open("rb") as raw,
            cast("IO[bytes]", gzip.GzipFile(fileobj=raw)) if packed else raw as plain,
            io.TextIOWrapper(plain, encoding="utf-8-sig", newline="") as lines,
        ):
            yield lines, raw.tell
    except (OSError, EOFError, UnicodeDecodeError, csv.Error, zlib.error) as error:
        raise DataError(
            str(path), wanted="readable UTF-8 CSV", got=str(error), do="repair or re-export it"
        ) from error


def _with_progress(rows: Iterator[Cells], tell: Callable[[], None]) -> Iterator[Cells]:
    """The same rows, with a word about the progress now and then."""
    for number, row in enumerate(rows):
        if number % _EVERY == 0:
            tell()
        yield row
    tell()


def _ended(path: Path, lines: IO[str]) -> Iterator[str]:
    """The lines, none of them gathered for ever because it has no end."""
    while line := lines.readline(_LONGEST_LINE):
        if len(line) == _LONGEST_LINE:
            raise DataError(
                str(path),
                wanted=f"lines of less than {_LONGEST_LINE:,} characters",
                got="a longer one",
                do="check that the file is text, a row a line",
            )
        yield line


def _csv_cells(path: Path, columns: Sequence[str], lines: IO[str]) -> Iterator[Cells]:
    rows = csv.reader(_ended(path, lines), strict=True)
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


def _parquet_cells(path: Path, columns: Sequence[str], progress: Progress) -> Iterator[Cells]:
    try:
        import pyarrow as arrow  # slow to import, and only Parquet files need it
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
            done = 0
            for batch in file.iter_batches(columns=list(columns)):
                texts = [_texts(path, batch.column(name).to_pylist()) for name in columns]
                yield from zip(*texts, strict=True)
                done += batch.num_rows
                progress("read", done, file.metadata.num_rows)
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
                str(path),
                wanted="UTF-8 text in the column",
                got=repr(value),
                do="store the column as text",
            ) from error
    return str(value)


def _places(path: Path, columns: Sequence[str], names: Sequence[str]) -> list[int]:
    for column in columns:
        if names.count(column) != 1:
            raise _no_column(path, column, names)
    return [names.index(column) for column in columns]


def _no_column(path: Path, column: str, names: Sequence[str]) -> DataError:
    """The refusal of a header in which ``column`` is not there once."""
    if column in names:
        return DataError(
            str(path),
            wanted=f"one column {column!r}",
            got=f"{names.count(column)} of that name",
            do="rename all but one of them",
        )
    if not any(names):
        return DataError(
            str(path), wanted="a header line", got="a blank one", do="name the columns in line 1"
        )
    apart = len(names) == 1 and next((mark for mark in ";\t|" if mark in names[0]), None)
    return DataError(
        str(path),
        wanted=f"a column {column!r}",
        got="the columns " + ", ".join(repr(name) for name in names[:20]),
        do=f"put commas between cells instead of {apart!r}"
        if apart
        else "name one of these with --column",
    )
