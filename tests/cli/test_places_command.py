"""``mixtally simulate places``: hexagons; true counts in simulations alone."""

import json
import sys
from xml.etree import ElementTree

import h3
import pytest

from report.reader import self_contained

GRID = ("--latitude", "lat", "--longitude", "lon", "--box", "40,44,-76,-70", "--resolution", 3)
PROMISE = ("--epsilon", 2, "--delta", "1e-4")
HERE, THERE, FAR = (42.0, -73.0), (41.5, -71.0), (10.0, 10.0)
POINTS = [HERE] * 3000 + [THERE] * 900 + [FAR] * 100


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "people.csv"
    rows = [f"{i},{lat},{lon}" for i, (lat, lon) in enumerate(POINTS)]
    path.write_text("\n".join(["who,lat,lon", *rows, "x,,-73", "y,42,"]) + "\n")
    return path


def played(cli, data, *more):
    outcome = cli("simulate places", data, *GRID, *PROMISE, "--missing", "drop", "--json", *more)
    assert (outcome.status, outcome.err) == (0, "")
    return json.loads(outcome.out)


@pytest.mark.seconds
def test_everybody_is_in_their_hexagon(cli, data):
    facts = played(cli, data, "--seed", 1)
    (release,) = facts["releases"]
    truth = {row["label"]: row["truth"] for row in release["estimates"] if row["truth"]}
    own = {h3.latlng_to_cell(*HERE, 3): 3000, h3.latlng_to_cell(*THERE, 3): 900, "elsewhere": 100}
    assert truth == own
    assert "outside the hexagons count as elsewhere: 100 of 4,000." in facts["source"]
    assert "Rows left out for a missing value: 2." in facts["source"]


@pytest.mark.seconds
def test_what_is_published_holds_a_map_and_no_truth(cli, data, tmp_path):
    out = tmp_path / "out"
    played(cli, data, "--out", out)
    ElementTree.fromstring((out / "map.svg").read_text())
    page = self_contained((out / "report.html").read_text())
    assert "Map" in page.texts
    for public in (path.read_text() for path in out.glob("*.*")):
        assert "100 of 4,000" not in public
    assert "truth" not in (out / "result.json").read_text()


@pytest.mark.seconds
def test_a_seeded_map_is_a_simulation(cli, data, tmp_path):
    out = tmp_path / "out"
    played(cli, data, "--seed", 1, "--out", out)
    assert not (out / "map.svg").exists()
    assert "holds raw counts" in (out / "simulation/map.svg").read_text().splitlines()[0]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ((), "row 4001: expected a value in column 'lat', got a missing one"),
        (("--missing", "0"), "missing: expected drop, for places"),
        (("--box", "1,2,3"), "box: expected four numbers"),
        (("--box", "44,40,-76,-70"), "box: expected south < north"),
        (("--resolution", 9), "resolution: expected an integer in [0, 8]"),
        (("--longitude", "lat"), "columns: expected 2 different columns"),
        (("--longitude", "who", "--missing", "drop"), "row 182: expected a longitude from -180"),
    ],
    ids=str,
)
def test_bad_input_is_a_line(refused, data, more, words):
    if "drop" in more:
        data.write_text("\n".join(data.read_text().splitlines()[:200]))
    assert words in refused("simulate places", data, *GRID, *PROMISE, *more)


def test_without_h3_it_says_what_to_install(refused, data, monkeypatch):
    monkeypatch.setitem(sys.modules, "h3", None)
    assert "pip install 'mixtally[places]'" in refused("simulate places", data, *GRID, *PROMISE)
