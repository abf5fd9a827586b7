"""The pictures in docs/ are what the code draws; after a change run scripts/make_picture.py."""

import importlib.util
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]
SPEC = importlib.util.spec_from_file_location("make_picture", ROOT / "scripts/make_picture.py")
MAKER = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(MAKER)


@pytest.mark.seconds
@pytest.mark.parametrize("name", MAKER.PICTURES)
def test_the_picture_is_what_is_drawn(name):
    drawn = MAKER.PICTURES[name]()
    assert (ROOT / "docs" / name).read_text() == drawn
    assert ElementTree.fromstring(drawn).tag.endswith("svg")


@pytest.mark.seconds
def test_another_seed_is_another_picture(monkeypatch):
    """Twin: a picture of other noise is noticed."""
    monkeypatch.setattr(MAKER, "SEED", 1)
    assert (ROOT / "docs/demo.svg").read_text() != MAKER.PICTURES["demo.svg"]()
