"""Data files: how fast their columns become a crowd, beside Arrow alone, which makes no records."""

import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow
from pyarrow import csv, parquet

from bench.clock import Both, both
from bench.row import Row, rated
from mixtally.lab.data.file import DataFile
from mixtally.lab.data.readers import read
from mixtally.lab.data.reading import As, Reading
from mixtally.primitives.chance import SecureChance
from mixtally.primitives.draw import below

AIM = 0.12
_ROWS = 1_000_000
_BITS = tuple(f"bit {i}" for i in range(10))


def rows() -> list[Row]:
    """Benchmark lines."""
    with tempfile.TemporaryDirectory() as folder:
        place = _written(Path(folder))
        parquet_file, csv_file = place / "crowd.parquet", place / "crowd.csv"
        return [
            _parquet("labels", parquet_file, ("label",), As.ONE),
            _parquet("10 bits", parquet_file, _BITS, As.BITS),
            _csv(csv_file),
        ]


def _written(folder: Path) -> Path:
    chance = SecureChance()
    names = np.array([f"label {i:03}" for i in range(100)])
    columns = {"label": pyarrow.array(names[below(chance, 100, _ROWS)])}
    columns |= {bit: pyarrow.array(below(chance, 2, _ROWS)) for bit in _BITS}
    table = pyarrow.table(columns)
    parquet.write_table(table, folder / "crowd.parquet")
    csv.write_csv(table, folder / "crowd.csv")
    return folder


def _parquet(what: str, path: Path, columns: tuple[str, ...], form: As) -> Row:
    ours = partial(read, DataFile(path), Reading(columns=columns, form=form))
    theirs = partial(parquet.read_table, path, columns=list(columns))
    return _line(f"Parquet of {_ROWS:,} rows, {what}", both(ours, theirs))


def _csv(path: Path) -> Row:
    ours = partial(read, DataFile(path), Reading(columns=("label",)))
    options = csv.ConvertOptions(include_columns=["label"])
    theirs = partial(csv.read_csv, path, convert_options=options)
    return _line(f"CSV of {_ROWS:,} rows and 11 columns, labels", both(ours, theirs))


def _line(what: str, took: Both) -> Row:
    return rated(what, f"{took.ours * 1e3:,.0f} ms", "of Arrow alone", took.ratio, AIM)
