"""Hops that brought less than their recipe are not among those on whom a promise rests."""

from collections import Counter

import pytest
from msgspec.structs import replace

from helpers.contracts import flipped, plan_of, shaped, uniform
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.question import Kind, Question, make_attributes_question
from mixtally.model.received import PartReceived, Received
from mixtally.protocol.estimate.conclude import conclude
from mixtally.protocol.estimate.covering_hops import find_covering_hops, restate_assumption
from mixtally.protocol.estimate.received import reconcile_parts
from mixtally.protocol.mixing import draw_recipe_messages
from mixtally.protocol.tally.fold import tally_messages

BINS, PEOPLE, SHIFT = 10, 800, 20
MEAN = BINS * SHIFT


def terms(*parts):
    sizes = tuple(part.bins for part in parts)
    asked = (
        Question(name="q", bins=BINS) if len(parts) == 1 else make_attributes_question("q", sizes)
    )
    if parts[0].pads:
        asked = Question(name="q", bins=BINS, kind=Kind.SET, max_set=parts[0].most_set)
    return plan_of(asked, list(parts), minimum_crowd=500, hops=3)


def came(*parts):
    made = [PartReceived(declared=one, received=PEOPLE, dropped={}) for one in parts]
    return Received(contributors=PEOPLE, parts=tuple(made))


@pytest.mark.parametrize(
    ("declared", "wanted"),
    [
        ((300, 300, 300), [1, 2, 3]),
        ((300, 299, 300), [1, 3]),
        ((None, 300, 1), [2]),
        ((None, None, None), []),
    ],
)
def test_blanks_are_brought_to_the_last(declared, wanted):
    assert find_covering_hops(terms(flipped(BINS, blanks=300)), came(declared)) == wanted


@pytest.mark.parametrize(
    ("declared", "wanted"),
    [
        ((MEAN, MEAN - 10, MEAN + 10), [1, 2, 3]),
        ((MEAN, MEAN // 2, MEAN), [1, 3]),
        ((None, MEAN, 1), [2]),
    ],
)
def test_shaped_fakes_are_as_many_as_honest_hops_draw(declared, wanted):
    assert find_covering_hops(terms(shaped(BINS, shift=SHIFT)), came(declared)) == wanted


def test_of_every_part():
    two = terms(shaped(BINS, shift=SHIFT), shaped(BINS, shift=SHIFT))
    assert find_covering_hops(two, came((MEAN, MEAN, None), (MEAN, None, MEAN))) == [1]


def test_under_a_cover_by_people_hops_bring_nothing():
    assert find_covering_hops(terms(uniform(BINS)), came((None, None, None))) == [1, 2, 3]


@pytest.mark.parametrize("most", [1, 4])
def test_an_honest_hop_is_among_them(most):
    """False alarm: 500 draws, each refused less often than once in 10^9."""
    part, chance = shaped(BINS, shift=SHIFT, most_set=most), SeededChance(7)
    found = Counter[int]()
    for _ in range(500):
        drawn = len(draw_recipe_messages(part.recipe, part.layout, chance))
        found[len(find_covering_hops(terms(part), came((drawn, drawn, drawn))))] += 1
    assert found == {3: 500}


def test_a_hop_that_draws_for_the_bins_of_a_set_alone_is_not():
    """Nor is what a whole one declares more than its recipe brings."""
    part, chance = shaped(BINS, shift=SHIFT, most_set=8), SeededChance(7)
    bare = len(draw_recipe_messages(part.recipe, replace(part.layout, bins=BINS), chance))
    whole = len(draw_recipe_messages(part.recipe, part.layout, chance))
    declared, sent = (whole, bare, whole), 8 * PEOPLE + 2 * whole + bare
    came_in = PartReceived(declared=declared, received=sent, dropped={})
    given = Received(contributors=PEOPLE, parts=(came_in,))
    assert find_covering_hops(terms(part), given) == [1, 3]
    reconcile_parts(terms(part), given)


def test_the_words_of_a_result_name_the_others():
    part = flipped(BINS, blanks=300)
    given = terms(part)
    rows = draw_recipe_messages(part.recipe, part.layout, SeededChance(1))[:1].repeat(
        PEOPLE + 899, axis=0
    )
    received = Received(
        contributors=PEOPLE,
        parts=(PartReceived(declared=(300, 299, 300), received=len(rows), dropped={}),),
    )
    found = conclude(given, [tally_messages(part.layout, rows)], received=received)
    assert found.certificate.assumption.startswith("holds if hop 1 or 3 is honest")
    assert found.certificate.upper == given.certificate.upper
    assert restate_assumption(given.certificate, 3, [1, 2, 3]) is given.certificate
