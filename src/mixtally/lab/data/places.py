"""Places as bins: a public grid of hexagons over a box on the map, and one bin for elsewhere.

The grid is fixed before anyone answers and covers the whole box, inhabited or not. The list of
hexagons therefore reveals nothing about people. The hexagons are those of the H3 library (package
``h3``).
"""

from dataclasses import dataclass
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import DataError, ParameterError, in_range
from mixtally.model.question import MOST_BINS, Question

ELSEWHERE = "elsewhere"
MOST_RESOLUTION = 8
"""Finest H3 resolution of a grid; its hexagons have edges of about 530 m."""


@dataclass(frozen=True, slots=True)
class Box:
    """A box on the map, bounded in degrees; it may not cross the date line."""

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
    """Hexagons that touch a box, in a fixed order. One more bin stands for all other places."""

    resolution: int
    cells: tuple[str, ...]

    def question(self, name: str) -> Question:
        """Return the question that asks in which hexagon a person is."""
        labels = (*self.cells, ELSEWHERE)
        return Question(name=name, bins=len(labels), labels=labels)

    def bins_of(self, latitudes: NDArray[np.float64], longitudes: NDArray[np.float64]) -> list[int]:
        """Return the bin of every point; raise DataError for a point that is not on the globe."""
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
        """Return the corners of every hexagon as (latitude, longitude) in degrees."""
        h3 = _load_h3()
        return [[(lat, lon) for lat, lon in h3.cell_to_boundary(cell)] for cell in self.cells]


def build_grid(box: Box, resolution: int) -> HexagonGrid:
    """Return the grid of all hexagons that touch a box.

    Raises ParameterError for another resolution or too many hexagons. Raises DataError if h3 is not
    installed.

    Parameters
    ----------
    resolution : int
        The H3 resolution, in [0, 8]; at 3 the edges are 69 km long.
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
    # The order of bins is part of the question, and H3 returns cells in no fixed order.
    cells = tuple(sorted(touching))
    if not 1 <= len(cells) < MOST_BINS:
        raise ParameterError(
            "grid",
            expected=f"1 to {MOST_BINS - 1:,} hexagons in the box",
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
