"""The flights of the demo as a timeline of twelve months."""

from pathlib import Path

import numpy as np

from mixtally.data.flights import flights
from mixtally.data.timeline import Timeline

TABLE = Path(__file__).with_name("flights_2013_months.csv")


def flights_by_month() -> Timeline:
    """The same month by month; every flight plays a person."""
    crowd = flights()
    lines = TABLE.read_text(encoding="ascii").split()[1:]
    runs = [(int(month), int(rows)) for month, rows in (line.split(",") for line in lines)]
    months, rows = zip(*runs, strict=True)
    return Timeline(
        question=crowd.question,
        epochs=tuple(f"2013-{month:02}" for month in range(1, 13)),
        codes=crowd.codes,
        at=np.repeat(np.array(months) - 1, rows),
    )
