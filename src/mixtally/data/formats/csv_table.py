"""CSV: the delimiter is the one that finds the columns; a row has as many cells as the header."""

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import chain

import pyarrow
from pyarrow import csv as reader

from mixtally.data.file import DELIMITERS, DataFile
from mixtally.data.formats.source import Source, joined
from mixtally.data.formats.table import Part, Table
from mixtally.data.formats.text import BLOCK, ended, long_row, quoted
from mixtally.errors import DataError


def csv_table(source: Source, parts: Iterator[bytes], columns: Sequence[str]) -> Table:
    """The table in the UTF-8 ``parts``, in which ``columns`` are looked for."""
    file = source.file
    first = next(parts, b"")
    delimiter, names = _header(file, first, columns)
    text = quoted(file, ended(file, chain([first], parts)), delimiter)

    def read(places: Sequence[int]) -> Iterator[Part]:
        ragged: list[reader.InvalidRow] = []

        def refuse(row: reader.InvalidRow) -> str:
            ragged.append(row)
            return "error"

        try:
            with _opened(text, delimiter, places, one=len(names) == 1, refuse=refuse) as batches:
                for batch in batches:
                    arrays = [batch.column(f"f{place}") for place in places]
                    yield Part(arrays, source.done, source.size)
        except pyarrow.ArrowInvalid as error:
            if ragged:
                raise _ragged(file, ragged[0]) from error
            if "straddling" in str(error):
                raise long_row(file) from error
            raise

    return Table(names, read)


def _opened(
    text: Iterator[bytes], delimiter: str, places: Sequence[int], *, one: bool, refuse: object
) -> reader.CSVStreamingReader:
    """Batches of text, null where a cell is empty; blank lines are cells where there is ``one``."""
    kinds = {f"f{place}": pyarrow.string() for place in places}
    return reader.open_csv(
        pyarrow.PythonFile(joined(text), mode="r"),
        read_options=reader.ReadOptions(
            use_threads=False,  # rows are numbered only so
            block_size=BLOCK,
            autogenerate_column_names=True,
            skip_rows_after_names=1,
        ),
        parse_options=reader.ParseOptions(
            delimiter=delimiter,
            newlines_in_values=True,
            ignore_empty_lines=not one,
            invalid_row_handler=refuse,
        ),
        convert_options=reader.ConvertOptions(
            include_columns=list(kinds),
            column_types=kinds,
            strings_can_be_null=True,
            null_values=[""],
            check_utf8=False,
        ),
    )


def _header(file: DataFile, first: bytes, columns: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """The delimiter and the names: where all ``columns`` are found, or else the most cells."""
    if not first:
        raise file.unreadable("a header line", "an empty file", "check the file")
    text, found, failed = first.decode("utf-8", "ignore"), {}, None
    for delimiter in file.mark or DELIMITERS:
        try:
            found[delimiter] = tuple(_first_row(text, delimiter))
        except csv.Error as error:
            failed = error
    if not found:
        raise file.unreadable("a header line", failed, "repair or re-export it")
    best = max(found.items(), key=lambda each: (set(columns) <= set(each[1]), len(each[1])))
    if not any(best[1]):
        raise file.unreadable("a header line", "a blank one", "name the columns in line 1")
    return best


def _first_row(text: str, delimiter: str) -> list[str]:
    return next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))


def _ragged(file: DataFile, row: reader.InvalidRow) -> DataError:
    return DataError(
        file.row(row.number - 1),
        wanted=f"{row.expected_columns} cells, as in the header",
        got=f"{row.actual_columns}",
        do="put quotes around values that hold the delimiter, and fill short rows",
    )
