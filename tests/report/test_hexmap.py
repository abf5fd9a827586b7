"""The map: well-formed, shaded only where certainly somebody is, darker where more are."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from mixtally.model.estimates import Estimate, Intervals
from mixtally.report.hexmap import hexmap

OUTLINES = [[(lat, 0.0), (lat + 1, 0.5), (lat, 1.0)] for lat in (10, 12, 14, 16)]
NAMES = ["a", "b<&>", "c", "d"]


def estimate(counts, lower):
    upper = np.array(counts, dtype=np.int64) + 30
    ends = Intervals(np.array(lower), upper, 0.95, "exact test inversion")
    return Estimate(np.array(counts, dtype=float), 6.5, ends, ends)


@pytest.fixture
def picture():
    found = estimate([10, 5000, 40, -3, 7], [0, 4900, 8, 0, 0])
    return hexmap("Who < where", OUTLINES, NAMES, found, "Elsewhere: 7.")


def cells(picture):
    """(class, opacity, title) of every polygon, by name."""
    root = ElementTree.fromstring(picture)
    svg = "{http://www.w3.org/2000/svg}"
    found = [
        (p.get("class"), float(p.get("fill-opacity")), p.find(f"{svg}title").text)
        for p in root.iter(f"{svg}polygon")
    ]
    return {title.split(":")[0]: (kind, shade) for kind, shade, title in found}


def test_only_sure_places_are_shaded_and_more_is_darker(picture):
    seen = cells(picture)
    assert set(seen) == set(NAMES)
    assert seen["a"][0] == seen["d"][0] == "cell"
    assert seen["b<&>"][0] == seen["c"][0] == "cell full"
    assert seen["b<&>"][1] > seen["c"][1]


def test_the_legend_says_how_many_are_sure(picture):
    lines = re.findall('class="axis">([^<]*)<', picture)
    told = "2 of 4 hexagons are distinguishable from zero. Elsewhere: 7."
    assert " ".join(lines).startswith(told)
    assert len(lines) > 1
    assert "Who &lt; where" in picture


def test_north_is_up_and_all_is_inside(picture):
    width, height = map(float, re.search(r'viewBox="0 0 (\S+) (\S+)"', picture).groups())
    found = re.findall(r'points="([^"]+)"', picture)
    corners = [[tuple(map(float, c.split(","))) for c in one.split()] for one in found]
    for x, y in (corner for one in corners for corner in one):
        assert 0 <= x <= width
        assert 0 <= y <= height
    assert min(y for _, y in corners[1]) < max(y for one in corners for _, y in one)


def test_it_follows_light_and_dark_screens(picture):
    assert "prefers-color-scheme:dark" in picture
    assert "var(--own)" in picture


def test_an_empty_map_and_equal_counts_are_drawn():
    nobody = hexmap("t", OUTLINES, NAMES, estimate([0, 0, 0, 0], [0, 0, 0, 0]), "")
    assert "0 of 4 hexagons" in nobody
    alike = cells(hexmap("t", OUTLINES, NAMES, estimate([9, 9, 9, 9], [1, 1, 1, 1]), ""))
    assert len(set(alike.values())) == 1
