"""Every bin has fakes of its own, as many as its table says."""

import numpy as np
import pytest

from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.layout import Form, Layout
from mixtally.protocol.mixing import draw_shaped_fakes


def numbers(weights, bins, seed=1):
    layout = Layout(Form.INDEX, bins)
    rows = draw_shaped_fakes(weights, layout, SeededChance(seed))
    return np.bincount(layout.codes(rows), minlength=bins)


@pytest.mark.parametrize("bins", [2, 5, 300])
def test_a_table_of_one_number_gives_every_bin_as_many(bins):
    assert numbers((0, 0, 0, 1 << 64), bins).tolist() == [3] * bins
    assert numbers((0, 1 << 64), bins).tolist() == [1] * bins


def test_bins_are_drawn_independently():
    """Of two equally likely numbers, 64 bins show both in every place in 40 draws: 64 / 2^39."""
    half = 1 << 63
    drawn = np.array([numbers((0, half, half), 64, seed) for seed in range(40)])
    assert (drawn.min(axis=0) == 1).all()
    assert (drawn.max(axis=0) == 2).all()
