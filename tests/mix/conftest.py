"""Networks under a contract that asks for one-time codes."""

import pytest

from helpers.code_mixes import load, village


@pytest.fixture
def town(tmp_path):
    town = village(tmp_path)
    load(town)
    town.round()
    yield town
    town.end()


@pytest.fixture(scope="module")
def quiet(tmp_path_factory):
    """For requests that are refused: nobody sends anything else."""
    town = village(tmp_path_factory.mktemp("quiet"))
    load(town)
    town.round()
    yield town
    town.end()
