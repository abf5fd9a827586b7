"""Data files: how fast their columns become a crowd, beside Arrow alone, which makes no records."""

import resource
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow
from pyarrow import csv, parquet

from bench.clock import seconds
from mixtally.data.file import DataFile
from mixtally.data.readers import read
from mixtally.data.reading import As, Reading
from mixtally.ground.chance import SecureChance
from mixtally.ground.draw import below

_ROWS = 1_000_000
_BITS = tuple(f"bit {i}" for i in range(10))


def rows() -> list[tuple[str, str, str]]:
    """Benchmark lines: what, measured, ratio."""
    with tempfile.TemporaryDirectory() as folder:
        place = _written(Path(folder))
        return [
            *_parquet("labels", place / "crowd.parquet", ("label",), As.ONE),
            *_parquet("10 bits", place / "crowd.parquet", _BITS, As.BITS),
            *_csv(place / "crowd.csv"),
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


def _parquet(
    what: str, path: Path, columns: tuple[str, ...], form: As
) -> list[tuple[str, str, str]]:
    ours = seconds(partial(read, DataFile(path), Reading(columns=columns, form=form)))
    theirs = seconds(lambda: parquet.read_table(path, columns=list(columns)))
    return [_line(f"Parquet of {_ROWS:,} rows, {what}", ours, theirs)]


def _csv(path: Path) -> list[tuple[str, str, str]]:
    ours = seconds(partial(read, DataFile(path), Reading(columns=("label",))))
    options = csv.ConvertOptions(include_columns=["label"])
    theirs = seconds(lambda: csv.read_csv(path, convert_options=options))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return [
        _line(f"CSV of {_ROWS:,} rows and 11 columns, labels", ours, theirs),
        ("  the most memory so far", f"{memory:,.0f} MiB", ""),
    ]


def _line(what: str, ours: float, theirs: float) -> tuple[str, str, str]:
    return what, f"{ours * 1e3:,.0f} ms", f"{ours / theirs:.1f} times Arrow alone"
