"""Records of places, given by latitude and longitude, as hexagons of a public grid.

``crowd`` uses `Places` for the record type ``place``.
"""

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import DataError
from mixtally.lab.data.file import Origin
from mixtally.lab.data.forms.numbers import parse_column_numbers
from mixtally.lab.data.people import RecordGroups
from mixtally.lab.data.population import Population
from mixtally.lab.data.reading import Reading
from mixtally.lab.data.rows import RowBatch
from mixtally.model.question import Question

_LIMITS = (("latitude", 90.0), ("longitude", 180.0))


class Places:
    """Reader of rows that each contain one place, which it turns into the bin of a hexagon."""

    def __init__(self, origin: Origin, reading: Reading, question: Question | None) -> None:
        del origin, question  # the grid is the question
        assert reading.grid is not None, "places are read with a grid"
        self._name, self._grid = reading.name, reading.grid
        self._codes: list[NDArray[np.int64]] = []

    def take(self, batch: RowBatch) -> None:
        """Collect the rows of a batch; raise DataError for a point that is not on the globe."""
        points = np.column_stack([parse_column_numbers(array, batch) for array in batch.arrays[:2]])
        for at, (name, most) in enumerate(_LIMITS):
            off = np.flatnonzero(np.abs(points[:, at]) > most)
            if off.size:
                raise DataError(
                    batch.where.subject(int(off[0])),
                    expected=f"a {name} from {-most:g} to {most:g} degrees",
                    got=f"{points[off[0], at]:g}",
                    do="check the order of the columns",
                )
        # H3 takes one call for each point, so each distinct point is looked up only once.
        different, inverse = np.unique(points, axis=0, return_inverse=True)
        bins = np.array(self._grid.bins_of(different[:, 0], different[:, 1]), dtype=np.int64)
        self._codes.append(bins[inverse.reshape(-1)])

    def crowd(self, records: RecordGroups) -> Population:
        """Return the population; its note says how many places are outside the grid."""
        codes = records.value_of_records(np.concatenate(self._codes))
        asked = self._grid.question(self._name)
        outside = int(np.count_nonzero(codes == asked.bins - 1))
        note = f"Places outside the hexagons count as elsewhere: {outside:,} of {len(codes):,}."
        warning = _MOST_OUTSIDE_WARNING if 2 * outside > len(codes) else ""
        return Population(asked, codes, note=note, warning=warning)


_MOST_OUTSIDE_WARNING = (
    "most people are outside the box: look at it, and whether latitude and longitude are exchanged"
)
