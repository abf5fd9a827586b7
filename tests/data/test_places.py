"""Places in hexagons: every point in its own, a grid that knows nobody, bad places refused."""

import h3
import numpy as np
import pytest

from mixtally.errors import DataError, ParameterError
from mixtally.lab.data import places
from mixtally.lab.data.places import ELSEWHERE, Box, build_grid

BOX = Box(south=40.0, north=44.0, west=-76.0, east=-70.0)


@pytest.fixture
def place():
    return build_grid(BOX, 3)


def test_points_fall_into_their_hexagons(place):
    lat, lon = np.array([42.0, 41.5, 0.0, 60.0]), np.array([-73.0, -71.0, 0.0, -73.0])
    bins = place.bins_of(lat, lon)
    assert bins[2:] == [len(place.cells)] * 2
    for i in (0, 1):
        assert place.cells[bins[i]] == h3.latlng_to_cell(lat[i], lon[i], 3)


def test_the_grid_depends_on_nothing_but_its_box(place):
    assert build_grid(BOX, 3) == place
    assert len(set(place.cells)) == len(place.cells) > 10
    assert place.question("where").labels[-1] == ELSEWHERE
    for cell in place.cells:
        lats, lons = zip(*h3.cell_to_boundary(cell), strict=True)
        assert max(lats) >= BOX.south
        assert min(lats) <= BOX.north
        assert max(lons) >= BOX.west
        assert min(lons) <= BOX.east
    assert len(place.outlines()) == len(place.cells)


def test_bad_places_are_refused(place, monkeypatch):
    with pytest.raises(DataError, match="place 0: expected a latitude within 90"):
        place.bins_of(np.array([91.0]), np.array([0.0]))
    with pytest.raises(DataError, match="place 0"):
        place.bins_of(np.array([float("nan")]), np.array([0.0]))
    for wrong in [(44.0, 40.0, -76.0, -70.0), (40.0, 44.0, 170.0, -170.0), (-90.0, 0.0, 0.0, 1.0)]:
        with pytest.raises(ParameterError, match="box: expected"):
            Box(*wrong)
    with pytest.raises(ParameterError, match="resolution: expected"):
        build_grid(BOX, 9)
    assert build_grid(Box(south=40.0, north=40.01, west=-70.01, east=-70.0), 0).cells
    monkeypatch.setattr(places, "MOST_BINS", len(place.cells))
    with pytest.raises(ParameterError, match="grid: expected"):
        build_grid(BOX, 3)
