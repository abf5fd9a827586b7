"""Uniform fakes of a mix reach the first and the last message of a layout, by scripted words."""

import pytest

from helpers.scripted_chance import Scripted
from mixtally.model.layout import Form, Layout
from mixtally.model.recipe import UniformRecipe
from mixtally.primitives.fixed_point import SCALE
from mixtally.protocol.mixing import draw_recipe_messages


@pytest.mark.parametrize("messages", [2, 3, 64, 1_000, 99_999, 10_000_000])
def test_a_uniform_fake_may_be_any_message(messages):
    """The last word that a uniform draw accepts becomes the last message."""
    layout = Layout(Form.INDEX, messages)
    script = Scripted(0, SCALE // messages * messages - 1, messages // 2)
    rows = draw_recipe_messages(UniformRecipe(3), layout, script)
    assert layout.codes(rows).tolist() == [0, messages - 1, messages // 2]
