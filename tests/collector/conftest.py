"""An exported round of an honest office, for the tests of its check."""

import shutil

import pytest

from helpers.exported_rounds import VALUES, KeepingOffice


@pytest.fixture(scope="module")
def rounds(tmp_path_factory):
    """An office, and its two rounds as exported."""
    office = KeepingOffice(tmp_path_factory.mktemp("rounds"))
    office.begin()
    office.count()
    office.count(lambda office: office.usual(VALUES[2:]))
    return office, office.export(1), office.export(2)


@pytest.fixture
def office(rounds):
    return rounds[0]


@pytest.fixture
def folder(rounds, tmp_path):
    """A copy of the first round."""
    return shutil.copytree(rounds[1], tmp_path / "round")
