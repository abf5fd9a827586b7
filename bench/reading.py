"""Reading of data files into a crowd, compared with Arrow alone, which builds no records."""

import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow
from pyarrow import csv, parquet

from bench.clock import PairedMedians, both
from bench.row import BenchmarkRow, build_row
from mixtally.lab.data.file import DataFile
from mixtally.lab.data.readers import read_population
from mixtally.lab.data.reading import Reading, RecordType
from mixtally.primitives.chance import SecureChance
from mixtally.primitives.draw import draw_below

AIM = 0.12
"""The target ratio."""
_ROWS = 1_000_000
_BITS = tuple(f"bit {i}" for i in range(10))


def rows() -> list[BenchmarkRow]:
    """Return the rows of the benchmark table."""
    with tempfile.TemporaryDirectory() as folder:
        place = _write_files(Path(folder))
        parquet_file, csv_file = place / "crowd.parquet", place / "crowd.csv"
        return [
            _parquet("labels", parquet_file, ("label",), RecordType.ONE),
            _parquet("10 bits", parquet_file, _BITS, RecordType.BITS),
            _csv(csv_file),
        ]


def _write_files(folder: Path) -> Path:
    chance = SecureChance()
    names = np.array([f"label {i:03}" for i in range(100)])
    columns = {"label": pyarrow.array(names[draw_below(chance, 100, _ROWS)])}
    columns |= {bit: pyarrow.array(draw_below(chance, 2, _ROWS)) for bit in _BITS}
    table = pyarrow.table(columns)
    parquet.write_table(table, folder / "crowd.parquet")
    csv.write_csv(table, folder / "crowd.csv")
    return folder


def _parquet(what: str, path: Path, columns: tuple[str, ...], form: RecordType) -> BenchmarkRow:
    ours = partial(read_population, DataFile(path), Reading(columns=columns, form=form))
    theirs = partial(parquet.read_table, path, columns=list(columns))
    return _line(f"Parquet of {_ROWS:,} rows, {what}", both(ours, theirs))


def _csv(path: Path) -> BenchmarkRow:
    ours = partial(read_population, DataFile(path), Reading(columns=("label",)))
    options = csv.ConvertOptions(include_columns=["label"])
    theirs = partial(csv.read_csv, path, convert_options=options)
    return _line(f"CSV of {_ROWS:,} rows and 11 columns, labels", both(ours, theirs))


def _line(what: str, took: PairedMedians) -> BenchmarkRow:
    return build_row(what, f"{took.ours * 1e3:,.0f} ms", "of Arrow alone", took.ratio, AIM)
