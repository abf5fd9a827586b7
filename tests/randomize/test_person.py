"""The reference for one person and one hop: word by word, and like what batches do."""

from collections import Counter
from itertools import product

import pytest
from msgspec.structs import replace

from helpers import contracts
from helpers.scripted_chance import Scripted
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.contract import BlanksRecipe, FakeRecord, LaplaceShape, NoRecipe, OwnFakes
from mixtally.model.layout import Form, Layout
from mixtally.model.question import Question
from mixtally.primitives.fixed_point import SCALE
from mixtally.protocol.mixing import draw_shaped_fakes
from reference.person import hop_fakes, person_messages

LAST = SCALE - 1
QUARTER = 1 << 62


def plan(part):
    return contracts.plan_of(Question(name="q", bins=part.bins), [part])


def sent(part, bin_, *words):
    """The messages of the one part, and how many words were left."""
    source = Scripted(*words)
    return person_messages(plan(part), lambda _: [(bin_,)], source)[0], len(source.left)


@pytest.mark.parametrize(("seed", "shift"), [(1, 2), (2, 20), (3, 500)])
def test_shaped_fakes_are_those_of_the_mix(seed, shift):
    recipe, layout = LaplaceShape(contracts.RATIO, shift), Layout(Form.INDEX, 300)
    ours = hop_fakes(recipe, layout, SeededChance(seed))
    assert b"".join(ours) == draw_shaped_fakes(recipe.weights, layout, SeededChance(seed)).tobytes()


def test_a_hop_without_a_recipe_adds_nothing_and_blanks_flip():
    assert hop_fakes(NoRecipe(), Layout(Form.BITS, 3), Scripted()) == []
    words = (QUARTER - 1, QUARTER, 0, LAST, LAST, LAST)
    source = Scripted(*words)
    assert hop_fakes(BlanksRecipe(2, QUARTER), Layout(Form.BITS, 3), source) == [b"\5", b"\0"]
    assert source.left == []


def test_a_message_past_its_cap_is_drawn_again_whole():
    part = contracts.flipped(3, q=0.25, form=Form.POSITIONS, cap=2)
    assert sent(part, 0, LAST, 0, 0, LAST, 0, LAST) == ([b"\2\4"], 0)


def test_a_record_is_sent_as_often_as_the_part_says_each_time_flipped_afresh():
    part = replace(contracts.flipped(2, q=0.25), repeats=2)
    assert sent(part, 0, LAST, LAST, 0, LAST, 1) == ([b"\1", b"\0"], 0)


def test_coins_come_first_and_decide_how_many_fakes():
    part = contracts.uniform(4, whole=1, coin=QUARTER)
    tails = sent(part, 3, QUARTER, 2, 1)
    heads = sent(part, 3, QUARTER - 1, 2, 1, 2, 1)
    assert tails == ([b"\3", b"\2"], 0)
    assert (sorted(heads[0]), heads[1]) == ([b"\1", b"\2", b"\3"], 0)


def test_every_order_is_as_likely():
    """Each of the 3! outcomes of the two draws of the order gives another order."""
    part = contracts.uniform(4, whole=2, coin=0)
    seen = Counter(
        tuple(sent(part, 3, 0, 0, 1, first, second)[0])
        for first, second in product(range(3), range(2))
    )
    assert len(seen) == 6


def test_a_word_past_the_last_multiple_is_drawn_again():
    part = contracts.uniform(3, whole=1, coin=0)
    assert sent(part, 2, 0, LAST, LAST, 1, 1) == ([b"\2", b"\1"], 0)


def test_blank_and_uniform_fakes():
    blank = contracts.flipped(3, q=0.25, own=OwnFakes(FakeRecord.BLANK, 1, 0))
    uniform = contracts.flipped(3, q=0.25, own=OwnFakes(FakeRecord.UNIFORM, 1, 0))
    still = (LAST,) * 3
    assert sent(blank, 2, 0, *still, *still, 1) == ([b"\4", b"\0"], 0)
    assert sent(uniform, 2, 0, *still, 4, *still, 1) == ([b"\4", b"\2"], 0)
