"""The files of a document: the page, facts as JSON, and rows as CSV with all digits.

``app.outcome`` writes the files that ``files`` returns.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

import msgspec

from mixtally.report.document import (
    HOLDS_RAW,
    SIMULATION,
    Batches,
    Chunks,
    Column,
    Document,
    Facts,
    broadcast_columns,
    uncovered_texts,
)
from mixtally.report.page import page


def json_text(facts: Mapping[str, Any]) -> str:
    """Return ``facts`` as a JSON file.

    Raises ValueError for NaN and infinities, which JSON does not have.
    """
    # Writing first and indenting with msgspec takes a third of the time of
    # ``json.dumps(indent=1)``.
    text = json.dumps(facts, allow_nan=False)
    return msgspec.json.format(text, indent=1) + "\n"


# Spreadsheets evaluate cells that begin with one of these characters or its full-width form.
_FORMULA = re.compile(r"'*[\t\r\n]|['\s]*[=+\-@\uff0b\uff0d\uff1d\uff20]")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?", re.IGNORECASE)
_SPLITS = re.compile(r'[",;\t\r\n]')
"""Characters that some program reads as the end of a cell, whatever its delimiter is."""


class CsvFormat(NamedTuple):
    """How the tables of a result are written as CSV.

    Attributes
    ----------
    delimiter : str
        The text between two cells of a line.
    decimal : str
        The text between the whole part of a number and its fraction.
    start : str
        The text before the first line.
    """

    delimiter: str = ","
    decimal: str = "."
    start: str = ""


FormatName = Literal["csv", "csv-semicolon"]
CSV = CsvFormat()
FORMATS: Mapping[FormatName, CsvFormat] = {
    "csv": CSV,
    # Spreadsheets for a country with decimal commas read a file with commas as one column, and
    # decode the file with the wrong character set unless it starts with a byte order mark.
    "csv-semicolon": CsvFormat(";", ",", "\ufeff"),
}


def csv_text(
    rows: Iterable[Mapping[str, Any]],
    names: Iterable[str] | None = None,
    written: CsvFormat = CSV,
) -> str:
    """Return the text of a CSV file: a header with ``names``, and one line for each row.

    By default the names are the keys of the first row. None becomes an empty cell. A text that a
    spreadsheet would evaluate gets an apostrophe in front. A text that already begins with
    apostrophes gets one more, so that different texts remain different. Without rows and names the
    result is empty. Raises ValueError if a row has a key that is not among the names.

    Source: RFC 4180.
    """
    table = list(rows)
    heading = list(table[0] if names is None and table else names or ())
    if not heading:
        return ""
    if any(row.keys() - set(heading) for row in table):
        raise ValueError(f"expected rows with no columns but {', '.join(heading)}")
    lines: list[list[object]] = [[*heading], *([row.get(n) for n in heading] for row in table)]
    return "".join(
        written.delimiter.join(_cell(value, written) for value in line) + "\r\n" for line in lines
    )


def csv_chunks(table: Batches, start: str = "", written: CsvFormat = CSV) -> Iterator[str]:
    """Yield the text of a CSV file batch by batch, in the format of ``csv_text``.

    The file begins with ``start``. If the next batch has the same list object as a column, such as
    the labels, this list is formatted only once.
    """
    cell = partial(_cell, written=written)
    yield start + written.delimiter.join(map(cell, table.names)) + "\r\n"
    prepared: dict[int, tuple[Column, Sequence[str]]] = {}
    for batch in table.batches():
        cells: list[Column] = []
        for place, column in enumerate(batch):
            if not isinstance(column, list):
                cells.append(cell(column))
                continue
            # Lists are compared by identity, because comparing the values of very long lists would
            # take too long.
            if place not in prepared or prepared[place][0] is not column:
                texts = column and isinstance(column[0], str)
                made = list(map(cell, column)) if texts else _numbers(column, written)
                prepared[place] = column, made
            cells.append(prepared[place][1])
        lines = map(written.delimiter.join, zip(*broadcast_columns(cells), strict=True))
        yield "".join([f"{line}\r\n" for line in lines])


def _numbers(column: list[object], written: CsvFormat) -> list[str]:
    """Return the cells of a column of numbers; equal numbers are formatted once.

    This saves time, because counts of very many bins have few distinct values.
    """
    # A dictionary does not distinguish 1, 1.0 and True, nor 0.0 and -0.0.
    if len({*map(type, column)} - {type(None)}) > 1:
        return [_number(one, written) for one in column]
    cells = {one: _number(one, written) for one in set(column)}
    return [cells[one] if one else _number(one, written) for one in column]


def _number(value: object, written: CsvFormat) -> str:
    text = "" if value is None else str(value)
    return text if written.decimal == "." else text.replace(".", written.decimal)


def _cell(value: object, written: CsvFormat) -> str:
    text = "" if value is None else str(value)
    # A number that begins with a sign is not a formula.
    if isinstance(value, int | float) or _NUMBER.fullmatch(text):
        return _number(text, written)
    if isinstance(value, str) and _FORMULA.match(text):
        text = "'" + text
    return '"' + text.replace('"', '""') + '"' if _SPLITS.search(text) else text


_MARK = f"# {SIMULATION}: {HOLDS_RAW}\r\n"


def whole_facts(document: Document) -> Facts:
    """Return the document as one JSON object: first whether it has raw counts, then its promise."""
    mark = {SIMULATION: HOLDS_RAW} if document.simulation else {}
    missing = {"not_covered": uncovered_texts(document.from_data)} if document.from_data else {}
    return {**mark, "promise": list(document.lines), **missing, **document.facts()}


def files(document: Document, out_format: FormatName = "csv") -> dict[str, str | Chunks]:
    """Return the text of every file of a document by name.

    The files of a simulation begin with a mark that says so.

    Parameters
    ----------
    document : Document
        The document to write.
    out_format : FormatName
        The format of the tables.
    """
    written = FORMATS[out_format]
    mark = written.start + (_MARK if document.simulation else "")
    return {
        "report.html": page(document),
        "result.json": json_text(whole_facts(document)),
        **{
            name: Chunks(partial(csv_chunks, table, mark, written))
            if isinstance(table, Batches)
            else mark + csv_text(table.rows, table.names, written)
            for name, table in document.tables().items()
        },
    }
