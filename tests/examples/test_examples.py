"""Every example runs in a few seconds as its first lines say, and finds what it says it finds."""

import re
from xml.etree import ElementTree

import pytest

from examples.running import printed


def words(*arguments):
    out = printed("heavy_hitters.py", "--seed", 1, *arguments)
    recall, ghosts = re.search(r"recall (\S+), precision \S+, (\d+) of", out).groups()
    assert float(recall) >= 0.9
    assert ghosts == "0"
    assert "rounds together: epsilon = 1, delta <= " in out


def sets(*arguments):
    out = printed("item_sets.py", "--seed", 1, *arguments)
    found = re.findall(r"sets of (\d): (\d+) certainly held, (\d+) of them by nobody", out)
    assert found[0][0] == "2"
    assert int(found[0][1]) > 100
    assert {wrong for _, _, wrong in found} == {"0"}
    assert "BQN + PSE" in out  # western Puerto Rico: they leave one after the other at night
    named = re.findall(r"(\d+) of the true first 20 among the first 20", out)
    assert int(named[0]) >= 16


def places(tmp_path, *arguments):
    out = printed("map.py", "--seed", 1, "--out", tmp_path, *arguments)
    assert re.search(r"shown, 0 empty", out)
    ElementTree.fromstring((tmp_path / "map.svg").read_text())


@pytest.mark.seconds
def test_heavy_hitters():
    words()


@pytest.mark.seconds
def test_item_sets():
    sets()


@pytest.mark.seconds
def test_map(tmp_path):
    places(tmp_path)


@pytest.mark.slow
def test_in_full(tmp_path):
    words("--full")
    sets("--full")
    places(tmp_path, "--full")
