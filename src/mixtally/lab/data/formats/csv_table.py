"""Tables in CSV, with a detected delimiter. A row whose length differs from the header is an error.

`csv_table` is called by ``tables``. The delimiter is the one with which the header has the
requested columns.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import chain

import pyarrow
from pyarrow import csv as reader

from mixtally.errors import DataError, pluralize
from mixtally.lab.data.file import DELIMITERS, DataFile
from mixtally.lab.data.formats.csv_rows import (
    find_header_start,
    find_row_ends,
    parse_separator_line,
    split_into_blocks,
)
from mixtally.lab.data.formats.source import Source
from mixtally.lab.data.formats.table import Table, TableBatch
from mixtally.lab.data.formats.text import check_quotes, trim_end

_LOOKED = 20
"""Number of rows in which the requested columns are searched if the first row lacks them."""


def csv_table(source: Source, parts: Iterator[bytes], columns: Sequence[str]) -> Table:
    """Return the table in ``parts``, successive blocks of UTF-8.

    The requested ``columns`` help to detect the delimiter. If the header lacks them, the table has
    a hint, and the caller raises the error.
    """
    file = source.file
    first = next(parts, b"")
    start, delimiter, names = _parse_top(file, first, columns)
    text = trim_end(file, chain([first[start:]], parts), delimiter)
    text = check_quotes(file, text, delimiter, 1 + first.count(b"\n", 0, start))

    def read_parts(asked: Sequence[int], watched: Sequence[int] = ()) -> Iterator[TableBatch]:
        done, places = 0, [*asked, *watched]
        for block in split_into_blocks(file, text, 1 + file.skip_rows, file.block):
            found = _parse_block(file, block, delimiter, len(names), places, done)
            done += len(found)
            arrays = [found.column(f"f{place}").combine_chunks() for place in places]
            yield TableBatch(arrays, source.bytes_read, source.size)

    return Table(names, read_parts, hint=_hint(file, first, start, columns, names))


def _parse_block(
    file: DataFile, block: bytes, delimiter: str, cells: int, places: Sequence[int], done: int
) -> pyarrow.Table:
    """Return the cells of a block of whole rows in the columns ``places``, null for an empty cell.

    Every row must have ``cells`` cells. ``done`` is the number of rows before the block. Blank
    lines are skipped; in a table of one column, each is an empty cell.
    """
    kinds = {f"f{place}": pyarrow.string() for place in places}
    ragged: list[reader.InvalidRow] = []

    def refuse(row: reader.InvalidRow) -> str:
        ragged.append(row)
        return "error"

    try:
        return reader.read_csv(
            pyarrow.BufferReader(block),
            read_options=reader.ReadOptions(
                use_threads=False,  # otherwise Arrow gives no row numbers
                block_size=len(block) + 1,
                column_names=[f"f{place}" for place in range(cells)],
            ),
            parse_options=reader.ParseOptions(
                delimiter=delimiter,
                newlines_in_values=True,
                ignore_empty_lines=cells > 1,
                invalid_row_handler=refuse,
            ),
            convert_options=reader.ConvertOptions(
                include_columns=list(kinds),
                column_types=kinds,
                strings_can_be_null=True,
                null_values=[""],
                check_utf8=False,  # the parts were decoded before
            ),
        )
    except pyarrow.ArrowInvalid as error:
        if ragged:
            raise _ragged_row_error(file, ragged[0], done) from error
        raise


def _parse_top(
    file: DataFile, first: bytes, columns: Sequence[str]
) -> tuple[int, str, tuple[str, ...]]:
    """Return the offset of the header, the delimiter, and the names of the columns.

    Lines that begin with ``#`` are comments, except a line with the requested columns.
    """
    mark, start = parse_separator_line(first)
    if file.header_row > 1:
        start = find_header_start(file, first, file.header_row)
    mark = file.mark or mark
    while first.startswith(b"#", start) and file.header_row == 1:
        end = first.find(b"\n", start) + 1
        if not end or set(columns) <= set(_header(file, first[start:end], columns, mark)[1]):
            break
        start = end
    delimiter, names = _header(file, first[start:], columns, mark)
    if not any(names):
        raise file.unreadable("a header line", "a blank line", "name the columns in line 1")
    return start, delimiter, names


def _hint(
    file: DataFile, first: bytes, start: int, columns: Sequence[str], names: tuple[str, ...]
) -> str:
    """Return the option that makes a later row the header; empty if no row has the ``columns``.

    The hint is also empty if the header, whose ``names`` are known, has the requested columns.
    """
    if set(columns) <= set(names):
        return ""
    for row, end in enumerate(find_row_ends(first[start:])[:_LOOKED], start=1):
        below = first[start + int(end) :]
        if below.strip() and set(columns) <= set(_header(file, below, columns, file.mark)[1]):
            above = len(find_row_ends(first[:start]))
            return f"--header-row {above + row + 1}"
    return ""


def _header(
    file: DataFile, first: bytes, columns: Sequence[str], mark: str | None
) -> tuple[str, tuple[str, ...]]:
    """Return the delimiter and the names of the columns in the first row of ``first``.

    If ``mark`` is not None, it is the delimiter. Otherwise the delimiter is one with which the
    header has all ``columns``, or else the one that splits the header into the most cells.
    """
    if not first:
        raise file.unreadable("a header line", "an empty file", "check the file")
    text, found, failed = first.decode("utf-8", "ignore"), {}, None
    for delimiter in mark or DELIMITERS:
        try:
            found[delimiter] = tuple(_first_row(text, delimiter))
        except csv.Error as error:
            failed = error
    if not found:
        raise file.unreadable("a header line", failed, "repair or re-export it")
    # A delimiter that finds the requested columns is preferred to one that splits more cells.
    return max(found.items(), key=lambda each: (set(columns) <= set(each[1]), len(each[1])))


def _first_row(text: str, delimiter: str) -> list[str]:
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    return next(rows, [])


def _ragged_row_error(file: DataFile, row: reader.InvalidRow, done: int) -> DataError:
    return DataError(
        file.row(done + row.number),
        expected=f"{pluralize(row.expected_columns, 'cell')}, as in the header",
        got=f"{row.actual_columns}",
        do="put quotes around values that contain the delimiter, and fill short rows",
    )
