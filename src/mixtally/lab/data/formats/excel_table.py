"""Tables in Excel and OpenDocument workbooks: one sheet, whose first row is the header.

`excel_table` is called by ``tables``; it needs the package python-calamine.
"""

import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from types import ModuleType
from typing import Any

import pyarrow

from mixtally.lab.data.file import DataFile
from mixtally.lab.data.formats.source import Source
from mixtally.lab.data.formats.table import Table, TableBatch
from mixtally.lab.data.formats.workbook_warnings import describe_unseen
from mixtally.lab.data.label_merging import value_text

_ROWS = 1 << 16
"""Number of rows in a batch."""
_Row = list[Any]


def excel_table(source: Source, columns: Sequence[str]) -> Table:
    """Return the table in a sheet; raise DataError for a bad workbook or a missing sheet."""
    file, calamine = source.file, _load_calamine(source.file)
    try:
        # A workbook needs random access, so a pipe or a compressed file is read into memory.
        path = str(file.path) if source.is_direct else io.BytesIO(source.read_all())
        sheet = _open_sheet(file, calamine.load_workbook(path))
    except calamine.CalamineError as error:
        raise file.unreadable(
            "an Excel or OpenDocument workbook without a password", error, "save it again or as CSV"
        ) from error
    rows = islice(sheet.iter_rows(), file.header_row - 1, None)
    names = tuple(value_text(cell) or "" for cell in next(rows, []))
    if not any(names):
        raise file.unreadable(
            "a header row", "a blank row", "name the header's row with --header-row 3"
        )
    asked = {_column_letters(place): name for place, name in enumerate(names) if name in columns}
    warning = describe_unseen(path, sheet.name, file.header_row + file.skip_rows, asked)
    rows = islice(rows, file.skip_rows, None)

    def read_parts(asked: Sequence[int], watched: Sequence[int] = ()) -> Iterator[TableBatch]:
        done, people, places = 0, _skip_blank_rows(rows, one=len(names) == 1), [*asked, *watched]
        while some := list(islice(people, _ROWS)):
            done += len(some)
            texts = [[value_text(row[place]) for row in some] for place in places]
            arrays = [pyarrow.array(column, pyarrow.string()) for column in texts]
            yield TableBatch(arrays, done, sheet.total_height - 1)

    return Table(names, read_parts, warning=warning)


def _column_letters(place: int) -> str:
    """Return the letters of a column, counted from 0: A to Z, AA, AB and so on."""
    before, last = divmod(place, 26)
    return (_column_letters(before - 1) if before else "") + chr(ord("A") + last)


def _skip_blank_rows(rows: Iterable[_Row], *, one: bool) -> Iterator[_Row]:
    """Yield the rows that are not blank.

    In a table of ``one`` column a blank row is an empty cell, unless no other row follows.
    """
    blank: list[_Row] = []
    for row in rows:
        if any(cell != "" for cell in row):
            yield from blank
            blank = []
            yield row
        elif one:
            blank.append(row)


def _open_sheet(file: DataFile, book: Any) -> Any:
    names = list(book.sheet_names)
    if not names or (file.sheet is not None and file.sheet not in names):
        raise file.unreadable(
            "a sheet" if file.sheet is None else f"a sheet {file.sheet!r}",
            ", ".join(map(repr, names[:20])) or "none",
            "name one of these with --sheet",
        )
    return book.get_sheet_by_name(file.sheet or names[0])


def _load_calamine(file: DataFile) -> ModuleType:
    try:
        import python_calamine  # only workbooks need it
    except ImportError as error:
        raise file.unreadable(
            "the reader for workbooks", "python-calamine is not installed",
            "pip install 'mixtally[data]'",
        ) from error  # fmt: skip
    module: ModuleType = python_calamine
    return module
