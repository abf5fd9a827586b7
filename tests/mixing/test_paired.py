"""What a mix adds to two bins whose fakes have a fixed total."""

import numpy as np
import pytest
from scipy import stats

from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.layout import Form, Layout
from mixtally.model.shape import PairedGaussianShape, PairedLaplaceShape
from mixtally.primitives.fixed_point import SCALE
from mixtally.protocol.mixing import draw_fake_counts, draw_recipe_messages
from reference.person import hop_fakes

PAIR = Layout(Form.INDEX, 2)
SHAPE = PairedLaplaceShape(SCALE // 2, 4)


def numbers(shape, rounds, mix=draw_recipe_messages):
    """How many fakes each of so many rounds adds to both bins, shape (rounds, 2)."""
    chance = SeededChance(8)
    drawn = [mix(shape, PAIR, chance) for _ in range(rounds)]
    return np.array([np.bincount(PAIR.codes(rows), minlength=2) for rows in drawn])


def p_value(shape, rounds=6000, mix=draw_recipe_messages):
    first = numbers(shape, rounds, mix)[:, 0]
    expected = np.array(shape.weights, dtype=np.float64) / SCALE * rounds
    seen = np.bincount(first, minlength=len(expected))
    assert expected.min() > 5.0
    return stats.chisquare(seen, expected).pvalue


@pytest.mark.parametrize("shape", [SHAPE, PairedGaussianShape(3, 4)], ids=["Laplace", "Gaussian"])
def test_the_total_is_fixed_and_the_first_bin_follows_the_table(shape):
    """False alarm 10^-6 a case."""
    assert (numbers(shape, 300).sum(axis=1) == 2 * shape.shift).all()
    assert p_value(shape) > 1e-6


def test_bins_that_are_drawn_independently_are_found():
    def apart(shape, layout, chance):
        counts = draw_fake_counts(shape.weights, 2, chance)
        return layout.rows(np.repeat([0, 1], counts))

    found = numbers(SHAPE, 300, apart)
    assert (found.sum(axis=1) != 2 * SHAPE.shift).any()


def test_many_pairs_are_independent():
    counts = draw_fake_counts(SHAPE.weights, 40_000, SeededChance(3), paired=True).reshape(-1, 2)
    assert (counts.sum(axis=1) == SHAPE.most).all()
    first, second = counts[::2, 0], counts[1::2, 0]
    assert abs(stats.pearsonr(first, second).statistic) < 6.0 / np.sqrt(len(first))
    assert first.std() == pytest.approx(SHAPE.spread**0.5, rel=0.1)


def test_a_table_that_ends_with_no_chance_is_drawn_from():
    steep = PairedLaplaceShape(1, 3)
    assert steep.weights[-1] == 0
    assert (numbers(steep, 200) == [3, 3]).all()


@pytest.mark.parametrize("shape", [SHAPE, PairedGaussianShape(9, 9), PairedLaplaceShape(1, 2)])
def test_bytes_are_those_of_the_reference(shape):
    for seed in range(20):
        ours = draw_recipe_messages(shape, PAIR, SeededChance(seed))
        assert ours.tobytes() == b"".join(hop_fakes(shape, PAIR, SeededChance(seed)))
