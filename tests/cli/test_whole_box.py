"""Everybody inside the box is in a hexagon of its grid; whoever exchanged the axes is told."""

import numpy as np
import pytest

from mixtally.lab.data.places import Box, build_grid

BOX = Box(south=40.0, north=44.0, west=-76.0, east=-70.0)


@pytest.mark.parametrize("resolution", [2, 3, 4])
def test_no_place_inside_the_box_is_elsewhere(resolution):
    place = build_grid(BOX, resolution)
    lat, lon = np.meshgrid(np.linspace(40.0, 44.0, 60), np.linspace(-76.0, -70.0, 60))
    bins = place.bins_of(lat.ravel(), lon.ravel())
    assert max(bins) < len(place.cells)


@pytest.mark.parametrize("exchanged", [False, True])
def test_exchanged_axes_are_said(cli, tmp_path, exchanged):
    rows = [f"{40.5 + i % 3},{-75.0 + i % 4}" for i in range(200)]
    (tmp_path / "homes.csv").write_text("\n".join(["lat,lon", *rows]) + "\n")
    names = ("lon", "lat") if exchanged else ("lat", "lon")
    outcome = cli(
        "simulate places", tmp_path / "homes.csv", "--latitude", names[0], "--longitude", names[1],
        "--box", "40,44,-76,-70", "--resolution", 3, "--epsilon", 2, "--delta", "1e-6",
    )  # fmt: skip
    assert outcome.status == 0
    assert ("exchanged" in outcome.err) == exchanged
