"""Tables of all formats, opened by the content of the file.

``crowd`` and ``value_counts`` call `open_table`. Errors of libraries become one-line messages.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain

from mixtally.errors import DataError, ParameterError
from mixtally.lab.data.file import DataFile
from mixtally.lab.data.formats.csv_table import csv_table
from mixtally.lab.data.formats.excel_table import excel_table
from mixtally.lab.data.formats.json_table import json_table, objects_of
from mixtally.lab.data.formats.parquet_table import parquet_table
from mixtally.lab.data.formats.source import Format, Source, explain_errors, open_source
from mixtally.lab.data.formats.table import Table, TableBatch, suggest_column
from mixtally.lab.data.formats.text import decode_chunks

_ARRAY = re.compile(rb"\s*\[\s*\{")
"""Beginning of an array of JSON objects."""


@contextmanager
def open_table(
    file: DataFile, columns: Sequence[str], encoded_columns: Sequence[str]
) -> Iterator[Table]:
    """Open the table in ``file``, in which each of ``columns`` must occur once.

    Texts in ``encoded_columns`` may be read as dictionary arrays. Raises DataError if the file
    cannot be read or lacks a column, ParameterError for options that belong to another format.
    """
    with open_source(file) as source:
        with explain_errors(file):
            found = _read_format(source, columns, encoded_columns)
        for column in columns:
            if found.names.count(column) != 1:
                raise _missing_column_error(file, column, found)
        yield found._replace(read=lambda *places: _explain_part_errors(file, found.read(*places)))


def _read_format(source: Source, columns: Sequence[str], encoded_columns: Sequence[str]) -> Table:
    file = source.file
    if source.format is not Format.TEXT:
        _refuse_options(
            file,
            source.format.value,
            ("--delimiter", file.delimiter),
            ("--encoding", file.encoding),
        )
    rows = ("--header-row", file.header_row > 1), ("--skip-rows", file.skip_rows > 0)
    if source.format is Format.PARQUET:
        _refuse_options(file, source.format.value, *rows)
    if source.format is Format.WORKBOOK:
        return excel_table(source, columns)
    _refuse_options(file, source.format.value, ("--sheet", file.sheet))
    if source.format is Format.PARQUET:
        return parquet_table(source, encoded_columns)
    parts = decode_chunks(file, source.stream)
    first = next(parts, b"")
    parts = chain([first] if first else [], parts)
    # Text that begins with a brace is taken for JSON, so that JSON needs no option.
    array = _ARRAY.match(first) is not None
    if array or first.lstrip().startswith(b"{"):
        _refuse_options(file, "JSON lines", ("--delimiter", file.delimiter), *rows)
        return json_table(source, objects_of(file, parts) if array else parts)
    return csv_table(source, parts, columns)


def _refuse_options(file: DataFile, what: str, *options: tuple[str, str | bool | None]) -> None:
    for flag, value in options:
        if value not in (None, False):
            raise ParameterError(
                flag,
                expected="a file that needs it",
                got=f"{file}, which is {what}",
                do="leave the option out",
            )


def _explain_part_errors(file: DataFile, parts: Iterator[TableBatch]) -> Iterator[TableBatch]:
    """Yield ``parts``, and raise DataError for an error that occurs while a part is read.

    An error that the caller raises while using a part is not changed.
    """
    while True:
        with explain_errors(file):
            part = next(parts, None)
        if part is None:
            return
        yield part


def _missing_column_error(file: DataFile, column: str, table: Table) -> DataError:
    names = table.names
    if column in names:
        return file.unreadable(
            f"one column {column!r}",
            f"{names.count(column)} of that name",
            "rename all but one of them",
        )
    marks = [mark for mark in ",;\t|:" if any(column in name.split(mark) for name in names)]
    do = suggest_column(column, names)
    if marks:
        do = f"say --delimiter {marks[0]!r}"
    if table.hint:
        do = f"say {table.hint}, where these names are"
    return file.unreadable(
        f"a column {column!r}",
        "the columns " + ", ".join(repr(name) for name in names[:20]),
        do,
    )
