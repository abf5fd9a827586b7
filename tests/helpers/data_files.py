"""Data files for tests: the same table in every format, and a column read."""

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as arrow
import pyarrow.csv as csv
import pyarrow.parquet as parquet
import xlsxwriter

from mixtally.lab.data.file import BLOCK, DataFile
from mixtally.lab.data.population import Population
from mixtally.lab.data.readers import read_population
from mixtally.lab.data.reading import Reading

Table = dict[str, list[Any]]


def people(
    path: Path, *columns: str, progress: Any = None, block: int = BLOCK, **reading: Any
) -> Population:
    """The crowd in a file, read as the fields of a ``Reading`` say, so many bytes at a time."""
    more = {} if progress is None else {"progress": progress}
    return read_population(DataFile(path, block=block), Reading(columns=columns, **reading), **more)


def delimited(table: Table, delimiter: str) -> bytes:
    sink = io.BytesIO()
    options = csv.WriteOptions(delimiter=delimiter, quoting_style="needed")
    csv.write_csv(arrow.table(table), sink, options)
    return sink.getvalue()


def json_lines(table: Table) -> bytes:
    rows = zip(*table.values(), strict=True)
    objects = [dict(zip(table, row, strict=True)) for row in rows]
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in objects).encode()


def in_parquet(table: Table) -> bytes:
    sink = io.BytesIO()
    parquet.write_table(arrow.table(table), sink)
    return sink.getvalue()


def workbook(table: Table, sheet: str = "Sheet1") -> bytes:
    sink = io.BytesIO()
    with xlsxwriter.Workbook(sink, {"in_memory": True, "strings_to_formulas": False}) as book:
        place = book.add_worksheet(sheet)
        for number, (name, values) in enumerate(table.items()):
            place.write_column(0, number, [name, *values])
    return sink.getvalue()


def in_every_format(table: Table) -> dict[str, bytes]:
    """The bytes of the same table, by a name that says how it is written."""
    comma = delimited(table, ",")
    return {
        "comma.csv": comma,
        "semicolon.csv": delimited(table, ";"),
        "tab.tsv": delimited(table, "\t"),
        "marked.csv": b"\xef\xbb\xbf" + comma,
        "wide.csv": comma.decode().encode("utf-16"),
        "packed.csv.gz": gzip.compress(comma),
        "packed.csv.zst": arrow.compress(comma, codec="zstd", asbytes=True),
        "lines.jsonl": json_lines(table),
        "lines.jsonl.gz": gzip.compress(json_lines(table)),
        "table.parquet": in_parquet(table),
        "table.parquet.gz": gzip.compress(in_parquet(table)),
        "book.xlsx": workbook(table),
    }


GOOD = b"no,color\n" + b"1,red\n2,blue\n" * 500
WESTERN = "no,color\n1,r\xe9d\n2,blue\n".encode("latin-1")
LINES = b'{"color": "red"}\n{"color": "blue"}\n'
PARQUET = in_parquet({"color": ["red", "blue"] * 500})
BOOK = workbook({"color": ["red", "blue"]})
