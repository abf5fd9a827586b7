"""What a document leaves as files: the page, facts as JSON, rows as CSV, all digits kept."""

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
    """``facts`` as a JSON file; raises ValueError for NaN and infinities, which JSON lacks."""
    text = json.dumps(facts, allow_nan=False)  # indented by the same it would take thrice as long
    return msgspec.json.format(text, indent=1) + "\n"


_FORMULA = re.compile(r"'*[\t\r\n]|['\s]*[=+\-@\uff0b\uff0d\uff1d\uff20]")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?", re.IGNORECASE)
_SPLITS = re.compile(r'[",;\t\r\n]')
"""What some program takes for the end of a cell, whichever delimiter it was told."""


class CsvFormat(NamedTuple):
    """How the tables of a result are written as CSV.

    Attributes
    ----------
    delimiter : str
        Separates the cells of a line.
    decimal : str
        Separates the whole part of a number from its fraction.
    start : str
        Stands before the first line.
    """

    delimiter: str = ","
    decimal: str = "."
    start: str = ""


FormatName = Literal["csv", "csv-semicolon"]
CSV = CsvFormat()
FORMATS: Mapping[FormatName, CsvFormat] = {
    "csv": CSV,
    # Spreadsheets set to a country with decimal commas read a file with commas as one column, and
    # take it for the letters of another alphabet unless it starts with a byte order mark.
    "csv-semicolon": CsvFormat(";", ",", "\ufeff"),
}


def csv_text(
    rows: Iterable[Mapping[str, Any]],
    names: Iterable[str] | None = None,
    written: CsvFormat = CSV,
) -> str:
    """A line a row under ``names``, those of the first row when left out; None is left empty.

    A text that a spreadsheet would compute gets an apostrophe in front, also where apostrophes
    stand before it already, so that one text is written in one way. Empty without rows and names;
    raises ValueError for a value without a name. Source: RFC 4180.
    """
    table = list(rows)
    heading = list(table[0] if names is None and table else names or ())
    if not heading:
        return ""
    if any(row.keys() - set(heading) for row in table):
        raise ValueError(f"a row has more than {', '.join(heading)}")
    lines: list[list[object]] = [[*heading], *([row.get(n) for n in heading] for row in table)]
    return "".join(
        written.delimiter.join(_cell(value, written) for value in line) + "\r\n" for line in lines
    )


def csv_chunks(table: Batches, start: str = "", written: CsvFormat = CSV) -> Iterator[str]:
    """Yield the lines of a CSV file batch by batch, as ``csv_text`` writes them, after ``start``.

    A list that comes again in the next batch, such as labels, is prepared once.
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
            if place not in prepared or prepared[place][0] is not column:
                texts = column and isinstance(column[0], str)
                made = list(map(cell, column)) if texts else _numbers(column, written)
                prepared[place] = column, made
            cells.append(prepared[place][1])
        lines = map(written.delimiter.join, zip(*broadcast_columns(cells), strict=True))
        yield "".join([f"{line}\r\n" for line in lines])


def _numbers(column: list[object], written: CsvFormat) -> list[str]:
    """Return the cells of a column of numbers; equal numbers are written once.

    Counts of very many bins have few distinct values.
    """
    if len({*map(type, column)} - {type(None)}) > 1:  # 1, 1.0 and True are equal
        return [_number(one, written) for one in column]
    cells = {one: _number(one, written) for one in set(column)}
    return [cells[one] if one else _number(one, written) for one in column]  # 0.0 equals -0.0


def _number(value: object, written: CsvFormat) -> str:
    text = "" if value is None else str(value)
    return text if written.decimal == "." else text.replace(".", written.decimal)


def _cell(value: object, written: CsvFormat) -> str:
    text = "" if value is None else str(value)
    if isinstance(value, int | float) or _NUMBER.fullmatch(text):
        return _number(text, written)
    if isinstance(value, str) and _FORMULA.match(text):
        text = "'" + text
    return '"' + text.replace('"', '""') + '"' if _SPLITS.search(text) else text


_MARK = f"# {SIMULATION}: {HOLDS_RAW}\r\n"


def whole_facts(document: Document) -> Facts:
    """The document as one JSON object: first whether it holds raw counts, then its promise."""
    mark = {SIMULATION: HOLDS_RAW} if document.simulation else {}
    missing = {"not_covered": uncovered_texts(document.from_data)} if document.from_data else {}
    return {**mark, "promise": list(document.lines), **missing, **document.facts()}


def files(document: Document, out_format: FormatName = "csv") -> dict[str, str | Chunks]:
    """Return the text of every file that a document leaves, by name; a simulation's say so first.

    ``out_format`` is how tables are written.
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
