"""A number on the edge of two bins is in the upper one, whatever type it has."""

from decimal import Decimal

import numpy as np
import pandas
import pytest

import mixtally
from helpers.data_files import in_every_format, people
from mixtally.lab.data.reading import RecordType
from mixtally.protocol.encode.numbers import Scale

TENTHS = [f"{i / 10:.1f}" for i in range(11)]
EACH = [1] * 9 + [2]


@pytest.mark.parametrize("name", in_every_format({"v": [0.5]}))
def test_tenths_are_a_bin_each_in_every_format(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(in_every_format({"i": TENTHS, "v": [*map(float, TENTHS)]})[name])
    found = people(path, "v", form=RecordType.NUMBER, scale=Scale(0, 1, 10))
    assert found.truth.tolist() == EACH


@pytest.mark.parametrize(
    "values",
    [
        [*map(float, TENTHS)],
        [*map(Decimal, TENTHS)],
        np.array(TENTHS, dtype=np.float32),
        np.array(TENTHS, dtype=np.float16),
        pandas.Series(TENTHS, dtype="float32"),
        TENTHS,
    ],
    ids=["float", "decimal", "float32", "float16", "series", "text"],
)
def test_tenths_are_a_bin_each_of_every_type(values):
    many = values * 100 if isinstance(values, list) else np.tile(np.asarray(values), 100)
    told = mixtally.simulate(many, number=(0, 1), bins=10, epsilon=8, delta=1e-3, seed=1)
    assert list(told.simulation.truth) == [100 * one for one in EACH]
