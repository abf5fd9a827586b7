"""Places as bins: a public grid of hexagons over a box on the map, and one bin for elsewhere.

The grid is fixed before anyone answers and covers the whole box, inhabited or not, so which
hexagons there are tells nothing. Hexagons are those of the H3 library (package ``h3``).
"""

from dataclasses import dataclass
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import DataError, ParameterError, in_range
from mixtally.model.question import MOST_BINS, Question

ELSEWHERE = "elsewhere"
MOST_RESOLUTION = 8


@dataclass(frozen=True, slots=True)
class Box:
    """South, north, west and east in degrees; it may not cross the date line."""

    south: float
    north: float
    west: float
    east: float

    def __post_init__(self) -> None:
        if not (
            -85.0 <= self.south < self.north <= 85.0 and -180.0 <= self.west < self.east <= 180.0
        ):
            raise ParameterError(
                "box",
                expected="south < north within 85 degrees, west < east within 180",
                got=f"{self.south:g}..{self.north:g}, {self.west:g}..{self.east:g}",
                do="give degrees; cut a region that crosses the date line in two",
            )


@dataclass(frozen=True, slots=True)
class HexagonGrid:
    """Hexagons whose centers lie in a box, in a fixed order; the last bin is elsewhere."""

    resolution: int
    cells: tuple[str, ...]

    def question(self, name: str) -> Question:
        """The question in which of them a person is."""
        labels = (*self.cells, ELSEWHERE)
        return Question(name=name, bins=len(labels), labels=labels)

    def bins_of(self, latitudes: NDArray[np.float64], longitudes: NDArray[np.float64]) -> list[int]:
        """The bin of every point; raises DataError for one that is not on the globe."""
        h3, numbers = _load_h3(), {cell: i for i, cell in enumerate(self.cells)}
        out = []
        for row, (lat, lon) in enumerate(zip(latitudes.tolist(), longitudes.tolist(), strict=True)):
            if not (-90.0 <= lat <= 90.0 and -180.0 <= lon <= 180.0):
                raise DataError(
                    f"place {row}",
                    expected="a latitude within 90 and a longitude within 180",
                    got=f"{lat}, {lon}",
                    do="check the order of the columns",
                )
            cell = h3.latlng_to_cell(lat, lon, self.resolution)
            out.append(numbers.get(cell, len(self.cells)))
        return out

    def outlines(self) -> list[list[tuple[float, float]]]:
        """The corners of every hexagon as (latitude, longitude)."""
        h3 = _load_h3()
        return [[(lat, lon) for lat, lon in h3.cell_to_boundary(cell)] for cell in self.cells]


def build_grid(box: Box, resolution: int, bins: int = MOST_BINS) -> HexagonGrid:
    """All hexagons that touch ``box``, at an H3 ``resolution`` in [0, 8]; 3 has edges of 69 km.

    Raises ParameterError for another resolution or not fewer hexagons than ``bins``, DataError
    without h3.
    """
    in_range(
        "resolution",
        resolution,
        0,
        MOST_RESOLUTION,
        "3 suits a continent, 6 a city and its surroundings",
    )
    h3 = _load_h3()
    corners = [
        (box.south, box.west),
        (box.south, box.east),
        (box.north, box.east),
        (box.north, box.west),
    ]
    touching = h3.h3shape_to_cells_experimental(h3.LatLngPoly(corners), resolution, "overlap")
    cells = tuple(sorted(touching))
    if not 1 <= len(cells) < bins:
        raise ParameterError(
            "grid",
            expected=f"1 to {bins - 1:,} hexagons in the box",
            got=f"{len(cells):,}",
            do="choose another resolution",
        )
    return HexagonGrid(resolution, cells)


def _load_h3() -> ModuleType:
    try:
        import h3  # only hexagons need it
    except ImportError as error:
        raise DataError(
            "hexagons",
            expected="the package h3",
            got="it is not installed",
            do="pip install 'mixtally[places]'",
        ) from error
    module: ModuleType = h3
    return module
