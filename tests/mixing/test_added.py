"""What a mix adds by its recipe: blanks flipped as records are in every layout, or shaped fakes."""

import numpy as np
import pytest
from scipy import stats

from helpers.capped_distribution import conditional, p_value
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.layout import Form, Layout
from mixtally.model.planes import Planes
from mixtally.model.recipe import BlanksRecipe, NoRecipe, UniformRecipe
from mixtally.model.shape import LaplaceShape
from mixtally.protocol.mixing import draw_recipe_messages

BINS, COUNT = 5, 60_000
HALF = 1 << 63
LAYOUTS = {
    "bits": Layout(Form.BITS, BINS),
    "bits with a cap": Layout(Form.BITS, BINS, 2),
    "positions": Layout(Form.POSITIONS, BINS, 2),
}


def blanks_p_value(layout, threshold, mix=draw_recipe_messages):
    rows = mix(BlanksRecipe(COUNT, threshold), layout, SeededChance(2))
    assert len(rows) == COUNT
    return p_value(layout, rows, conditional(0, BINS, threshold / 2**64, layout.cap))


@pytest.mark.parametrize("threshold", [HALF // 2, HALF // 100], ids=["many", "few"])
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_blanks_follow_the_conditional_distribution(layout, threshold):
    """False alarm 10^-6 a case."""
    assert blanks_p_value(layout, threshold) > 1e-6


def test_a_mix_that_leaves_out_what_is_above_the_cap_is_found():
    def cut(recipe, layout, chance):
        rows = draw_recipe_messages(recipe, Layout(Form.BITS, BINS), chance)
        rows[np.bitwise_count(rows).sum(axis=1) > layout.cap] = 0
        return rows

    assert blanks_p_value(LAYOUTS["bits with a cap"], HALF // 2, cut) < 1e-6


def test_a_mix_that_flips_half_as_often_is_found():
    def softer(recipe, layout, chance):
        return draw_recipe_messages(
            BlanksRecipe(recipe.count, recipe.threshold // 2), layout, chance
        )

    assert blanks_p_value(LAYOUTS["positions"], HALF // 100, softer) < 1e-6


def test_positions_of_many_bins_follow_the_binomial():
    """How many ones a message has, over several spans; false alarm 10^-6."""
    layout = Layout(Form.POSITIONS, 20_000, 40)
    rows = draw_recipe_messages(BlanksRecipe(100_000, int(0.0002 * 2**64)), layout, SeededChance(3))
    many, named = layout.positions(layout.check_rows(rows))
    seen = np.bincount(many, minlength=15)
    pmf = stats.binom(20_000, 0.0002).pmf(np.arange(14))
    expected = np.append(pmf, 1.0 - pmf.sum()) * len(rows)
    assert stats.chisquare(np.append(seen[:14], seen[14:].sum()), expected).pvalue > 1e-6
    assert stats.kstest(named / 20_000, "uniform").pvalue > 1e-6


def test_shaped_fakes_come_as_they_always_did():
    recipe, layout = LaplaceShape(1 << 63, 4), Layout(Form.INDEX, 60_000)
    numbers = np.bincount(
        layout.codes(draw_recipe_messages(recipe, layout, SeededChance(4))), minlength=60_000
    )
    shares = np.array(recipe.weights, dtype=float) / 2**64
    counts = np.bincount(numbers, minlength=len(shares))
    assert stats.chisquare(counts, shares * 60_000).pvalue > 1e-6


def uniform_p_value(over, codes):
    """That of numbers below J p, each as likely."""
    return float(stats.chisquare(np.bincount(codes, minlength=over.messages)).pvalue)


def test_uniform_fakes_fall_on_every_message():
    """False alarm 10^-6; so many, whoever sends what."""
    over = Planes(5, 2)
    layout = Layout(Form.INDEX, over.messages)
    rows = draw_recipe_messages(UniformRecipe(COUNT), layout, SeededChance(3))
    assert len(rows) == COUNT
    assert uniform_p_value(over, layout.codes(rows)) > 1e-6


def test_uniform_fakes_of_a_power_of_two_are_found():
    """Planted: numbers of as many bits as fit, in place of those drawn again."""
    over = Planes(5, 2)
    codes = SeededChance(3).words(COUNT) % np.uint64(32) % np.uint64(over.messages)
    assert uniform_p_value(over, codes.astype(np.int64)) < 1e-6


def test_nothing_is_added_where_people_bring_the_cover():
    layout = LAYOUTS["positions"]
    assert draw_recipe_messages(NoRecipe(), layout, SeededChance(5)).shape == (
        0,
        layout.message_bytes,
    )
